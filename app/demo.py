"""The demonstration: a data centre's sensors, a handful of queries, one shared plan."""

from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from penstock.grammar.errors import PenstockError
from penstock.running import run_session
from penstock.session import Session
from penstock.tables import rich_table

_START = datetime(2026, 1, 1, tzinfo=UTC)
_PLACES = 200
_PROJECT = "# The demonstration: run it again with  penstock run --once\nname: demo\n"
_CATALOG = """\
# Two streams of sensor readings, made by the demonstration.
streams:
  Temperature:
    source: {format: parquet, path: data/temperature, options: {maxFilesPerTrigger: 2}}
    schema: {LocationId: int, Value: double, ts: timestamp}
    timestamp: ts
    lateness: 5 sec
    statistics: {rate: 200, distinct: {LocationId: 200}}
  Humidity:
    source: {format: parquet, path: data/humidity, options: {maxFilesPerTrigger: 2}}
    schema: {LocationId: int, Value: double, ts: timestamp}
    timestamp: ts
    lateness: 5 sec
    statistics: {rate: 200, distinct: {LocationId: 200}}
"""
_JOIN = (
    "SELECT A.LocationId, A.Value AS temperature, B.Value AS humidity\n"
    "FROM Temperature A JOIN Humidity B ON A.LocationId = B.LocationId"
)
_QUERIES = {
    "readings": f"{_JOIN}\nWINDOW 1 sec",
    "warm": f"{_JOIN}\nWHERE A.Value > 34 WINDOW 10 sec",
    "hot": f"{_JOIN}\nWHERE A.Value > 38 WINDOW 1 min",
    "critical": f"{_JOIN}\nWHERE A.Value > 39.5 AND B.Value > 79 WINDOW 5 min",
    "alarms": "SELECT LocationId, Value FROM Temperature WHERE Value > 39.9",
}


def run_demo(folder: Path) -> None:
    """Write a small project into a folder, run it, and show what came out and what sharing saved."""
    console = Console(stderr=True)
    if folder.exists() and any(folder.iterdir()) and not (folder / "penstock.yml").exists():
        raise PenstockError(
            f"the folder {folder} is not empty", hint="Name a folder that does not exist yet.", label="folder-in-use"
        )
    if (folder / "penstock.yml").exists() and (folder / "penstock.yml").read_text(encoding="utf-8") == _PROJECT:
        shutil.rmtree(folder / ".penstock", ignore_errors=True)
    write_project(folder)
    console.print(f"wrote a project with {len(_QUERIES)} queries into {folder}", highlight=False)
    with Session(folder) as session:
        run_session(session, once=True, drain=False, seconds=None, plain=True, quiet=False)
        out = Console()
        out.print(rich_table("Queries", session.execute("SHOW QUERIES")))
        out.print(rich_table("State, by slices of age", session.execute("SHOW SLICES")))
        out.print(session.compiled.explain("cost"), highlight=False)
    console.print(f"look at the results with  penstock results hot {folder}", highlight=False)


def write_project(folder: Path, *, minutes: int = 6, rate: int = 200, seed: int = 1) -> None:
    """A project that runs: penstock.yml, a catalog, queries and data."""
    for part in ("catalog", "queries", "data/temperature", "data/humidity"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "penstock.yml").write_text(_PROJECT, encoding="utf-8")
    (folder / "catalog" / "demo.yml").write_text(_CATALOG, encoding="utf-8")
    for name, text in _QUERIES.items():
        (folder / "queries" / f"{name}.cql").write_text(text + "\n", encoding="utf-8")
    rng = random.Random(seed)
    for stream, low, high in (("temperature", 20.0, 40.0), ("humidity", 20.0, 80.0)):
        for number in range(minutes * 2):
            _write_file(folder / "data" / stream / f"{number:04}.parquet", rng, number * 30, rate * 30, low, high)


def _write_file(path: Path, rng: random.Random, start: int, rows: int, low: float, high: float) -> None:
    times = sorted(rng.randrange(30_000_000) for _ in range(rows))
    origin = _START + timedelta(seconds=start)
    columns = {
        "LocationId": pa.array([rng.randrange(_PLACES) for _ in times], pa.int32()),
        "Value": pa.array([round(rng.uniform(low, high), 2) for _ in times], pa.float64()),
        "ts": pa.array([origin + timedelta(microseconds=t) for t in times], pa.timestamp("us", tz="UTC")),
    }
    pq.write_table(pa.table(columns), path)
