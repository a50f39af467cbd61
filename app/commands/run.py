"""`penstock run`: run the queries of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands.common import ProjectFolder, Quiet
from penstock.grammar.durations import parse_duration
from penstock.running import run_session
from penstock.session import Session


def run(
    project: ProjectFolder = None,
    once: Annotated[bool, typer.Option("--once", help="Process what is available, then stop.")] = False,
    drain: Annotated[bool, typer.Option("--drain", help="Like --once, then close every window.")] = False,
    duration: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Stop after a time, such as 30s.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a live display.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run the queries of a project; the results go into its state folder, or where INSERT INTO says.

    A run goes on where the last one ended. While it runs, a file that appears in queries/, changes or goes away
    registers, alters or drops its queries. Ctrl-C stops it after the step that is under way.

    Examples:
      penstock run                         until Ctrl-C
      penstock run my-project --once       what is there now, then stop
      penstock run --drain                 the same, then close every window
      penstock run --for 30s
    """
    seconds = None if duration is None else parse_duration(duration) / 1e6
    with Session(project or Path()) as session:
        run_session(session, once=once, drain=drain, seconds=seconds, plain=plain, quiet=quiet)
