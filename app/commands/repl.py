"""`penstock repl`: statements and commands, typed or from a file."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from penstock.commands.common import ProjectFolder, choice
from penstock.place import Place
from penstock.repl.commands import Quit
from penstock.repl.console import Console
from penstock.repl.entries import entries
from penstock.repl.repl import Repl
from penstock.tables import FORMATS


def repl(
    project: ProjectFolder = None,
    statements: Annotated[
        str | None, typer.Option("--command", "-c", metavar="STATEMENTS", help="Carry these out, and end.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Carry out those of a file, and end.")
    ] = None,
    mode: Annotated[str, choice(FORMATS, "--mode", "-m", help="How to show rows.")] = "table",
) -> None:
    """Ask for statements and carry them out: queries are registered, altered and dropped, results shown as they come.

    If the project runs already, elsewhere, the statements change that run. Else they are kept, and begin with the next
    one. Without a terminal the statements are read from stdin. The first mistake ends it, but at a terminal.

    Examples:
      penstock repl                        at a prompt; .help lists the commands
      penstock repl -c "SHOW QUERIES" -m json
      penstock repl -c "DROP QUERY hot; TAIL warm"
      penstock repl my-project -f setup.cql
      echo "SHOW STATE" | penstock repl
    """
    if statements is not None and file is not None:
        raise typer.BadParameter("give either statements or a file", param_hint="--file")
    place = Place(project or Path())
    it = Repl(place, Console(mode))
    try:
        with suppress(Quit):
            if statements is not None:
                it.do_all(entries(statements.splitlines(keepends=True), "<command>"))
            elif file is not None:
                it.read(file)
            elif sys.stdin.isatty() and sys.stdout.isatty():
                from penstock.repl.terminal import talk

                talk(it)
            else:
                it.do_all(entries(sys.stdin, "<stdin>"))
    finally:
        place.stop()
