"""Penstock's compiler alone, without Spark: a project that is checked, many queries at once, and one more."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import penstock
from penstock.compiler.diff import diff
from penstock.compiler.estimate import Estimates
from penstock.compiler.optimize import optimize
from penstock.compiler.planner import plan_physical
from penstock.compiler.rules import Context

COLUMNS = "(LocationId INT, Value DOUBLE, ts TIMESTAMP) TIMESTAMP BY ts"
STREAMS = {
    name: {"schema": {"LocationId": "int", "Value": "double", "ts": "timestamp"}}
    for name in ("Temperature", "Humidity", "Load")
}
SHAPES = (
    "SELECT A.* FROM Temperature A, Humidity B WHERE A.LocationId = B.LocationId WINDOW {window} min",
    "SELECT A.LocationId, A.Value AS t, B.Value AS h FROM Temperature A JOIN Humidity B ON A.LocationId = B.LocationId "
    "WHERE A.Value > {low} AND B.Value < {high} WINDOW {window} min",
    "SELECT A.LocationId, MAX(A.Value) AS t, COUNT(*) AS n FROM Temperature A, Humidity B WHERE A.LocationId = "
    "B.LocationId AND A.Value > {low} GROUP BY A.LocationId HAVING COUNT(*) > 3 WINDOW {window} min SLIDE 1 min",
    "SELECT A.LocationId, C.Value AS watts, A.Value FROM Temperature A [RANGE {window} min] JOIN Load C [RANGE 5 min] "
    "ON A.LocationId = C.LocationId WHERE C.Value > {low}",
)
"""Four kinds of queries."""
SELECTIONS = (
    "A.Value > {low}", "A.Value < {low}", "A.Value >= {low}", "B.Value > {low}", "B.Value < {low}",
    "A.LocationId = {low}", "A.LocationId <> {low}", "A.Value > {low} AND B.Value < {high}",
    "A.Value + B.Value > {low}", "A.Value BETWEEN {low} AND {high}",
)  # fmt: skip
"""Ten templates of one kind."""


def check(job: dict[str, Any]) -> dict[str, Any]:
    """`penstock check` of a project of ten files, its start included."""
    folder = Path(job["work"])
    (folder / "queries").mkdir()
    streams = ";\n".join(f"CREATE STREAM {name} {COLUMNS} FROM parquet 'data'" for name in STREAMS)
    (folder / "queries" / "0-streams.cql").write_text(streams + ";", encoding="utf-8")
    (folder / "penstock.yml").write_text("queries: queries\n", encoding="utf-8")
    for number in range(10):
        text = SHAPES[number % 4].format(window=1 + number, low=number, high=number + 5)
        (folder / "queries" / f"q{number}.cql").write_text(text, encoding="utf-8")
    began = time.perf_counter()
    subprocess.run([Path(sys.executable).with_name("penstock"), "check", "--quiet", folder], check=True)
    return {"seconds": time.perf_counter() - began}


def compile_many(job: dict[str, Any]) -> dict[str, Any]:
    """Queries of four kinds in one call of `penstock.compile`."""
    texts = {
        f"q{n}": SHAPES[n % 4].format(window=1 + n % 60, low=n % 97, high=n % 97 + 5) for n in range(job["queries"])
    }
    began = time.perf_counter()
    penstock.compile(texts, {"streams": STREAMS})
    return {"seconds": time.perf_counter() - began}


def _query(number: int, rng: random.Random, unit: str = "sec") -> str:
    selection = SELECTIONS[number % 10].format(low=rng.randint(0, 1000), high=rng.randint(1001, 2000))
    return (
        "SELECT A.LocationId, A.Value AS t, B.Value AS h FROM Temperature A, Humidity B "
        f"WHERE A.LocationId = B.LocationId AND {selection} WINDOW {1 + number // 10 % 1000} {unit}"
    )


def plan_many(job: dict[str, Any]) -> dict[str, Any]:
    """Queries of ten templates to one physical plan; and one more, planned and compared with it."""
    rng = random.Random(1)
    texts = {f"q{number}": _query(number, rng) for number in range(job["queries"])}
    began = time.perf_counter()
    compiled = penstock.compile(texts, {"streams": STREAMS})
    physical = compiled.physical
    whole = time.perf_counter() - began
    more = []
    for _ in range(10):
        text = _query(rng.randrange(10), rng, "min")
        began = time.perf_counter()
        one = penstock.compile(text, compiled.catalog)
        context = Context(compiled.settings, Estimates(compiled.catalog))
        changed = plan_physical(optimize([one.logical], context, compiled.shared).plan)
        stages = diff(physical, changed)
        more.append(time.perf_counter() - began)
        assert stages
    return {"seconds": whole, "more": sorted(more)[len(more) // 2], "templates": len(compiled.shared.templates)}
