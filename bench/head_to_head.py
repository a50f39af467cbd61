"""Penstock and Spark's own stream-stream join, side by side: throughput, small steps, state, and growth.

Run it with  .venv/bin/python bench/head_to_head.py [--quick] [--only throughput,steps,state,growth]. Data is made by a
seeded generator. Every system runs in a process of its own, one after the other, and starting the JVM is left out of
all times. Take the ratios, not the figures: the machine may be busy with other things.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from data import make_stream

SCHEMA = {"k": "bigint", "v": "double", "ts": "timestamp"}
JOIN = "SELECT x.k, x.ts AS ats, x.v AS av, y.ts AS bts, y.v AS bv FROM a x, b y WHERE x.k = y.k"


def queries(count: int, window: int) -> dict[str, str]:
    """One query without a selection; or many, windows from a twelfth of the longest on, two shapes of selection."""
    if count == 1:
        return {"q0": f"{JOIN} WINDOW {window} sec"}
    found = {}
    for number in range(count):
        selection = f"x.v > {90 - number * 0.01:.2f}" if number % 2 else f"y.v < {10 + number * 0.01:.2f}"
        length = window / 12 + (window - window / 12) * number / (count - 1)
        found[f"q{number}"] = f"{JOIN} AND {selection} WINDOW {length:.3f} sec"
    return found


def penstock(job: dict[str, Any]) -> dict[str, Any]:
    """Run queries through Penstock."""
    import penstock as p
    from penstock.runtime.engine import Engine, StepReport
    from penstock.runtime.plans import RunPlan
    from penstock.runtime.session import spark_session

    streams = {
        name: {
            "schema": SCHEMA,
            "source": {
                "format": "parquet",
                "path": f"{job['data']}/{name}",
                "options": {"maxFilesPerTrigger": job["files"]},
            },
            "statistics": {"rate": job["rate"]},
        }
        for name in ("a", "b")
    }
    texts = job.get("texts") or queries(job["queries"], job["window"])
    catalog = {"streams": streams, "relations": job.get("relations", {})}
    compiled = p.compile(texts, catalog, settings=job.get("settings"))
    spark = spark_session()
    spark.range(10).count()
    reports: list[tuple[StepReport, dict[str, int], int]] = []

    def note(report: StepReport) -> None:
        rows = {chain: sum(chunk.rows for chunk in chunks) for chain, chunks in engine.state.chains.items()}
        reports.append((report, rows, sum(map(len, engine.state.chains.values()))))

    engine = Engine(spark, f"{job['state']}/penstock", step_rows=job["step_rows"], on_step=note)
    plan = RunPlan(compiled.physical, compiled.catalog, {"queries": texts})
    began = time.perf_counter()
    engine.open(plan, lambda _: plan)
    engine.start(once=True)
    engine.run()
    seconds = time.perf_counter() - began
    engine.stop()
    from penstock.runtime.metrics import slice_table, state_table

    return {
        "seconds": seconds,
        "results": sum(report.results for report, _, _ in reports),
        "steps": [report.seconds for report, _, _ in reports],
        "state_rows": [sum(rows.values()) for _, rows, _ in reports],
        "chunks": [count for _, _, count in reports],
        "state": state_table(compiled.physical, engine.state),
        "slices": slice_table(compiled.physical, engine.state),
    }


def rocksdb_session() -> Any:
    """Spark as it joins streams itself at its best: state in RocksDB, state format 4."""
    from pyspark.sql import SparkSession

    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    settings = {
        "spark.master": "local[*]",
        "spark.driver.memory": "8g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.join.stateFormatVersion": "4",
        "spark.sql.streaming.numRecentProgressUpdates": "10000",
        "spark.sql.streaming.stateStore.providerClass": provider,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.range(10).count()
    return spark


def spark_join(job: dict[str, Any]) -> dict[str, Any]:
    """Run one query through Spark's own join, with its state in RocksDB, state format 4."""
    from pyspark.sql import functions as F

    spark = rocksdb_session()

    def side(name: str) -> Any:
        reader = spark.readStream.schema("ts timestamp, k long, v double").option("maxFilesPerTrigger", job["files"])
        rows = reader.parquet(f"{job['data']}/{name}").withWatermark("ts", "1 second")
        return rows.select(*(F.col(column).alias(name + column) for column in ("ts", "k", "v")))

    window = f"interval {job['window']} seconds"
    condition = f"ak = bk AND ats > bts - {window} AND ats < bts + {window}"
    joined = side("a").join(side("b"), F.expr(condition)).select("ak", "ats", "av", "bts", "bv")
    began = time.perf_counter()
    writer = joined.writeStream.format("parquet").option("path", f"{job['state']}/spark-out")
    query = writer.option("checkpointLocation", f"{job['state']}/spark-ck").trigger(availableNow=True).start()
    query.awaitTermination()
    seconds = time.perf_counter() - began
    triggers = [progress["durationMs"]["triggerExecution"] / 1000 for progress in query.recentProgress]
    rows = [p["stateOperators"][0]["numRowsTotal"] for p in query.recentProgress if p["stateOperators"]]
    results = spark.read.parquet(f"{job['state']}/spark-out").count()
    return {"seconds": seconds, "results": results, "steps": triggers, "state_rows": rows}


