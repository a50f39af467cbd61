"""`penstock doctor`: is everything there that a run needs?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from penstock.commands.common import ProjectFolder, choice
from penstock.grammar.errors import PenstockError
from penstock.project import Project, find_project
from penstock.tables import FORMATS, write_rows


def doctor(
    project: ProjectFolder = None,
    output: Annotated[str, choice(FORMATS, "--format", "-f", help="How to write it.")] = "table",
) -> None:
    """Check the machine, Java, Spark, and a project with its sources, and say what to do about what is wrong.

    The exit code is 1 if something will not work.

    Examples:
      penstock doctor
      penstock doctor my-project
      penstock doctor -f json
    """
    from penstock.doctor import examine

    findings = list(examine(_project(project)))
    rows = [list(asdict(finding).values()) for finding in findings]
    write_rows(["check", "status", "found", "what to do"], rows, output, sys.stdout)
    if any(finding.status == "failed" for finding in findings):
        raise typer.Exit(1)


def _project(folder: Path | None) -> Project | None:
    """The project that was named, or the one around here if there is one."""
    try:
        return find_project(folder or Path())
    except PenstockError as error:
        if folder is not None or error.label != "no-project":
            raise
        return None
