"""`penstock init`: a project to begin with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from penstock.verbosity import say


def init(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="The folder to make; it may be there if it is empty.")],
) -> None:
    """Make a small project that runs at once, with data of its own and comments that explain it.

    Examples:
      penstock init my-project
      penstock init .
    """
    from penstock.starter import make_project, program_name

    make_project(folder)
    program, name = program_name(), shlex.quote(str(folder))
    say(f"made a project in {folder}; its README.md says what is where")
    say("now try:")
    for command in (f"explain {name} -k shared", f"run {name} --once", f"results hot {name}"):
        say(f"  {program} {command}")