def child(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job in a process of its own, over an empty state folder."""
    print(f"  running {job['system']}, {job.get('queries', '')} queries …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=job["scratch"]) as state:
        command = [sys.executable, __file__, "--child", json.dumps({**job, "state": state})]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def table(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a table."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for row in [header, *rows]:
        first, *rest = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  " + "  ".join([first, *(cell.strip().rjust(len(cell)) for cell in rest)]))


def throughput(scratch: Path, quick: bool) -> None:
    """Rows a second over a backlog: Spark's own join once, ours with 1, 10 and 100 queries."""
    seconds, rate, keys = (60, 20_000, 1_000_000) if quick else (120, 20_000, 1_000_000)
    data = scratch / "fast"
    for seed, name in enumerate(("a", "b")):
        make_stream(data / name, rate=rate, seconds=seconds, keys=keys, per_file=5, seed=seed)
    total = 2 * rate * seconds
    base = {"scratch": str(scratch), "data": str(data), "window": 60, "rate": rate, "step_rows": 1_000_000}
    native = child({**base, "system": "spark", "files": 1, "queries": 1})
    ours = {n: child({**base, "system": "penstock", "files": 8, "queries": n}) for n in (1, 10, 100)}
    if native["results"] != ours[1]["results"]:
        print(f"VOID: Spark gives {native['results']:,} results, Penstock {ours[1]['results']:,}")
    rows = [("Spark's own join, 1 query", f"{native['seconds']:.1f}", f"{total / native['seconds']:,.0f}", "", "1.0")]
    for n, found in ours.items():
        speed = native["seconds"] / found["seconds"]
        more = found["seconds"] / ours[1]["seconds"]
        rows.append(
            (
                f"Penstock, {n} quer{'y' if n == 1 else 'ies'}",
                f"{found['seconds']:.1f}",
                f"{total / found['seconds']:,.0f}",
                f"{more:.2f}",
                f"{speed:.1f}",
            )
        )
    table(
        f"Throughput: {total:,} rows, 60 s window",
        ("", "seconds", "rows/s", "time to 1 query", "speed to Spark"),
        rows,
    )
    print("  results:", ", ".join(f"{n}: {found['results']:,}" for n, found in ours.items()))


def steps(scratch: Path, quick: bool) -> None:
    """Small steps: a second of data each."""
    data = scratch / "slow"
    seconds = 90 if quick else 150
    for seed, name in enumerate(("a", "b")):
        make_stream(data / name, rate=1000, seconds=seconds, keys=50_000, per_file=1, seed=seed)
    base = {"scratch": str(scratch), "data": str(data), "window": 60, "rate": 1000, "files": 1, "step_rows": 2000}
    native = child({**base, "system": "spark", "queries": 1})
    ours = {n: child({**base, "system": "penstock", "queries": n}) for n in (1, 10)}
    reference = _median(native["steps"])
    rows = [
        ("Spark's own join, 1 query", f"{reference:.3f}", f"{native['seconds'] / len(native['steps']):.3f}", "1.00")
    ]
    for n, found in ours.items():
        median = _median(found["steps"])
        wall = found["seconds"] / len(found["steps"])
        rows.append((f"Penstock, {n} queries", f"{median:.3f}", f"{wall:.3f}", f"{median / reference:.2f}"))
    table("Small steps: 1,000 rows/s a stream, 1 s a step, 60 s window", ("", "median", "wall", "ratio"), rows)


def state(scratch: Path, quick: bool) -> None:
    """State rows against what the cost model says is least: the example of State-Slice, 60 min and 1 min."""
    data = scratch / "long"
    minutes = 70
    for seed, name in enumerate(("a", "b")):
        make_stream(data / name, rate=100, seconds=60 * minutes, keys=500, per_file=30, seed=seed)
    texts = {
        "q1": "SELECT x.k FROM a x, b y WHERE x.k = y.k AND x.v + y.v > 199.9 WINDOW 1 min",
        "q2": "SELECT x.k FROM a x, b y WHERE x.k = y.k AND x.v > 99 AND y.v > 99 WINDOW 60 min",
    }
    job = {"scratch": str(scratch), "data": str(data), "window": 3600, "rate": 100, "files": 1, "step_rows": 6000}
    found = child({**job, "system": "penstock", "texts": texts, "queries": 2})
    least = 2 * 100 * (60 + 0.01 * 3540)
    newest = 2 * 100 * 30
    kept = found["state_rows"][-1]
    table(
        "State: windows of 1 min (every row) and 60 min (1 % of each stream), 100 rows/s",
        ("", "rows"),
        [
            ("least by the model", f"{least:,.0f}"),
            ("kept", f"{kept:,}"),
            ("of it in the slice from 1 to 60 min", f"{sum(s['rows'] for s in found['slices'] if s['from'] != '0'):,}"),
            ("1 % of 59 min of both streams", f"{2 * 100 * 0.01 * 3540:,.0f}"),
            ("allowed: a tenth more, and the newest chunks", f"{1.1 * least + newest:,.0f}"),
        ],
    )


def growth(scratch: Path, quick: bool) -> None:
    """Step time over a run ten windows long."""
    data = scratch / "growth"
    seconds = 120 if quick else 300
    for seed, name in enumerate(("a", "b")):
        make_stream(data / name, rate=1000, seconds=seconds, keys=20_000, per_file=1, seed=seed)
    job = {"scratch": str(scratch), "data": str(data), "window": seconds // 10, "rate": 1000, "files": 1}
    found = child({**job, "system": "penstock", "queries": 10, "step_rows": 2000})
    count = len(found["steps"])
    rows = []
    for quarter in range(4):
        part = slice(quarter * count // 4, (quarter + 1) * count // 4)
        rows.append(
            (
                f"quarter {quarter + 1}",
                f"{statistics.median(found['steps'][part]):.3f}",
                f"{max(found['state_rows'][part]):,}",
                f"{max(found['chunks'][part])}",
            )
        )
    table(f"Growth: {count} steps, ten windows long", ("", "median step, s", "state rows", "chunks"), rows)


def _median(values: list[float]) -> float:
    """The median of the second half, when everything is warm."""
    return statistics.median(values[len(values) // 2 :])


PARTS = {"throughput": throughput, "steps": steps, "state": state, "growth": growth}


def main() -> None:
    """Run the parts that were asked for and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="less data")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        job = json.loads(options.child)
        print(json.dumps((penstock if job["system"] == "penstock" else spark_join)(job)))
        return
    scratch = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    try:
        for name in options.only.split(","):
            PARTS[name.strip()](scratch, options.quick)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
