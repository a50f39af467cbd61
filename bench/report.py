"""What was found, for people: tables on the terminal, and a page of Markdown with plots."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from penstock.bench.goals import GOALS
from penstock.bench.suite import Result

WIDTH = 140
"""Of tables that are not for a terminal."""
GOAL_HEADER = ("about", "goal", "reached", "")


def print_result(result: Result, out: TextIO) -> None:
    """The tables of a workload, its goals, and what went wrong."""
    console = Console(file=out, highlight=False, width=None if out.isatty() else WIDTH)
    for table in result["tables"]:
        _print_table(console, table["title"], table["header"], table["rows"], table["note"])
    for line in (*result["notes"], *troubles(result)):
        console.print(Text(f"  {line}"))
    rows = goal_rows([result])
    if rows:
        _print_table(console, f"Goals of {result['workload']}{_size(result)}", GOAL_HEADER, rows, "")


def goal_rows(results: Sequence[Result]) -> list[tuple[str, str, str, str]]:
    """Every goal of these workloads: what it is about, what it says, what was reached, and whether that is enough."""
    figures = {result["workload"]: result["figures"] for result in results}
    rows = []
    for goal in GOALS:
        if goal.workload in figures:
            value = goal.reached(figures)
            verdict = "not measured" if value is None else "met" if goal.is_met(value) else "missed"
            rows.append((goal.about, goal.text, "–" if value is None else f"{value:.3g}", verdict))
    return rows


def troubles(result: Result) -> list[str]:
    """Cases that are void or have failed."""
    found = []
    for case in result["cases"]:
        if case["void"]:
            found.append(f"VOID: {case['name']}: {case['void']}")
        if case["failure"]:
            found.append(f"failed: {case['name']}: {case['failure']}")
    return found


def _size(result: Result) -> str:
    return "" if result["size"] == "full" else f" (size: {result['size']}, so they say little)"


def _print_table(console: Console, title: str, header: Iterable[str], rows: Iterable[Sequence[str]], note: str) -> None:
    table = RichTable(
        title=title, title_justify="left", title_style="bold", box=None, header_style="bold", caption=note
    )
    table.caption_justify, table.caption_style = "left", "dim"
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    console.print()
    console.print(table)


def page(results: Sequence[Result], plots: Path, where: Path) -> str:
    """The page of the results of workloads, for a file at `where`; the files of the plots are in `plots`."""
    lines = [
        "# Benchmarks",
        "",
        "Made by `penstock bench`; do not edit. Every system runs in a process of its own, is warmed up, and takes "
        "turns with the others; medians are shown, with the least and the greatest of all rounds. What came out is "
        "compared: a run with other results than the others is void. Take the ratios, not the figures: these depend on "
        "the machine.",
        "",
        "```sh",
        "make bench                           # all of it, over an hour",
        "penstock bench windows queries       # some workloads",
        "penstock bench --quick               # less data, one round; a quarter of an hour",
        "```",
        "",
        *_machines(results),
    ]
    if goals := goal_rows(results):
        lines += ["## Goals", "", *_markdown(GOAL_HEADER, goals)]
    for result in results:
        lines += _section(result, plots, where)
    return "\n".join(lines).rstrip() + "\n"


def _machines(results: Sequence[Result]) -> list[str]:
    if not results:
        return ["Nothing has been measured yet.", ""]
    made: dict[str, Any] = results[0]["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    where = (
        f"{made['processor']}, {made['cores']} cores, {made['memory_gb']} GB; {made['system']}, Python {made['python']}"
    )
    return [f"Measured on: {where}; {versions}.", ""]


def _section(result: Result, plots: Path, where: Path) -> list[str]:
    lines = [f"## {result['title']}", "", f"`penstock bench {result['workload']}`: {result['shows']}.", ""]
    if result["size"] != "full":
        lines += [f"Size: {result['size']}.", ""]
    for plot in result["plots"]:
        target = Path(os.path.relpath(plots / f"{plot['name']}.svg", where.parent)).as_posix()
        lines += [f"![{plot['title']}]({target})", ""]
    for table in result["tables"]:
        lines += [f"**{table['title']}**", "", *_markdown(table["header"], table["rows"])]
        lines += [table["note"], ""] if table["note"] else []
    lines += [f"- {text}" for text in (*result["notes"], *troubles(result))]
    return [*lines, ""]


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    marks = ["---", *("--:" for _ in header[1:])]
    return [*(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in (header, marks, *rows)), ""]
