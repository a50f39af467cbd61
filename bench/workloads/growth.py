"""What becomes of rows a second and step times when windows, rates, keys, state and queries grow tenfold each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.bench.core import (
    Case,
    Found,
    Setting,
    Shown,
    Table,
    Workload,
    median_and_spread,
    number,
    ratio,
    settled,
    times,
)
from penstock.bench.data import make_pair
from penstock.bench.pairs import duckdb_job, penstock_job
from penstock.bench.workloads.latency import pairs_of


@dataclass(frozen=True)
class Size:
    """A run: window in seconds, rows a second of each stream, keys, seconds, queries."""

    window: float
    rate: int
    keys: int
    seconds: int
    queries: int


BASE = Size(window=6, rate=2_000, keys=12_000, seconds=60, queries=10)
GROWN = {
    "as it is": {},
    "window × 10": {"window": 60, "keys": 120_000},
    "rate × 10": {"rate": 20_000, "keys": 120_000},
    "keys × 10": {"keys": 120_000},
    "state × 100: window and rate × 10": {"window": 60, "rate": 20_000, "keys": 1_200_000},
    "queries × 10": {"queries": 100},
    "length × 4": {"seconds": 240},
}
"""What grows; keys grow with window and rate, so that a row meets as many others as before."""


def sizes(setting: Setting) -> dict[str, Size]:
    """The runs."""
    found = {name: replace(BASE, **more) for name, more in GROWN.items()}
    small = setting.pick(1, 2, 20)
    return {name: replace(size, rate=size.rate // small, seconds=max(3, size.seconds // small))
            for name, size in found.items() if setting.size != "tiny" or name == "as it is"}  # fmt: skip


def cases(setting: Setting) -> list[Case]:
    """Steps of two seconds of data each."""
    found: list[Case] = []
    for name, size in sizes(setting).items():
        data = setting.scratch / name.replace(" ", "").replace(":", "")
        make_pair(data, rate=size.rate, seconds=size.seconds, keys=size.keys, per_file=2)
        pairs = pairs_of(size.queries, round(size.window * 1000))
        job = penstock_job(data, pairs, rate=size.rate, keys=size.keys, files=1, step_rows=4 * size.rate)
        found.append(Case(name, "penstock", job, warm=None if found else {}, answers=name))
        found.append(Case(f"duckdb, {name}", "duckdb", duckdb_job(data, pairs), answers=name, rounds=1))
    return found


def show(setting: Setting, found: Found) -> Shown:
    """Each run against the one that nothing has grown in."""
    lines: list[tuple[str, ...]] = []
    for name, size in sizes(setting).items():
        one = found.get(name)
        if one is None:
            continue
        steps = one.last("steps", [])
        later = ratio(settled(steps), settled(steps[: len(steps) // 2]))
        rows = 2 * size.rate * size.seconds
        lines.append(
            (
                name,
                number(ratio(rows, one.median())),
                median_and_spread(one, "step", 3),
                times(found.ratio(name, "as it is", "step")),
                times(later),
                number(one.last("state_rows")),
                number(one.last("chunks")),
            )
        )
    header = (
        "",
        "rows/s",
        "median step, s",
        "to as it is",
        "second half to first",
        "most state rows",
        "chunks",
    )
    title = (
        f"Growth from {BASE.queries} queries, windows up to {BASE.window:g} s, {BASE.rate:,} rows/s a stream, "
        f"{BASE.keys:,} keys, steps of two seconds"
    )
    figures = {name: found.ratio(name, "as it is", "step") for name in sizes(setting)}
    return Shown(tables=[Table("growth", title, header, lines)], figures=figures)


WORKLOAD = Workload(
    "growth", "Growth", "rows/s and step time as windows, rates, keys, state and queries grow", cases, show
)
