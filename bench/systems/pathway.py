"""Pathway: interval joins of two streams. Loaded by a Python that has Pathway and not Penstock.

A job has `streams` (the folders of the CSV files of a and b: ts in microseconds, k, v) and `joins`: of each query its
window in microseconds and its selection, a side, a least and a greatest value of it (or nothing). Results are thrown
away; those of a job with `count` are counted and summed up.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pathway as pw


class Row(pw.Schema):  # type: ignore[misc]
    """What the files hold."""

    ts: int
    k: int
    v: float


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run all joins over what is there."""
    pw.internals.parse_graph.G.clear()
    sides = {name: pw.io.csv.read(path, schema=Row, mode="static") for name, path in job["streams"].items()}
    for name, join in job["joins"].items():
        rows = dict(sides)
        if join["selection"]:
            side, least, greatest = join["selection"]
            rows[side] = rows[side].filter((pw.this.v >= least) & (pw.this.v <= greatest))
        a, b = rows["a"], rows["b"]
        near = pw.temporal.interval(1 - join["window"], join["window"] - 1)
        met = a.interval_join(b, a.ts, b.ts, near, a.k == b.k)
        met = met.select(k=a.k, ats=a.ts, av=a.v, bts=b.ts, bv=b.v)
        if job.get("count"):
            value = pw.this.k * 3 + pw.cast(int, pw.this.av * 10000 + 0.5) * 11
            value += pw.cast(int, pw.this.bv * 10000 + 0.5) * 13
            found = met.select(value=value).reduce(n=pw.reducers.count(), total=pw.reducers.sum(pw.this.value))
            pw.io.jsonlines.write(found, f"{job['work']}/{name}.jsonl")
        else:
            pw.io.null.write(met)
    began = time.perf_counter()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    round_: dict[str, Any] = {"seconds": time.perf_counter() - began}
    return {**round_, **_counted(job)} if job.get("count") else round_


def _counted(job: dict[str, Any]) -> dict[str, Any]:
    """The results of each query, and the checksum of all: what was said last of each."""
    results, checksum = {}, 0
    for name in job["joins"]:
        with Path(f"{job['work']}/{name}.jsonl").open(encoding="utf-8") as file:
            lines = [line for line in map(json.loads, file) if line["diff"] == 1]
        last = max(lines, key=lambda line: line["time"], default={"n": 0, "total": 0})
        results[name] = last["n"]
        checksum += last["total"]
    return {"results": results, "checksum": checksum}
