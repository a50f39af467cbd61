"""Propagation: chunks that have aged are merged and rid of the rows that nobody wants any more."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

from penstock.compiler.shared import Chain
from penstock.runtime.chunks import Chunk, read_chunks
from penstock.runtime.columns import RANK, REACH, changing, quoted
from penstock.runtime.counting import ranked
from penstock.runtime.faults import reached
from penstock.runtime.reach import counted_ages, reach_sql, time_sql
from penstock.runtime.tallies import TallyKeeper

_FAN_IN = 8
"""So many neighbours of about the same size become one."""
_FEW = 3
"""So few become one if more would span too much time."""
_SPANS = 7
"""A chunk spans at most this part of its chain's reach, so that what it holds beyond it stays little."""
_WASTE = 0.08
"""Above this part of dead rows in a chain, the chunks that have most of them are written anew."""

_WASTED_PARTIALS = 0.3
"""The same of partial aggregates, all of which must be read to be written anew."""


@dataclass(frozen=True)
class Merge:
    """Chunks that are to become one, without the rows that are dead at the horizon: those of a chain, or partials."""

    chain: Chain | None
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
    wasteful = _wasteful(ordered, horizon, _WASTE)
    if wasteful is not None:
        return Merge(chain, (wasteful,), horizon)
    runs = (_run(ordered[start:], chain.reach, _times) for start in range(len(ordered)))
    stale = ((chunk,) for chunk in ordered if settled and chunk.stale)
    return next((Merge(chain, run, horizon) for run in itertools.chain(runs, stale) if run), None)


def due_ranked(chain: Chain, chunks: tuple[Chunk, ...], lowest: int) -> Merge | None:
    """What is best merged next of the rows that are counted; up to the lowest rank they are dead."""
    ordered = ranked(chunks)
    runs = (_run(list(ordered[start:]), chain.reach, _ranks) for start in range(len(ordered)))
    return next((Merge(chain, run, lowest) for run in runs if run), None)


def due_partials(chunks: tuple[Chunk, ...], horizon: int | None) -> Merge | None:
    """What is best merged next of partial aggregates: each chunk has some for all the time that they are kept."""
    wasteful = _wasteful(list(chunks), horizon, _WASTED_PARTIALS)
    if wasteful is not None:
        return Merge(None, (wasteful,), horizon)
    ordered = sorted(chunks, key=lambda chunk: chunk.high)
    runs = (_run(ordered[start:], 0, lambda chunk: (0, 0)) for start in range(len(ordered)))
    return next((Merge(None, run, horizon) for run in runs if run), None)


def _times(chunk: Chunk) -> tuple[int, int]:
    return chunk.low, chunk.high


def _ranks(chunk: Chunk) -> tuple[int, int]:
    assert chunk.ranks is not None
    return chunk.ranks


def _run(chunks: list[Chunk], reach: int, ends: Callable[[Chunk], tuple[int, int]]) -> tuple[Chunk, ...]:
    """The first chunks, if they are of about one size and enough of them, or too far apart from the next for more."""
    first, *others = chunks
    longest = max(1, reach // _SPANS)
    low, high = ends(first)
    count = 1
    for chunk in others:
        if count == _FAN_IN or _level(chunk) != _level(first):
            break
        high = max(high, ends(chunk)[1])
        if high - low > longest:
            return tuple(chunks[:count]) if count >= _FEW else ()
        count += 1
    return tuple(chunks[:count]) if count == _FAN_IN else ()


def _wasteful(chunks: list[Chunk], horizon: int | None, most: float) -> Chunk | None:
    if horizon is None or not chunks:
        return None
    dead = {chunk.path: chunk.dead_rows(horizon) for chunk in chunks}
    if sum(dead.values()) <= most * sum(chunk.rows for chunk in chunks):
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
    assert chain is not None
    rows = read_chunks(spark, schema, merge.chunks)
    time = time_sql(chain)
    rows = rows.selectExpr("*", f"{reach_sql(chain)} AS {REACH}").where(f"{REACH} > 0")
    if merge.horizon is not None:
        rows = rows.where(f"{time} + {REACH} > {changing(merge.horizon, time)}")
    ages = counted_ages(chain)
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


def merged_ranked(spark: SparkSession, merge: Merge, schema: str, path: str) -> Chunk | None:
    """Write chunks of rows that are counted as one."""
    assert merge.chain is not None
    assert merge.horizon is not None
    rows = read_chunks(spark, schema, merge.chunks).where(f"{RANK} > {changing(merge.horizon, RANK)}")
    time, counts = time_sql(merge.chain), Observation()
    measures = f"struct(count(1) AS rows, min({time}) AS low, max({time}) AS high, min({RANK}) AS first) AS found"
    rows.observe(counts, F.expr(measures)).coalesce(1).write.mode("overwrite").parquet(path)
    found = counts.get["found"]
    reached("chunks-merged")
    if not found["rows"]:
        return None
    ranks = (found["first"], max(_ranks(chunk)[1] for chunk in merge.chunks))
    return Chunk(path, found["low"], found["high"], found["rows"], merge.chain.reach, ranks=ranks)


def merged_partials(spark: SparkSession, tally: TallyKeeper, merge: Merge, path: str) -> Chunk | None:
    """Write chunks of partial aggregates as one, those with the same keys added up."""
    partials = tally.merged(read_chunks(spark, tally.parts.schema, merge.chunks), merge.horizon)
    chunk = tally.write(partials.coalesce(1), path, merge.horizon)
    reached("chunks-merged")
    return chunk
