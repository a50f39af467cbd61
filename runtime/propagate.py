"""Propagation: chunks that have aged are merged and rid of the rows that nobody wants any more."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

from penstock.compiler.shared import Chain
from penstock.runtime.chunks import Chunk, read_chunks
from penstock.runtime.columns import REACH, changing, quoted
from penstock.runtime.faults import reached
from penstock.runtime.reach import counted_ages, reach_sql, time_sql

_FAN_IN = 8
"""So many neighbours of about the same size become one."""
_FEW = 3
"""So few become one if more would span too much time."""
_SPANS = 7
"""A chunk spans at most this part of its chain's reach, so that what it holds beyond it stays little."""
_WASTE = 0.08
"""Above this part of dead rows in a chain, the chunks that have most of them are written anew."""


@dataclass(frozen=True)
class Merge:
    """Chunks of a chain that are to become one, without the rows that are dead at the horizon."""

    chain: Chain
    chunks: tuple[Chunk, ...]
    horizon: int | None


def due(chain: Chain, chunks: tuple[Chunk, ...], horizon: int | None, *, settled: bool = True) -> Merge | None:
    """What is best merged next in a chain, if anything is.

    When the plan has `settled`, chunks whose rows were counted for another plan are written anew, without the rows that
    nobody wants any more.
    """
    if chain.partitioned and len(parts := {chunk.reach for chunk in chunks}) > 1:
        found = (
            due(chain, tuple(c for c in chunks if c.reach == reach), horizon, settled=settled)
            for reach in sorted(parts)
        )
        return next((merge for merge in found if merge is not None), None)
    ordered = sorted(chunks, key=lambda chunk: (chunk.low, chunk.high))
    wasteful = _wasteful(ordered, horizon)
    if wasteful is not None:
        return Merge(chain, (wasteful,), horizon)
    longest = max(1, chain.reach // _SPANS)
    runs = (_run(ordered[start:], longest) for start in range(len(ordered)))
    stale = ((chunk,) for chunk in ordered if settled and chunk.stale)
    return next((Merge(chain, run, horizon) for run in itertools.chain(runs, stale) if run), None)


def _run(chunks: list[Chunk], longest: int) -> tuple[Chunk, ...]:
    """The first chunks, if they are of about one size and enough of them, or too far apart from the next for more."""
    first, *others = chunks
    high = first.high
    count = 1
    for chunk in others:
        if count == _FAN_IN or _level(chunk) != _level(first):
            break
        high = max(high, chunk.high)
        if high - first.low > longest:
            return tuple(chunks[:count]) if count >= _FEW else ()
        count += 1
    return tuple(chunks[:count]) if count == _FAN_IN else ()


def _wasteful(chunks: list[Chunk], horizon: int | None) -> Chunk | None:
    if horizon is None or not chunks:
        return None
    dead = {chunk.path: chunk.dead_rows(horizon) for chunk in chunks}
    if sum(dead.values()) <= _WASTE * sum(chunk.rows for chunk in chunks):
        return None
    worst = max(chunks, key=lambda chunk: dead[chunk.path] / chunk.rows)
    return worst if dead[worst.path] >= 0.25 * worst.rows else None


def _level(chunk: Chunk) -> int:
    return int(math.log(max(1, chunk.rows), _FAN_IN))


def merged(
    spark: SparkSession, merge: Merge, schema: str, path: str, counted: tuple[str, ...] = ()
) -> tuple[Chunk | None, dict[str, int]]:
    """Write the chunks as one, None if no row of them is left; and about how many values some columns have in it."""
    chain = merge.chain
    rows = read_chunks(spark, schema, merge.chunks)
    time = time_sql(chain)
    rows = rows.selectExpr("*", f"{reach_sql(chain)} AS {REACH}").where(f"{REACH} > 0")
    if merge.horizon is not None:
        rows = rows.where(f"{time} + {REACH} > {changing(merge.horizon, time)}")
    ages = counted_ages(chain.boundaries)
    counts = Observation()
    measures = ["count(1) AS rows", f"min({time}) AS low", f"max({time}) AS high", f"max({REACH}) AS reach"]
    measures += [f"count_if({REACH} > {age}L) AS beyond{age}" for age in ages]
    measures += [f"approx_count_distinct({quoted(name)}) AS distinct{place}" for place, name in enumerate(counted)]
    rows.observe(counts, *map(F.expr, measures)).drop(REACH).coalesce(1).write.mode("overwrite").parquet(path)
    found = counts.get
    reached("chunks-merged")
    if not found["rows"]:
        return None, {}
    beyond = tuple((age, found[f"beyond{age}"]) for age in ages if age < found["reach"])
    chunk = Chunk(path, found["low"], found["high"], found["rows"], found["reach"], beyond, merge.horizon)
    return chunk, {name: found[f"distinct{place}"] for place, name in enumerate(counted)}
