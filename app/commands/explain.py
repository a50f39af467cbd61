"""`penstock explain`: the plans of queries."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.api import FORMATS, KINDS
from penstock.commands.common import CatalogOption, Targets, choice, compile_targets, compile_text
from penstock.grammar.errors import PenstockError
from penstock.standing import known_query


def explain(
    targets: Targets = None,
    catalog: CatalogOption = None,
    query: Annotated[
        list[str] | None, typer.Option("--query", metavar="NAME", help="Only this query; may be repeated.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--sql", "-e", metavar="SELECT", help="Explain this SELECT instead of files.")
    ] = None,
    kind: Annotated[str, choice(KINDS, "--kind", "-k", help="Which plan.")] = "logical",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also show what each rule changed.")] = False,
    output: Annotated[str, choice(FORMATS, "--format", "-f", help="How to write it.")] = "text",
) -> None:
    """Show the plans of queries: each one's own, the plan they share, what is run, or what it costs.

    Examples:
      penstock explain                     every query's own plan
      penstock explain -k shared           the plan they share
      penstock explain --query hot -k cost
      penstock explain -k physical -f mermaid
      penstock explain -e "SELECT * FROM Temperature"
    """
    if text is not None and targets:
        raise typer.BadParameter("give either a SELECT or files", param_hint="--sql")
    result = compile_targets(targets, catalog) if text is None else compile_text(text, catalog)
    chosen = list(result) if not query else [known_query(name, result) for name in query]
    if not chosen:
        raise PenstockError(
            "there is no query to explain", hint="Give a SELECT, or put one into queries/name.cql.", label="no-query"
        )
    typer.echo(result.only(chosen).explain(kind, verbose=verbose, format=output))
