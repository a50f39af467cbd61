"""Many queries over one join: rows a second, state and memory as their number grows.

Windows and thresholds of the queries differ, and each gives about as many results as any other: all together give as
many as one query without a threshold.
"""

from __future__ import annotations

import math
from pathlib import Path
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
from penstock.bench.pairs import Pair, duckdb_job, flink_job, pathway_job, penstock_job, spark_by_hand_job, spark_job
from penstock.bench.systems import SYSTEMS

LONGEST = 60_000
"""The longest window, in milliseconds; the shortest is a fifth of it."""
RATE, KEYS = 20_000, 1_000_000
TEN_TEMPLATES = 10_000
"""So many queries are of ten templates, fewer of two."""
PEERS = ("spark", "flink", "pathway")
JOBS = {"spark": spark_job, "flink": flink_job, "pathway": pathway_job}


def rate_and_keys(setting: Setting) -> tuple[int, int]:
    """Rows a second of each stream, and keys."""
    return setting.pick((RATE, KEYS), (RATE, KEYS), (500, 1_000))


def seconds(setting: Setting) -> tuple[int, int]:
    """How much data there is: for Penstock, and for peers with many queries."""
    return setting.pick((120, 20), (30, 5), (4, 4))


def counts(setting: Setting) -> tuple[int, ...]:
    """How many queries."""
    return setting.pick((1, 5, 10, 50, 100, 1_000, 10_000), (1, 10, 100, 10_000), (1, 5))


def peer_counts(setting: Setting) -> tuple[int, ...]:
    """How many queries the peers are run with."""
    return setting.pick((10,), (10,), (5,))


def pairs_of(count: int, span: int) -> list[Pair]:
    """So many queries, for data of so many seconds."""
    if count == 1:
        return [Pair("q0", LONGEST)]
    found = []
    for place in range(count):
        window = round(LONGEST * (1 + 4 * place / (count - 1)) / 5)
        part = min(1.0, _met(LONGEST, span) / _met(window, span) / count)
        shape = place % (10 if count >= TEN_TEMPLATES else 2)
        found.append(_pair(f"q{place}", window, shape, part, place / count))
    return found


def _met(window: int, span: int) -> float:
    """In proportion to this rows meet in a window, over data of so many seconds."""
    length = min(window / 1000, span)
    return length * span - length * length / 2


def _pair(name: str, window: int, shape: int, part: float, place: float) -> Pair:
    """A query that takes a part of what it would give, by a condition of one of ten shapes."""
    low, high = round(100 * part, 4), round(100 * (1 - part), 4)
    first = round(place * high, 4)
    last = round(first + low, 4)
    corner = round(100 * math.sqrt(2 * part), 4)
    conditions: tuple[tuple[str, tuple[str, float, float] | None], ...] = (
        (f"a.v >= {high}", ("a", high, 100.0)),
        (f"b.v <= {low}", ("b", 0.0, low)),
        (f"a.v BETWEEN {first} AND {last}", ("a", first, last)),
        (f"b.v BETWEEN {first} AND {last}", ("b", first, last)),
        (f"a.v <= {low}", ("a", 0.0, low)),
        (f"b.v >= {high}", ("b", high, 100.0)),
        (f"a.v + b.v <= {corner}", None),
        (f"a.v + b.v >= {200 - corner:.4f}", None),
        (f"a.v - b.v >= {100 - corner:.4f}", None),
        (f"b.v - a.v >= {100 - corner:.4f}", None),
    )
    return Pair(name, window, *conditions[shape])


