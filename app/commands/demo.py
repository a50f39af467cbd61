"""`penstock demo`: the demonstration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to write the project of the demonstration.")
    ] = Path("penstock-demo"),
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Other numbers make other readings.")] = 1,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a live display.")] = False,
) -> None:
    """See it work: queries over readings that come while it runs, changed on the way, and what sharing them saves.

    It takes a minute or two and leaves a project to play with. Ctrl-C ends it sooner.

    Examples:
      penstock demo
      penstock demo my-folder --seed 7
    """
    from penstock.demo import run_demo
    from penstock.demo.scenario import scenario

    run_demo(folder, plain=plain, played=scenario(seed))
