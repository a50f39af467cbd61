"""Penstock: queries over files, run once over all that is there.

A job has `streams` (their catalog entries), `texts` (of each query), perhaps `relations`, `settings`, `step_rows`
and the `order` of the only join. Results are counted in the files that they were written to.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

import penstock
from penstock.api import CompiledQueries
from penstock.bench.core import settled
from penstock.compiler.physical import PhysicalPlan
from penstock.compiler.planner import plan_physical
from penstock.runtime.engine import Engine, StepReport
from penstock.runtime.metrics import slice_table
from penstock.runtime.plans import RunPlan
from penstock.runtime.session import spark_session


def start() -> None:
    """Start Spark."""
    spark_session().range(10).count()


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Compile the queries, run them, and count their results."""
    began = time.perf_counter()
    catalog = {"streams": job["streams"], "relations": job.get("relations", {})}
    compiled = penstock.compile(job["texts"], catalog, settings=job.get("settings"))
    physical = in_order(compiled, job["order"]) if job.get("order") else compiled.physical
    plan = RunPlan(physical, compiled.catalog, {"queries": job["texts"]})
    compiling = time.perf_counter() - began
    reports: list[StepReport] = []
    state_rows: list[int] = []
    chunks: list[int] = []

    def note(report: StepReport) -> None:
        reports.append(report)
        kept = [chunk for chain in engine.state.chains.values() for chunk in chain]
        state_rows.append(sum(chunk.rows for chunk in kept))
        chunks.append(len(kept))

    folder = Path(job["work"]) / "state"
    engine = Engine(spark_session(), str(folder), step_rows=job.get("step_rows", 1_000_000), on_step=note)
    began = time.perf_counter()
    engine.open(plan, lambda _: plan)
    engine.start(once=True)
    engine.run()
    if job.get("drain"):
        engine.drain()
        engine.settle()
    seconds = time.perf_counter() - began
    engine.stop()
    return {
        "seconds": seconds,
        "compile_seconds": compiling,
        "steps": (steps := [round(report.seconds, 4) for report in reports]),
        "step": settled(steps),
        "state_rows": max(state_rows, default=0),
        "state_rows_by_step": state_rows,
        "chunks": max(chunks, default=0),
        "slices": slice_table(compiled.physical, engine.state) if job.get("slices") else [],
        **counted(folder, job),
    }


def in_order(compiled: CompiledQueries, order: list[str]) -> PhysicalPlan:
    """The plan of one query whose new rows probe the other streams in an order, whatever the planner thinks of it."""
    (join,) = compiled.shared.joins
    aliases = {scan.stream: scan.alias for scan in join.streams}
    names = [aliases[name] for name in order]
    orders = tuple((scan.alias, *(name for name in names if name != scan.alias)) for scan in join.streams)
    return plan_physical(replace(compiled.shared, joins=(replace(join, orders=orders),)))


def counted(folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    """The results of each query, and the checksum of all."""
    check = job.get("check")
    results = dict.fromkeys(job["texts"], 0)
    if not any((folder / "results").rglob("*.parquet")):
        return {"results": results, **({"checksum": 0} if check else {})}
    with duckdb.connect() as db:
        sums = f", sum({check})" if check else ""
        files = f"read_parquet('{folder}/results/**/*.parquet', union_by_name = true, hive_partitioning = false)"
        rows = db.execute(f"SELECT _query, count(*){sums} FROM {files} GROUP BY _query").fetchall()
    results |= {row[0]: row[1] for row in rows}
    return {"results": results, **({"checksum": sum(int(row[2]) for row in rows)} if check else {})}
