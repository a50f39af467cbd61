"""`penstock plan`: what the next run would change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands.common import ProjectFolder
from penstock.preview import preview
from penstock.session import Session
from penstock.statements import program_after


def plan(
    project: ProjectFolder = None,
    statement: Annotated[
        str | None,
        typer.Option(
            "--sql", "-e", metavar="STATEMENT", help="What this CREATE, ALTER, DROP or SET would do, instead."
        ),
    ] = None,
) -> None:
    """Show what the next run would change of the plan in force, before it does.

    It says which queries come, change and go, by which stages, what state and work the cost model predicts before
    and after, and from when on new queries are complete.

    Examples:
      penstock plan                        what the files would change
      penstock plan -e "ALTER QUERY hot SET WINDOW 10 min"
    """
    with Session(project or Path()) as session:
        typer.echo(preview(session, session.program if statement is None else program_after(session, statement)))
