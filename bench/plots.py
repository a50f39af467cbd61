"""Plots of what was found, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
matplotlib.rcParams["svg.hashsalt"] = "penstock"  # the same figures give the same file

from matplotlib import pyplot  # noqa: E402

MARKERS = "osD^vPX"


def draw(plots: Sequence[dict[str, Any]], folder: Path) -> list[Path]:
    """Draw plots into a folder; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for plot in plots:
        figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
        (_bars if plot["kind"] == "bars" else _lines)(axes, plot["series"])
        axes.set(title=plot["title"], xlabel=plot["x"], ylabel=plot["y"])
        if plot["log_x"]:
            axes.set_xscale("log")
        if plot["log_y"]:
            axes.set_yscale("log")
        axes.grid(alpha=0.3, which="both" if plot["log_y"] else "major")
        axes.legend(fontsize="small")
        for kind in ("png", "svg"):
            path = folder / f"{plot['name']}.{kind}"
            figure.savefig(path, dpi=150, metadata={"Date": None} if kind == "svg" else None)
            files.append(path)
        pyplot.close(figure)
    return files


def _lines(axes: Any, series: dict[str, Any]) -> None:
    for number, (name, points) in enumerate(series.items()):
        if points:
            x, y = zip(*points, strict=True)
            axes.plot(x, y, marker=MARKERS[number % len(MARKERS)], label=name)


def _bars(axes: Any, series: dict[str, Any]) -> None:
    names = list(dict.fromkeys(x for points in series.values() for x, _ in points))
    width = 0.8 / max(1, len(series))
    for number, (name, points) in enumerate(series.items()):
        places = [names.index(x) + (number - (len(series) - 1) / 2) * width for x, _ in points]
        axes.bar(places, [y for _, y in points], width, label=name)
    axes.set_xticks(range(len(names)), names)
