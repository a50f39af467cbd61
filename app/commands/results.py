"""`penstock results`: what came out of a query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands.common import ProjectFolder, one_of
from penstock.results import RESULT_FORMATS, show_results
from penstock.session import Session


def results(
    query: Annotated[str, typer.Argument(help="The name of the query.")],
    project: ProjectFolder = None,
    output: Annotated[str, typer.Option("--format", "-f", help="table, csv, json, markdown or parquet.")] = "table",
    since: Annotated[str | None, typer.Option("--since", help="Only results of this time or later.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="At most so many, the last ones.")] = None,
    target: Annotated[Path | None, typer.Option("--output", "-o", help="The folder for parquet.")] = None,
) -> None:
    """Show the results of a query.

    Examples:  penstock results hot;  penstock results hot -f csv > hot.csv;  penstock results hot -f parquet -o hot/
    """
    one_of(output, RESULT_FORMATS, "--format")
    if output == "parquet" and target is None:
        raise typer.BadParameter("parquet needs a folder to write to", param_hint="--output")
    with Session(project or Path()) as session:
        show_results(session, query, output, since=since, limit=limit, target=target)
