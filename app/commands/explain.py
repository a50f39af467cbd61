"""`penstock explain`: the plans of queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.api import FORMATS, KINDS, CompiledQueries
from penstock.commands.common import CatalogOption, Targets, choice, compile_targets, compile_text, query_names
from penstock.grammar.errors import PenstockError
from penstock.picture import page
from penstock.session import Session
from penstock.standing import known_query


def explain(
    targets: Targets = None,
    catalog: CatalogOption = None,
    query: Annotated[
        list[str] | None,
        typer.Option("--query", metavar="NAME", help="Only this query; may be repeated.", autocompletion=query_names),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--sql", "-e", metavar="SELECT", help="Explain this SELECT instead of files.")
    ] = None,
    kind: Annotated[str, choice(KINDS, "--kind", "-k", help="Which plan.")] = "logical",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also show what each rule changed.")] = False,
    output: Annotated[str, choice(FORMATS, "--format", "-f", help="How to write it.")] = "text",
    file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it, instead of showing it.")
    ] = None,
) -> None:
    """Show the plans of queries: each one's own, the plan they share, what is run, or what it costs.

    As html it is a page that draws the plan they share, and what was measured if the project has been run.

    Examples:
      penstock explain                     every query's own plan
      penstock explain -k shared           the plan they share
      penstock explain --query hot -k cost
      penstock explain -k physical -f mermaid
      penstock explain -f html -o plan.html
      penstock explain -e "SELECT * FROM Temperature"
    """
    if text is not None and targets:
        raise typer.BadParameter("give either a SELECT or files", param_hint="--sql")
    if output == "html" and text is None and catalog is None and (folder := _project(targets)) is not None:
        with Session(folder) as session:
            shown = page(session.picture(_chosen(session.compiled, query)))
    else:
        result = compile_targets(targets, catalog) if text is None else compile_text(text, catalog)
        shown = result.only(_chosen(result, query)).explain(kind, verbose=verbose, format=output)
    if file is None:
        typer.echo(shown)
    else:
        file.write_text(f"{shown}\n", encoding="utf-8")


def _project(targets: list[Path] | None) -> Path | None:
    """The folder, if it is one project's that is to be explained."""
    paths = targets or [Path()]
    return paths[0] if len(paths) == 1 and paths[0].is_dir() else None


def _chosen(queries: CompiledQueries, names: list[str] | None) -> list[str]:
    chosen = list(queries) if not names else [known_query(name, queries) for name in names]
    if not chosen:
        raise PenstockError(
            "there is no query to explain", hint="Give a SELECT, or put one into queries/name.cql.", label="no-query"
        )
    return chosen