def cases(setting: Setting) -> list[Case]:
    """Penstock with all data; peers, which take minutes, once with a part of it."""
    rate, keys = rate_and_keys(setting)
    span, part = seconds(setting)
    data, small, less = (setting.scratch / name for name in ("all", "small", "less"))
    make_pair(data, rate=rate, seconds=span, keys=keys)
    make_pair(small, rate=rate // 4, seconds=min(span, 20), keys=keys // 4, csv=True)
    make_pair(less, rate=rate, seconds=part, keys=keys, csv=True)
    found = []
    for count in counts(setting):
        pairs = pairs_of(count, span)
        job = penstock_job(data, pairs, rate=rate, keys=keys)
        warm = {"streams": penstock_job(small, pairs, rate=rate // 4, keys=keys)["streams"]}
        answers = f"N = {count}"
        found.append(Case(f"penstock, {count}", "penstock", job, warm=warm, answers=answers))
        judge = duckdb_job(data, pairs, most=100)
        found.append(Case(f"duckdb, {count}", "duckdb", judge, answers=answers, rounds=1))
        if count in (1, 100, TEN_TEMPLATES):
            name = f"penstock alone, {count}"
            found.append(Case(name, "penstock", job, answers=answers, rounds=1, worker=f"alone {count}"))
    for count in peer_counts(setting):
        found += _peers(count, less, small, part)
    by_hand = max(count for count in counts(setting) if count <= 100)
    pairs, answers = pairs_of(by_hand, part), f"by hand, N = {by_hand}"
    job, warm = spark_by_hand_job(less, pairs), {"streams": spark_job(small, ())["streams"]}
    found.append(Case(f"spark by hand, {by_hand}", "spark", job, warm=warm, answers=answers, rounds=1))
    found.append(Case(f"duckdb by hand, {by_hand}", "duckdb", duckdb_job(less, pairs), answers=answers, rounds=1))
    return found


def _peers(count: int, data: Path, small: Path, part: int) -> list[Case]:
    pairs, answers = pairs_of(count, part), f"part, N = {count}"
    found = [Case(f"duckdb part, {count}", "duckdb", duckdb_job(data, pairs), answers=answers, rounds=1)]
    for system in PEERS:
        job = JOBS[system](data, pairs)
        own: dict[str, Any] = {"answers": answers, "rounds": 1, "worker": f"{count}"}
        if system == "spark":
            warm = {"streams": spark_job(small, ())["streams"]}
            found.append(Case(f"{system}, {count}", system, job, warm=warm, **own))
        else:
            found.append(Case(f"{system}, {count}", system, job, counted={"count": True}, **own))
    return found


def show(setting: Setting, found: Found) -> Shown:
    """How much more time many queries take than one, and how much more the peers take for them."""
    rate, _ = rate_and_keys(setting)
    span, part = seconds(setting)
    rows, factor = 2 * rate * span, span / part
    lines: list[tuple[str, ...]] = []
    series: dict[str, list[tuple[float | str, float]]] = {"Penstock": []}
    for count in counts(setting):
        name = f"penstock, {count}"
        one = found.get(name)
        if one is None:
            continue
        own = one.median()
        if own:
            series["Penstock"].append((count, rows / own))
        alone = found.get(f"penstock alone, {count}")
        lines.append(
            (
                "Penstock",
                f"{count:,}",
                median_and_spread(one),
                number(ratio(rows, own)),
                times(found.ratio(name, "penstock, 1")),
                number(one.last("state_rows")),
                number(alone.median("peak_mb") if alone else None),
                number(one.median("compile_seconds"), 2),
            )
        )
    figures = {f"time {count}": found.ratio(f"penstock, {count}", "penstock, 1") for count in counts(setting)}
    known = [(SYSTEMS[system].title, system, count) for system in PEERS for count in peer_counts(setting)]
    known += [("Spark, one join, routed by hand", name.partition(",")[0], int(name.rpartition(" ")[2]))
              for name in found if name.startswith("spark by hand")]  # fmt: skip
    for title, system, count in known:
        own = found.median(f"{system}, {count}")
        if f"{system}, {count}" not in found:
            continue
        whole = own * factor if own else None
        one = found[f"{system}, {count}"]
        figures[f"{system} {count}"] = ratio(whole, found.median(f"penstock, {count}"))
        if whole:
            series.setdefault(title, []).append((count, rows / whole))
        speed = figures[f"{system} {count}"]
        memory, kept = number(one.median("peak_mb")), number(one.last("state_rows"))
        seconds_cell = median_and_spread(one) if whole is None else f"{number(whole, 1)} *"
        lines.append((title, f"{count:,}", seconds_cell, number(ratio(rows, whole)), times(speed), kept, memory, "–"))
    flink = found.median("flink, 10")
    figures["flink 100"] = ratio(flink * factor * 10 if flink else None, found.median("penstock, 100"))
    header = ("", "queries", "seconds", "rows/s", "to …", "most state rows", "peak MB", "compiling, s")
    note = (
        f"* Extrapolated: run once, over {2 * rate * part:,} rows, when windows are not full yet. 'to …': the time of "
        "Penstock to its time for one query; that of others to Penstock's for as many queries. Memory is that of a "
        "fresh process. Penstock and Spark write results, Flink and Pathway throw them away."
    )
    title = f"Many queries over two streams of {rate:,} rows/s, {rows:,} rows, windows of 12 to 60 s"
    plot = Plot("queries", "Many queries over one join", "queries", "rows/s", series, log_x=True, log_y=True)
    return Shown(tables=[Table("queries", title, header, lines, note)], figures=figures, plots=[plot])


WORKLOAD = Workload(
    "queries", "Many queries over one join", "rows/s, state and memory as the number of queries grows", cases, show
)
