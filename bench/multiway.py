"""Window joins of three and four streams on one attribute: Penstock with every join order, Spark and Flink.

Run it with  .venv/bin/python bench/multiway.py [--quick] [--only table5,…] [--ways 3,4] [--peers spark,flink]. The
streams are those of tables 5 to 7 of Golab & Özsu, faster, with shorter windows and more distinct values, so that
the ratios of rates, windows and distinct values and the rows of a window for each value stay; a join of three takes the
first three. Every system runs in a process of its own, one after the other, and starting the JVM is left out of all
times. Penstock measures all orders in one session, in rounds. Take the ratios, not the figures: the machine may be busy
with other things. Flink is installed into build/peers/flink when it is first asked for.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from clock import Clock
from head_to_head import rocksdb_session, table

Sizes = dict[str, tuple[float, float, float]]
FLINK = "apache-flink==2.3.0"
PEERS = Path(__file__).parent.parent / "build" / "peers"

TABLES: dict[str, tuple[Sizes, float]] = {
    "table5": ({"S1": (10, 100, 500), "S2": (1, 100, 50), "S3": (1, 200, 40), "S4": (3, 100, 5)}, 500),
    "table6": ({"S1": (100, 100, 200), "S2": (1, 100, 200), "S3": (1, 100, 20), "S4": (3, 100, 2)}, 75),
    "table7": ({"S1": (11, 100, 200), "S2": (10, 100, 100), "S3": (1, 100, 65), "S4": (1, 100, 20)}, 300),
}
"""Rate, window and distinct values of each stream as they are printed, and how many times as fast they are here."""
UNIT = 0.1
"""So many seconds stand for a unit of time of the tables."""
BEGIN = 1_700_000_000
"""Rows begin here: at time 0 some would be behind a watermark that is nowhere yet."""
PER_FILE = 5
FILES = 2
"""Files of so many seconds, and so many of them at once: a step is as long as most windows."""


Times = tuple[float, float]
"""Seconds by the clock, and of processor time."""
Orders = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Load:
    """What is joined, and for how long."""

    name: str
    sizes: Sizes
    seconds: int

    @property
    def windows(self) -> dict[str, float]:
        """The window of each stream in seconds."""
        return {name: window for name, (_, window, _) in self.sizes.items()}

    @property
    def rows(self) -> int:
        """All the rows of all the streams."""
        return int(sum(rate for rate, _, _ in self.sizes.values())) * self.seconds


def load(name: str, ways: int, quick: bool) -> Load:
    """The streams of a table, scaled: windows in seconds, rates by second."""
    printed, factor = TABLES[name]
    chosen = list(printed.items())[:ways]
    sizes = {s: (rate * factor, window * UNIT, v * factor * UNIT) for s, (rate, window, v) in chosen}
    return Load(f"{name}, {ways} streams", sizes, 20 if quick else 40)


def make_streams(folder: Path, made: Load) -> None:
    """Rows in the order of time, ts (in milliseconds: Flink keeps no more) and k: files of Parquet, and one of CSV."""
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        for seed, (name, (rate, _, distinct)) in enumerate(made.sizes.items()):
            rows = f"""
                SELECT make_timestamptz({BEGIN * 1_000_000}::BIGINT + (i * 1000 // {rate:.0f}) * 1000) AS ts,
                       (hash(i, {seed}) % {distinct:.0f})::BIGINT AS k
            """
            (folder / name).mkdir(parents=True)
            for number, start in enumerate(range(0, made.seconds, PER_FILE)):
                first, last = start * rate, (start + PER_FILE) * rate
                path = folder / name / f"{number:05}.parquet"
                db.execute(f"COPY ({rows} FROM range({first:.0f}, {last:.0f}) r(i)) TO '{path}' (FORMAT parquet)")
            (folder / "csv" / name).mkdir(parents=True)
            path = folder / "csv" / name / "rows.csv"
            text = f"SELECT strftime(ts, '%Y-%m-%d %H:%M:%S.%g'), k FROM '{folder / name}/*.parquet' ORDER BY ts"
            db.execute(f"COPY ({text}) TO '{path}' (FORMAT csv, HEADER false)")


def penstock(job: dict[str, Any]) -> dict[str, Any]:
    """The query with the planner's orders and with every global order, measured in turns in one session."""
    from dataclasses import replace

    import penstock as p
    from penstock.compiler.cost import all_orders, general_cost, multiway_cost
    from penstock.compiler.planner import plan_physical
    from penstock.runtime.engine import Engine
    from penstock.runtime.plans import RunPlan
    from penstock.runtime.session import spark_session

    sizes: Sizes = {name: tuple(size) for name, size in job["sizes"].items()}
    streams = {
        name: {
            "schema": {"k": "bigint", "ts": "timestamp"},
            "source": {"format": "parquet", "path": f"{job['data']}/{name}", "options": {"maxFilesPerTrigger": FILES}},
            "statistics": {"rate": rate, "distinct": {"k": int(distinct)}},
        }
        for name, (rate, _, distinct) in sizes.items()
    }
    first, *others = sizes
    columns = ", ".join([f"{first}.k", *(f"{name}.ts AS ts_{name}" for name in sizes)])
    inputs = ", ".join(f"{name} [RANGE {window:g} sec]" for name, (_, window, _) in sizes.items())
    text = f"SELECT {columns} FROM {inputs} WHERE {' AND '.join(f'{first}.k = {name}.k' for name in others)}"
    compiled = p.compile({"q": text}, {"streams": streams})
    (join,) = compiled.shared.joins
    of_alias = {scan.alias: scan.stream for scan in join.streams}
    alias_of = {stream: alias for alias, stream in of_alias.items()}
    origins = [scan.alias for scan in join.streams]

    def forced(order: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        names = [alias_of[name] for name in order]
        return tuple((origin, *(name for name in names if name != origin)) for origin in origins)

    spark = spark_session()
    spark.range(10).count()

    counts = set()

    def measured(orders: Orders) -> Times:
        shared = replace(compiled.shared, joins=(replace(join, orders=orders),))
        plan = RunPlan(plan_physical(shared), compiled.catalog, {"queries": {"q": text}})
        reports: list[Any] = []
        with tempfile.TemporaryDirectory(dir=job["state"]) as state:
            engine = Engine(spark, state, step_rows=job["step_rows"], on_step=reports.append)
            clock = Clock()
            engine.open(plan, lambda _: plan)
            engine.start(once=True)
            engine.run()
            found = clock.read()
            engine.stop()
        counts.add(sum(report.results for report in reports))
        return found

    def rounds(plans: list[Orders], count: int) -> dict[Orders, list[Times]]:
        times: dict[Orders, list[Times]] = {orders: [] for orders in plans}
        for turn in range(count):
            place = turn * len(plans) // count
            for orders in plans[place:] + plans[:place]:
                times[orders].append(measured(orders))
        return times

    cold = measured(join.orders)
    for _ in range(3):
        measured(join.orders)
    found = {order: forced(order) for order in all_orders(sizes)}
    found = found if job["all_orders"] else {}
    times = rounds(list(dict.fromkeys([join.orders, *found.values()])), job["rounds"])
    best = sorted(times, key=lambda orders: median(times[orders], 1))[:3]
    finals = rounds(list(dict.fromkeys([join.orders, *best])), job["finals"])
    own = {of_alias[order[0]]: [of_alias[name] for name in order] for order in join.orders}
    lines = [("chosen", join.orders, general_cost(own, sizes))]
    lines += [(" ".join(order), orders, multiway_cost(order, sizes)) for order, orders in found.items()]
    return {
        "first": cold,
        "warm": times[join.orders],
        "results": sorted(counts),
        "own": own,
        "lines": [
            {
                "name": name,
                "times": times[orders],
                "finals": finals.get(orders, []),
                "cost": cost,
                "chosen": orders == join.orders,
            }
            for name, orders, cost in lines
        ],
    }


def spark_join(job: dict[str, Any]) -> dict[str, Any]:
    """Spark's own joins, one above the other, with their state in RocksDB, state format 4; two runs."""
    from pyspark.sql import functions as F

    spark = rocksdb_session()
    order, windows = job["order"], job["windows"]

    def side(name: str) -> Any:
        reader = spark.readStream.schema("ts timestamp, k long").option("maxFilesPerTrigger", FILES)
        rows = reader.parquet(f"{job['data']}/{name}").withWatermark("ts", "1 second")
        return rows.select(F.col("ts").alias(f"ts_{name}"), F.col("k").alias(f"k_{name}"))

    def joined() -> Any:
        rows = side(order[0])
        for number, name in enumerate(order[1:], 1):
            conditions = [f"k_{order[0]} = k_{name}"]
            for other in order[:number]:
                conditions.append(f"ts_{name} < ts_{other} + interval {windows[other]} seconds")
                conditions.append(f"ts_{name} > ts_{other} - interval {windows[name]} seconds")
            rows = rows.join(side(name), F.expr(" AND ".join(conditions)))
            # A join takes one event time of each side: the new one becomes a column like any other.
            rows = rows.withColumn(f"ts_{name}", F.expr(f"timestamp_micros(unix_micros(ts_{name}))"))
        return rows.select(f"k_{order[0]}", *(f"ts_{name}" for name in order))

    found: dict[str, Any] = {}
    for number in ("first", "warm"):
        out, checkpoint = (f"{job['state']}/{kind}{number}" for kind in ("out", "checkpoint"))
        clock = Clock()
        writer = joined().writeStream.format("parquet").option("path", out).option("checkpointLocation", checkpoint)
        query = writer.outputMode("append").trigger(availableNow=True).start()
        query.awaitTermination()
        found[number] = clock.read()
        found["results"] = spark.read.parquet(out).count()
        found["kept"] = [operator["numRowsTotal"] for operator in query.lastProgress["stateOperators"]]
    return found


def flink_python() -> Path:
    """The Python of an environment with Flink, made if it is not there."""
    python = PEERS / "flink" / "bin" / "python"
    try:
        if not python.exists():
            print(f"  installing {FLINK} into {PEERS / 'flink'}, once …", file=sys.stderr, flush=True)
            subprocess.run([sys.executable, "-m", "venv", PEERS / "flink"], check=True)
        if subprocess.run([python, "-c", "import pyflink"], stderr=subprocess.DEVNULL).returncode:
            subprocess.run([python, "-m", "pip", "install", "--quiet", FLINK], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"Flink cannot be installed ({error}). Go on without it:  --peers spark")
    return python


def child(command: list[str | Path], job: dict[str, Any]) -> dict[str, Any]:
    """Run a job in a process of its own, over an empty state folder."""
    print(f"  running {job['system']} …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=job["scratch"]) as state:
        text = json.dumps({**job, "state": state})
        done = subprocess.run([*command, text], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{job['system']} has failed:\n{done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def median(times: list[Times], place: int) -> float:
    """The median by the clock (0) or of processor time (1)."""
    return statistics.median(found[place] for found in times)


def show_orders(made: Load, ours: dict[str, Any]) -> None:
    """What each order took, against what the cost model says."""
    lines = sorted(ours["lines"], key=lambda line: median(line["times"], 1))
    least = min(line["cost"] for line in lines)
    rows = []
    for line in lines:
        name = "chosen by the planner" if line["name"] == "chosen" else line["name"]
        name += " (is the chosen one)" if line["chosen"] and line["name"] != "chosen" else ""
        cells = [
            f"{median(times, place):.2f}" if times else ""
            for times in (line["times"], line["finals"])
            for place in (0, 1)
        ]
        rows.append((name, *cells, f"{line['cost'] / least:.2f}"))
    table(
        f"{made.name}: {made.rows:,} rows, {ours['results'][0]:,} results, Penstock with each order",
        ("", "median s", "CPU s", "finals s", "CPU s", "cost by the model"),
        rows,
    )
    print("  chosen:", "; ".join(" ".join(order) for order in ours["own"].values()))
    chosen = next(line for line in lines if line["name"] == "chosen")
    for place, unit in enumerate(("by the clock", "of CPU")):
        ratio = median(chosen["finals"], place) / min(median(line["finals"], place) for line in lines if line["finals"])
        medians = [median(line["times"], place) for line in lines]
        spread = max(medians) / min(medians)
        print(f"  {unit}: chosen / best {ratio:.2f} in the finals (goal: at most 1.10), worst / best {spread:.2f}")


def show_peers(made: Load, ours: dict[str, Any], theirs: dict[str, dict[str, Any]]) -> None:
    """What the peers took, against the order that the planner chose."""
    own = (median(ours["warm"], 0), median(ours["warm"], 1))
    runs = {"Penstock, as planned": {"first": ours["first"], "warm": own}, **theirs}
    rows = []
    for name, found in runs.items():
        (first, _), (warm, used) = found["first"], found["warm"]
        ratios = (first / ours["first"][0], warm / own[0], used / own[1])
        cells = (f"{first:.1f}", f"{warm:.1f}", f"{used:.1f}", f"{made.rows / warm:,.0f}")
        rows.append((name, *cells, *(f"{ratio:.2f}" for ratio in ratios)))
    header = ("", "first run, s", "warm, s", "CPU s", "rows/s warm", "to Penstock: first", "warm", "CPU")
    table(f"{made.name}: one query", header, rows)
    for name, found in theirs.items():
        if "csv" in found:
            seconds, used = found["csv"]
            print(f"  {name} throws its results away; writing them as CSV it takes {seconds:.1f} s, CPU {used:.1f} s")


def compare(made: Load, scratch: Path, options: argparse.Namespace) -> None:
    """One join, by every system."""
    from penstock.compiler.cost import best_order_heuristic

    data = scratch / made.name.replace(" ", "").replace(",", "-")
    make_streams(data, made)
    order = best_order_heuristic(made.sizes)
    base = {"scratch": str(scratch), "data": str(data), "order": order, "windows": made.windows}
    own: list[str | Path] = [sys.executable, __file__, "--child"]
    step_rows = made.rows // made.seconds * PER_FILE * FILES
    rounds = {
        "all_orders": not options.planned,
        "rounds": options.rounds,
        "finals": 0 if options.planned else options.rounds + 2,
        "step_rows": step_rows,
    }
    ours = child(own, {**base, **rounds, "system": "Penstock", "sizes": made.sizes})
    if not options.planned:
        show_orders(made, ours)
    theirs = {}
    if "spark" in options.peers:
        theirs["Spark's own joins"] = child(own, {**base, "system": "Spark"})
    if "flink" in options.peers:
        command: list[str | Path] = [flink_python(), Path(__file__).with_name("multiway_flink.py")]
        theirs["Flink's interval joins"] = child(command, {**base, "system": "Flink", "csv": str(data / "csv")})
    counts = {
        **{f"Penstock {n}": c for n, c in enumerate(ours["results"])},
        **{n: f["results"] for n, f in theirs.items()},
    }
    if len(set(counts.values())) > 1:
        print("  VOID, the counts differ:", ", ".join(f"{name}: {count:,}" for name, count in counts.items()))
    if theirs:
        show_peers(made, ours, theirs)
        print(
            f"  the peers join in the order {' '.join(order)}; all counts are equal" * (len(set(counts.values())) == 1)
        )
    shutil.rmtree(data)


def main() -> None:
    """Run the joins that were asked for and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="less data")
    parser.add_argument("--only", default=",".join(TABLES), help=f"some of {', '.join(TABLES)}")
    parser.add_argument("--ways", default="3,4", help="how many streams: 3, 4 or both")
    parser.add_argument("--peers", default="spark,flink", help="what to compare with; may be empty")
    parser.add_argument("--rounds", type=int, default=3, help="how often each order is measured")
    parser.add_argument("--planned", action="store_true", help="leave out the orders that the planner does not choose")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        job = json.loads(options.child)
        print(json.dumps((penstock if job["system"] == "Penstock" else spark_join)(job)))
        return
    scratch = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    try:
        for name in options.only.split(","):
            for ways in options.ways.split(","):
                compare(load(name.strip(), int(ways), options.quick), scratch, options)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
