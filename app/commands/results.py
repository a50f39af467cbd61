"""`penstock results`: what came out of a query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands.common import ProjectFolder, choice, query_names
from penstock.results import RESULT_FORMATS, show_results
from penstock.session import Session


def results(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The name of the query.", autocompletion=query_names)],
    project: ProjectFolder = None,
    output: Annotated[str, choice(RESULT_FORMATS, "--format", "-f", help="How to write them.")] = "table",
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only results of this time or later.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="At most so many, the last ones.")
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="The folder for parquet.")
    ] = None,
) -> None:
    """Show the results of a query.

    Examples:
      penstock results hot                 the last 20, as a table
      penstock results hot -f csv > hot.csv
      penstock results hot --since "2026-01-31 12:00" -n 5
      penstock results hot -f parquet -o hot/
    """
    if output == "parquet" and target is None:
        raise typer.BadParameter("parquet needs a folder to write to", param_hint="--output")
    with Session(project or Path()) as session:
        show_results(session, query, output, since=since, limit=limit, target=target)
