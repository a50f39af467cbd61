"""Where results go, and what is made of them when all have been measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.bench.core import Size
from penstock.bench.peers import IN_CLONE, ROOT
from penstock.bench.plots import draw
from penstock.bench.report import page
from penstock.bench.suite import read_results

KEPT = ROOT / "bench" / "results"
"""The results that the documentation shows."""


def default_folder(size: Size) -> Path:
    """Where results go if nobody says: in a clone full ones are kept, others are not."""
    if not IN_CLONE:
        return Path("penstock-bench")
    return KEPT if size == "full" else ROOT / "build" / "bench"


def finish(folder: Path, names: Sequence[str]) -> list[Path]:
    """Draw all plots there are results for, and write the page; its files."""
    results = read_results(folder, names)
    files = draw([plot for result in results for plot in result["plots"]], folder)
    is_kept = IN_CLONE and folder.resolve() == KEPT
    where = ROOT / "docs" / "benchmarks.md" if is_kept else folder / "benchmarks.md"
    where.write_text(page(results, folder.resolve(), where.resolve()), encoding="utf-8")
    return [*files, where]
