"""A three- or four-way window join in Flink SQL, for `multiway.py`, which runs it with the Python that has Flink.

Interval joins are chained. A join of Flink's takes one time attribute of each side, so what has been joined keeps that
of its first stream and the others become plain timestamps, whose conditions are checked on top. The result holds the
watermark back by the length of the interval, so nothing comes late for the join above.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from clock import Clock


def interval(seconds: float) -> str:
    """A length of time in SQL, to the millisecond."""
    return f"INTERVAL '{seconds:.3f}' SECOND(2, 3)"


def statement(order: list[str], windows: dict[str, float]) -> str:
    """The joins, in the order given."""
    text = order[0]
    for number, name in enumerate(order[1:], 1):
        conditions = [f"l.k = {name}.k"] if number > 1 else [f"{order[0]}.k = {name}.k"]
        for other in order[:number]:
            known = f"{order[0]}.ts" if number == 1 else f"l.ts_{other}"
            conditions.append(f"{name}.ts < {known} + {interval(windows[other])}")
            conditions.append(f"{name}.ts > {known} - {interval(windows[name])}")
        if number == 1:
            columns = [f"{order[0]}.k AS k", f"{order[0]}.ts AS ts_{order[0]}"]
            left = order[0]
        else:
            columns = ["l.k AS k", *(f"l.ts_{other} AS ts_{other}" for other in order[:number])]
            left = f"({text}) AS l"
        columns.append(f"CAST({name}.ts AS TIMESTAMP(3)) AS ts_{name}")
        text = f"SELECT {', '.join(columns)} FROM {left} JOIN {name} ON {' AND '.join(conditions)}"
    columns = ["k", f"CAST(ts_{order[0]} AS TIMESTAMP(3)) AS ts_{order[0]}", *(f"ts_{name}" for name in order[1:])]
    return f"SELECT {', '.join(columns)} FROM ({text}) AS l"


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Two runs that throw their results away, and one between them that writes them as CSV, to be counted."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in {"parallelism.default": "2", "table.exec.source.idle-timeout": "0"}.items():
        tables.get_config().set(key, value)
    for name in job["order"]:
        tables.execute_sql(
            f"CREATE TABLE {name} (ts TIMESTAMP(3), k BIGINT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) "
            f"WITH ('connector' = 'filesystem', 'path' = 'file://{job['csv']}/{name}', 'format' = 'csv')"
        )
    columns = ", ".join(["k BIGINT", *(f"ts_{name} TIMESTAMP(3)" for name in job["order"])])
    text = statement(job["order"], job["windows"])
    plan = tables.explain_sql(text).split("== Optimized Execution Plan ==")[-1]
    if plan.count("IntervalJoin(") != len(job["order"]) - 1:
        raise RuntimeError(f"not all of these are interval joins:\n{plan}")
    out = Path(job["state"]) / "out"
    sinks = {
        "first": "'connector' = 'blackhole'",
        "csv": f"'connector' = 'filesystem', 'path' = 'file://{out}', 'format' = 'csv'",
        "warm": "'connector' = 'blackhole'",
    }
    found: dict[str, Any] = {}
    for name, options in sinks.items():
        tables.execute_sql(f"CREATE TABLE out_{name} ({columns}) WITH ({options})")
        clock = Clock()
        tables.execute_sql(f"INSERT INTO out_{name} {text}").wait()
        found[name] = clock.read()
    found["results"] = sum(file.read_bytes().count(b"\n") for file in out.rglob("*") if file.is_file())
    return found


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
