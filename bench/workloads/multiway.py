"""Joins of three and four streams on one attribute: every order, and Spark's and Flink's joins one above the other.

The streams are those of tables 5 to 7 of Golab & Özsu, faster, with shorter windows and more distinct values, so that
the ratios of rates, windows and distinct values and the rows of a window for each value stay; a join of three takes the
first three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from penstock.bench.core import Case, Found, Job, Setting, Shown, Table, Workload, median_and_spread, number, times
from penstock.bench.data import BEGIN
from penstock.compiler.cost import all_orders, best_order_heuristic, multiway_cost

Sizes = dict[str, tuple[float, float, float]]
TABLES: dict[str, tuple[Sizes, float]] = {
    "table 5": ({"S1": (10, 100, 500), "S2": (1, 100, 50), "S3": (1, 200, 40), "S4": (3, 100, 5)}, 500),
    "table 6": ({"S1": (100, 100, 200), "S2": (1, 100, 200), "S3": (1, 100, 20), "S4": (3, 100, 2)}, 75),
    "table 7": ({"S1": (11, 100, 200), "S2": (10, 100, 100), "S3": (1, 100, 65), "S4": (1, 100, 20)}, 300),
}
"""Rate, window and distinct values of each stream as they are printed, and how many times as fast they are here."""
UNIT = 0.1
"""So many seconds stand for a unit of time of the tables."""
PER_FILE, FILES = 5, 2
"""Files of so many seconds, and so many of them at once: a step is as long as most windows."""


def sizes_of(table: str, ways: int) -> Sizes:
    """The streams of a table, scaled: rates by second, windows in seconds."""
    printed, factor = TABLES[table]
    chosen = list(printed.items())[:ways]
    return {name: (rate * factor, window * UNIT, v * factor * UNIT) for name, (rate, window, v) in chosen}


def seconds(setting: Setting) -> int:
    """How much data there is."""
    return setting.pick(20, 20, 10)


def joins(setting: Setting) -> list[tuple[str, int]]:
    """Tables, and how many of their streams."""
    return setting.pick(
        [(table, ways) for table in TABLES for ways in (3, 4)], [("table 5", 3), ("table 6", 4)], [("table 7", 3)]
    )


def orders_of(setting: Setting, sizes: Sizes) -> list[tuple[str, ...]]:
    """Orders to be measured: all of three streams; of four the best, the middle and the worst by the model."""
    found = sorted(all_orders(sizes), key=lambda order: multiway_cost(order, sizes))
    few = [found[0], found[len(found) // 2], found[-1]]
    return found if len(sizes) == 3 and setting.size == "full" else few


def make_streams(folder: Path, sizes: Sizes, length: int) -> None:
    """Rows in the order of time, ts (in milliseconds) and k: files of Parquet, and one of CSV each."""
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        for seed, (name, (rate, _, distinct)) in enumerate(sizes.items()):
            rows = f"""
                SELECT make_timestamptz({BEGIN * 1_000_000}::BIGINT + (i * 1000 // {rate:.0f}) * 1000) AS ts,
                       (hash(i, {seed}) % {distinct:.0f})::BIGINT AS k
            """
            (folder / name).mkdir(parents=True)
            for start in range(0, length, PER_FILE):
                part = f"range({start * rate:.0f}, {(start + PER_FILE) * rate:.0f}) r(i)"
                db.execute(f"COPY ({rows} FROM {part}) TO '{folder / name / f'{start:05}.parquet'}' (FORMAT parquet)")
            (folder / "csv" / name).mkdir(parents=True)
            text = f"SELECT strftime(ts, '%Y-%m-%d %H:%M:%S.%g'), k FROM '{folder / name}/*.parquet' ORDER BY ts"
            db.execute(f"COPY ({text}) TO '{folder / 'csv' / name / 'rows.csv'}' (FORMAT csv, HEADER false)")


def penstock_text(sizes: Sizes) -> str:
    """For Penstock."""
    first, *others = sizes
    columns = ", ".join([f"{first}.k", *(f"{name}.ts AS ts_{name}" for name in sizes)])
    inputs = ", ".join(f"{name} [RANGE {window:g} sec]" for name, (_, window, _) in sizes.items())
    return f"SELECT {columns} FROM {inputs} WHERE {' AND '.join(f'{first}.k = {name}.k' for name in others)}"


def duck_text(sizes: Sizes) -> str:
    """For DuckDB: no row is older than its window when the newest one comes."""
    first, *others = sizes
    near = [
        f"{b}.ts - {a}.ts < INTERVAL {round(sizes[a][1] * 1000)} MILLISECONDS" for a in sizes for b in sizes if a != b
    ]
    same = [f"{first}.k = {name}.k" for name in others]
    return f"SELECT {first}.k FROM {', '.join(sizes)} WHERE {' AND '.join([*same, *near])}"


def chained_text(order: Sequence[str], sizes: Sizes, window: str, plain: str) -> str:
    """For Spark and Flink: joins one above the other, which take one event time of each side.

    So what has been joined keeps that of its first stream, and the others become plain timestamps by `plain`, whose
    conditions are checked on top. `window` is a length of time in seconds.
    """
    source = left = order[0]
    times_ = {order[0]: f"{order[0]}.ts"}
    text = ""
    for place, name in enumerate(order[1:], 1):
        conditions = [f"{left}.k = {name}.k"]
        for other in order[:place]:
            conditions.append(f"{name}.ts < {times_[other]} + {window.format(sizes[other][1])}")
            conditions.append(f"{name}.ts > {times_[other]} - {window.format(sizes[name][1])}")
        kept = [f"{time} AS ts_{other}" for other, time in times_.items()]
        columns = [f"{left}.k AS k", *kept, f"{plain.format(f'{name}.ts')} AS ts_{name}"]
        text = f"SELECT {', '.join(columns)} FROM {source} JOIN {name} ON {' AND '.join(conditions)}"
        source, left = f"({text}) AS l", "l"
        times_ = {other: f"l.ts_{other}" for other in order[: place + 1]}
    return text


def penstock_job(data: Path, sizes: Sizes, length: int, order: Sequence[str] = ()) -> Job:
    """For Penstock, in an order, or as planned."""
    streams = {
        name: {
            "schema": {"k": "bigint", "ts": "timestamp"},
            "source": {"format": "parquet", "path": str(data / name), "options": {"maxFilesPerTrigger": FILES}},
            "statistics": {"rate": rate, "distinct": {"k": int(distinct)}},
        }
        for name, (rate, _, distinct) in sizes.items()
    }
    rows = round(sum(rate for rate, _, _ in sizes.values())) * PER_FILE * FILES
    return {
        "streams": streams,
        "texts": {"q": penstock_text(sizes)},
        "step_rows": rows,
        "order": list(order),
        "check": "k",
    }


def cases(setting: Setting) -> list[Case]:
    """Each join by Penstock in several orders, and by the peers in the order that the heuristic finds."""
    found = []
    length = seconds(setting)
    for table, ways in joins(setting):
        sizes, name = sizes_of(table, ways), f"{table}, {ways} streams"
        data = setting.scratch / f"{table.replace(' ', '')}-{ways}"
        make_streams(data, sizes, length)
        order = best_order_heuristic(sizes)
        job = penstock_job(data, sizes, length)
        found.append(Case(f"{name}, as planned", "penstock", job, warm={}, answers=name))
        for other in orders_of(setting, sizes):
            job = penstock_job(data, sizes, length, other)
            found.append(Case(f"{name}, {' '.join(other)}", "penstock", job, answers=name))
        judge = {
            "streams": {s: f"{data / s}/*.parquet" for s in sizes},
            "questions": {"q": duck_text(sizes)},
            "check": "k",
        }
        found.append(Case(f"{name}, duckdb", "duckdb", judge, answers=name, rounds=1))
        text = chained_text(order, sizes, "INTERVAL {} SECONDS", "timestamp_micros(unix_micros({}))")
        streams: Mapping[str, Job] = {s: {"path": str(data / s), "columns": "ts timestamp, k long"} for s in sizes}
        job = {"streams": streams, "questions": {"q": text}, "files": FILES, "check": "k"}
        found.append(Case(f"{name}, spark", "spark", job, answers=name, rounds=1))
        window = "INTERVAL '{:.3f}' SECOND(2, 3)"
        text = f"SELECT * FROM ({chained_text(order, sizes, window, 'CAST({} AS TIMESTAMP(3))')})"
        streams = {s: {"path": str(data / "csv" / s), "columns": "ts TIMESTAMP(3), k BIGINT"} for s in sizes}
        job = {"streams": streams, "questions": {"q": text}, "check": "k"}
        found.append(Case(f"{name}, flink", "flink", job, counted={"count": True}, answers=name, rounds=1))
    return found


def show(setting: Setting, found: Found) -> Shown:
    """Times of the orders beside what the model says, and of the peers."""
    tables, figures = [], dict[str, float | None]()
    for table, ways in joins(setting):
        sizes, name = sizes_of(table, ways), f"{table}, {ways} streams"
        planned = f"{name}, as planned"
        orders = orders_of(setting, sizes)
        least = multiway_cost(orders[0], sizes)
        lines = [(planned, "as planned", "")]
        lines += [
            (f"{name}, {' '.join(order)}", " ".join(order), f"{multiway_cost(order, sizes) / least:.2f}")
            for order in orders
        ]
        lines += [(f"{name}, spark", "Spark's own joins", ""), (f"{name}, flink", "Flink's interval joins", "")]
        rows = [
            (title, median_and_spread(found[key]), times(found.ratio(key, planned)), cost)
            for key, title, cost in lines
            if key in found
        ]
        medians = [found.median(f"{name}, {' '.join(order)}") for order in orders]
        best = min((value for value in medians if value is not None), default=None)
        own = found.median(planned)
        figures[f"{name}, planned to best"] = own / best if own and best else None
        figures |= {f"{name}, {peer}": found.ratio(f"{name}, {peer}", planned) for peer in ("spark", "flink")}
        total = round(sum(rate for rate, _, _ in sizes.values()) * seconds(setting))
        header = ("", "seconds", "to as planned", "cost by the model")
        results = found[planned].last("results", {}).get("q") if planned in found else None
        title = f"{name} of Golab & Özsu: {total:,} rows, {number(results)} results"
        tables.append(Table(name.replace(", ", "-").replace(" ", ""), title, header, rows))
    return Shown(tables=tables, figures=figures)


WORKLOAD = Workload(
    "multiway", "Joins of three and four streams", "join orders, beside Spark's and Flink's joins", cases, show
)
