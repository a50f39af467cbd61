"""`penstock explain`: the plans of queries."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.api import FORMATS, KINDS
from penstock.commands.common import CatalogOption, Targets, compile_targets, compile_text, known_query, one_of
from penstock.grammar.errors import PenstockError


def explain(
    targets: Targets = None,
    catalog: CatalogOption = None,
    query: Annotated[list[str] | None, typer.Option("--query", "-q", help="Only this query; may be repeated.")] = None,
    text: Annotated[str | None, typer.Option("--sql", "-e", help="Explain this SELECT instead of files.")] = None,
    kind: Annotated[str, typer.Option("--kind", "-k", help="logical, shared, physical or cost.")] = "logical",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also show what each rule changed.")] = False,
    output: Annotated[str, typer.Option("--format", "-f", help="text, json or mermaid.")] = "text",
) -> None:
    """Show the plans of queries: each one's own, the plan they share, what is run, or what it costs.

    Examples:  penstock explain;  penstock explain --query hot --kind cost;  penstock explain -k physical -f mermaid;
    penstock explain -e "SELECT * FROM Temperature"
    """
    one_of(output, FORMATS, "--format")
    one_of(kind, KINDS, "--kind")
    if text is not None and targets:
        raise typer.BadParameter("give either a SELECT or files", param_hint="--sql")
    result = compile_targets(targets, catalog) if text is None else compile_text(text, catalog)
    chosen = list(result) if not query else [known_query(name, result) for name in query]
    if not chosen:
        raise PenstockError(
            "there is no query to explain", hint="Give a SELECT, or put one into queries/name.cql.", label="no-query"
        )
    typer.echo(result.only(chosen).explain(kind, verbose=verbose, format=output))
