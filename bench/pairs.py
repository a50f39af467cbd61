"""Queries that join the two streams `a` and `b` on `k`, and jobs for every system that runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.bench.core import Job

SCHEMA = {"k": "bigint", "v": "double", "ts": "timestamp"}
COLUMNS = "a.k, a.ts AS ats, a.v AS av, b.ts AS bts, b.v AS bv"
CHECK = "k * 3 + CAST(ROUND(av * 10000) AS BIGINT) * 11 + CAST(ROUND(bv * 10000) AS BIGINT) * 13"
"""A number for every result: their sum tells answers apart."""


@dataclass(frozen=True)
class Pair:
    """A query: its window in milliseconds and its condition on `a.v` and `b.v`, if any.

    `selection` says the same as a range of values of one stream, for those who do not read SQL.
    """

    name: str
    window: int
    condition: str = ""
    selection: tuple[str, float, float] | None = None

    @property
    def where(self) -> str:
        """The condition, to be added to others."""
        return f" AND {self.condition}" if self.condition else ""

    @property
    def text(self) -> str:
        """For Penstock."""
        return f"SELECT {COLUMNS} FROM a, b WHERE a.k = b.k{self.where} WINDOW {self.window} ms"

    @property
    def duck(self) -> str:
        """For DuckDB."""
        near = f"abs(epoch_ms(a.ts) - epoch_ms(b.ts)) < {self.window}"
        return f"SELECT {COLUMNS} FROM a, b WHERE a.k = b.k AND {near}{self.where}"

    @property
    def spark(self) -> str:
        """For Spark: a condition on times that it understands as a bound of its state."""
        return _between(self, f"INTERVAL {self.window} MILLISECONDS", COLUMNS)

    @property
    def flink(self) -> str:
        """For Flink, whose results may have one event time."""
        columns = COLUMNS.replace("a.ts", "CAST(a.ts AS TIMESTAMP(3))").replace("b.ts", "CAST(b.ts AS TIMESTAMP(3))")
        return _between(self, f"INTERVAL '{self.window / 1000:.3f}' SECOND(3, 3)", columns)

    @property
    def pathway(self) -> dict[str, Any]:
        """For Pathway."""
        return {"window": self.window * 1000, "selection": self.selection}


def _between(pair: Pair, window: str, columns: str) -> str:
    near = f"a.ts > b.ts - {window} AND a.ts < b.ts + {window}"
    return f"SELECT {columns} FROM a JOIN b ON a.k = b.k AND {near}{pair.where}"


def penstock_job(data: Path, pairs: Sequence[Pair], *, rate: int, keys: int, files: int = 8, **more: Any) -> Job:
    """For Penstock; `files` are read in one batch of a stream."""
    streams = {
        name: {
            "schema": SCHEMA,
            "source": {"format": "parquet", "path": str(data / name), "options": {"maxFilesPerTrigger": files}},
            "statistics": {"rate": rate, "distinct": {"k": keys}},
        }
        for name in "ab"
    }
    return {"streams": streams, "texts": {pair.name: pair.text for pair in pairs}, "check": CHECK, **more}


def duckdb_job(data: Path, pairs: Sequence[Pair], *, most: int = 1000) -> Job:
    """For DuckDB: counts of the queries, of so many of them at most, from one join with the longest window."""
    streams = {name: f"{data / name}/*.parquet" for name in "ab"}
    job: Job = {"streams": streams, "check": CHECK}
    if len(pairs) == 1:
        return {**job, "questions": {pair.name: pair.duck for pair in pairs}}
    longest = Pair("all", max(pair.window for pair in pairs))
    shown = pairs[:: -(-len(pairs) // most)]
    questions = {
        pair.name: f"SELECT * FROM met WHERE abs(epoch_ms(ats) - epoch_ms(bts)) < {pair.window}"
        f"{pair.where.replace('a.v', 'av').replace('b.v', 'bv')}"
        for pair in shown
    }
    check = CHECK if len(shown) == len(pairs) else None
    return {**job, "check": check, "setup": [f"CREATE TEMP TABLE met AS {longest.duck}"], "questions": questions}


def spark_job(data: Path, pairs: Sequence[Pair], *, files: int = 1) -> Job:
    """For Spark: a join for each query."""
    streams = {name: {"path": str(data / name), "columns": "ts timestamp, k long, v double"} for name in "ab"}
    questions = {pair.name: pair.spark for pair in pairs}
    return {"streams": streams, "questions": questions, "files": files, "check": CHECK}


def spark_by_hand_job(data: Path, pairs: Sequence[Pair], *, files: int = 1) -> Job:
    """For Spark: one join with the longest window, whose results a table of the queries is matched with."""
    longest = Pair("all", max(pair.window for pair in pairs))
    age = "abs(unix_millis(ats) - unix_millis(bts)) < q.window"
    value = "CASE q.side WHEN 'a' THEN av WHEN 'b' THEN bv ELSE 0 END BETWEEN q.least AND q.greatest"
    question = f"SELECT /*+ BROADCAST(q) */ j.*, q._query FROM ({longest.spark}) j JOIN queries q ON {age} AND {value}"
    table = {
        "columns": "_query string, window long, side string, least double, greatest double",
        "rows": [[pair.name, pair.window, *(pair.selection or ("", 0.0, 0.0))] for pair in pairs],
    }
    return {**spark_job(data, (), files=files), "questions": {"all": question}, "table": table}


def flink_job(data: Path, pairs: Sequence[Pair]) -> Job:
    """For Flink."""
    streams = {
        name: {"path": str(data / "csv" / name), "columns": "ts TIMESTAMP(3), k BIGINT, v DOUBLE"} for name in "ab"
    }
    return {"streams": streams, "questions": {pair.name: pair.flink for pair in pairs}, "check": CHECK}


def pathway_job(data: Path, pairs: Sequence[Pair]) -> Job:
    """For Pathway."""
    streams = {name: str(data / "pcsv" / name) for name in "ab"}
    return {"streams": streams, "joins": {pair.name: pair.pathway for pair in pairs}}
