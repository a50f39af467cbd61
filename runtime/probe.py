"""A step of a join: new rows of each stream meet the kept rows of the others, every combination once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.compiler.logical import StreamScan
from penstock.compiler.shared import Chain, SharedJoin
from penstock.runtime.chunks import Chunk
from penstock.runtime.columns import REACH, TIME, all_of, column, flat_sql, quoted
from penstock.runtime.reach import constant_reach


@dataclass(frozen=True)
class Rows:
    """The rows of a chain that a step has to do with: those that came with it, and those kept from before."""

    chain: Chain
    schema: str
    new: tuple[Chunk, ...]
    kept: tuple[Chunk, ...]


def read_chunks(spark: SparkSession, rows: Rows, chunks: tuple[Chunk, ...], alias: str) -> DataFrame:
    """The rows of chunks under an input's name, with their event time in microseconds and their reach."""
    read = spark.read.schema(rows.schema).parquet(*(chunk.path for chunk in chunks))
    columns = [f"{quoted(name)} AS {quoted(column(alias, name))}" for name in rows.chain.columns]
    columns.append(f"unix_micros({quoted(rows.chain.timestamp)}) AS {quoted(column(alias, TIME))}")
    if constant_reach(rows.chain) is None:
        columns.append(f"{REACH} AS {quoted(column(alias, REACH))}")
    return read.selectExpr(*columns)


def combinations(
    spark: SparkSession, join: SharedJoin, rows: Callable[[StreamScan], Rows], *, uniform: bool
) -> DataFrame | None:
    """All new combinations of a join; None if there is none.

    With new rows Δi and kept rows Si they are the union over i of Δi ⋈ (Sj ∪ Δj for j < i) ⋈ (Sj for j > i), in
    the order that is best for stream i. `uniform` says that every query has one window for all streams, so that
    the reach of the newer row bounds the age of the older one too.
    """
    names = [scan.alias for scan in join.streams]
    branches = []
    for parts in product(*(_parts(rows(scan)) for scan in join.streams)):
        streams = dict(zip(names, parts, strict=True))
        for position, order in enumerate(join.orders):
            if streams[names[position]].new:
                found = _branch(spark, join, order, streams, set(names[:position]), uniform)
                branches += [] if found is None else [found]
    return reduce(DataFrame.unionByName, branches) if branches else None


def _parts(rows: Rows) -> list[Rows]:
    """The rows themselves, or those of each reach apart if the chain keeps them so."""
    if not rows.chain.partitioned:
        return [rows]
    reaches = sorted({chunk.reach for chunk in rows.new + rows.kept})
    return [
        replace(
            rows,
            new=tuple(chunk for chunk in rows.new if chunk.reach == reach),
            kept=tuple(chunk for chunk in rows.kept if chunk.reach == reach),
        )
        for reach in reaches
    ]


def _branch(
    spark: SparkSession,
    join: SharedJoin,
    order: tuple[str, ...],
    streams: dict[str, Rows],
    earlier: set[str],
    uniform: bool,
) -> DataFrame | None:
    first, *others = order
    low, high = _span(streams[first].new)
    current = read_chunks(spark, streams[first], streams[first].new, first)
    joined = [first]
    for name in others:
        other = streams[name]
        chunks = other.kept + other.new if name in earlier else other.kept
        near = tuple(c for c in chunks if c.high > low - c.reach and c.low < high + _longest(streams[first]))
        if not near:
            return None
        conditions = [*_keys(join, joined, name), *_times(streams, joined, name, uniform)]
        current = F.broadcast(current).join(read_chunks(spark, other, near, name), F.expr(all_of(conditions)))
        joined.append(name)
    return current


def _keys(join: SharedJoin, joined: list[str], name: str) -> list[str]:
    """The equalities between an input and those joined before it."""
    conditions = []
    for key in join.source.keys:
        parts = {next(iter(part.inputs)): part for part in key.parts}
        known = next((other for other in joined if other in parts), None)
        if name in parts and known is not None:
            conditions.append(f"{flat_sql(parts[known])} = {flat_sql(parts[name])}")
    return conditions


def _times(streams: dict[str, Rows], joined: list[str], name: str, uniform: bool) -> list[str]:
    """What ages allow: of two rows the older one is not past its reach when the newer one comes."""
    conditions = []
    for other in joined:
        for older, newer in ((other, name), (name, other)):
            age = f"{quoted(column(newer, TIME))} - {quoted(column(older, TIME))}"
            reach = _reach(streams[older], older)
            conditions.append(f"{age} < {reach}")
            if uniform and (limit := _reach(streams[newer], newer)) != reach:
                conditions.append(f"{age} < {limit}")
    return conditions


def _reach(rows: Rows, alias: str) -> str:
    fixed = constant_reach(rows.chain)
    return quoted(column(alias, REACH)) if fixed is None else f"{fixed}L"


def _longest(rows: Rows) -> int:
    return max(chunk.reach for chunk in rows.new)


def _span(chunks: tuple[Chunk, ...]) -> tuple[int, int]:
    return min(chunk.low for chunk in chunks), max(chunk.high for chunk in chunks)
