"""One join, one query: rows a second as the window grows, by every system."""

from __future__ import annotations

from typing import Any

from penstock.bench.core import (
    Case,
    Found,
    Plot,
    Setting,
    Shown,
    Table,
    Workload,
    median_and_spread,
    number,
    ratio,
    times,
)
from penstock.bench.data import make_pair
from penstock.bench.pairs import Pair, duckdb_job, flink_job, pathway_job, penstock_job, spark_job
from penstock.bench.systems import SYSTEMS

MAIN = 60
"""The window in seconds that goals are set for."""
WRITTEN = f"{SYSTEMS['duckdb'].code}:write"
PEERS = ("spark", "flink", "pathway")


def windows(setting: Setting) -> tuple[int, ...]:
    """The windows in seconds."""
    return setting.pick((10, MAIN, 600), (10, MAIN), (1, MAIN))


def sizes(setting: Setting) -> tuple[int, int, int]:
    """Rows a second of each stream, seconds, keys."""
    return setting.pick((20_000, 120, 1_000_000), (20_000, 20, 1_000_000), (500, 4, 1_000))


def cases(setting: Setting) -> list[Case]:
    """Every system with every window; peers that take minutes are measured once where no goal is set."""
    rate, seconds, keys = sizes(setting)
    data, small = setting.scratch / "pair", setting.scratch / "small"
    make_pair(data, rate=rate, seconds=seconds, keys=keys, csv=True)
    make_pair(small, rate=rate // 4, seconds=seconds, keys=keys // 4, csv=True)
    found: list[Case] = []
    for window in windows(setting):
        pairs, name = (Pair("q", window * 1000),), f"{window} s"
        few: dict[str, Any] = {"answers": name, "rounds": None if window == MAIN else 1}
        job = penstock_job(data, pairs, rate=rate, keys=keys)
        warm = {"streams": penstock_job(small, pairs, rate=rate // 4, keys=keys)["streams"]}
        once = None if found else {"streams": spark_job(small, pairs)["streams"]}
        found += [
            Case(f"penstock, {name}", "penstock", job, warm=warm, answers=name),
            Case(f"duckdb, {name}", "duckdb", duckdb_job(data, pairs), warm={}, answers=name),
            Case(f"duckdb written, {name}", "duckdb", duckdb_job(data, pairs), call=WRITTEN, warm={}, compared=False),
            Case(f"spark, {name}", "spark", spark_job(data, pairs), warm=once, **few),
            Case(f"flink, {name}", "flink", flink_job(data, pairs), counted={"count": True}, **few),
            Case(f"pathway, {name}", "pathway", pathway_job(data, pairs), counted={"count": True}, **few),
        ]
    return found


def show(setting: Setting, found: Found) -> Shown:
    """Rows a second, and how much faster Penstock is than the others."""
    rate, seconds, keys = sizes(setting)
    rows = 2 * rate * seconds
    lines: list[tuple[str, ...]] = []
    series: dict[str, list[tuple[float | str, float]]] = {}
    titles = {name: SYSTEMS[name].title for name in ("penstock", *PEERS)}
    titles |= {"duckdb written": "DuckDB, all at once, written", "duckdb": "DuckDB, all at once, counted"}
    for system, title in titles.items():
        points: list[tuple[float | str, float]] = []
        for window in windows(setting):
            name = f"{system}, {window} s"
            own = found.median(name)
            if name not in found:
                continue
            speed = ratio(rows, own)
            if speed:
                points.append((float(window), speed))
            lines.append(
                (
                    title,
                    f"{window} s",
                    median_and_spread(found[name]),
                    number(speed),
                    times(found.ratio(name, f"penstock, {window} s")),
                    number(found[name].last("state_rows")),
                    number(found.median(name, "peak_mb")),
                )
            )
        series[title] = points
    header = ("", "window", "seconds", "rows/s", "Penstock is … times as fast", "most state rows", "peak MB")
    figures = {
        system: found.ratio(f"{system}, {MAIN} s", f"penstock, {MAIN} s") for system in PEERS
    } | {"duckdb": found.ratio(f"penstock, {MAIN} s", f"duckdb, {MAIN} s"),
         "duckdb written": found.ratio(f"penstock, {MAIN} s", f"duckdb written, {MAIN} s")}  # fmt: skip
    note = (
        "Penstock, Spark and DuckDB (written) write their results to Parquet; Flink and Pathway throw them away, and "
        "have been run once more to count them. Flink and Pathway read CSV."
    )
    title = f"One join, one query: two streams of {rate:,} rows/s, {keys:,} keys, {rows:,} rows"
    return Shown(
        tables=[Table("windows", title, header, lines, note)],
        figures=figures,
        plots=[Plot("windows", "One join, one query", "window, s", "rows/s", series, log_x=True, log_y=True)],
    )


WORKLOAD = Workload("windows", "One join, one query", "rows/s as the window grows, by every system", cases, show)
