"""`penstock demo`: the demonstration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to write the project of the demonstration.")] = Path(
        "penstock-demo"
    ),
) -> None:
    """Write a small project with data, run it, and show its results and what sharing saved.

    Examples:
      penstock demo
      penstock demo my-folder
    """
    from penstock.demo import run_demo

    run_demo(folder)
