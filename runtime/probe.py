"""A step of a join: new rows of each stream meet the kept rows of the others, every combination once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from uuid import uuid4

from pyspark.sql import SparkSession

from penstock.compiler.logical import StreamScan
from penstock.compiler.shared import Chain, SharedJoin
from penstock.runtime.chunks import Chunk, read_chunks
from penstock.runtime.columns import REACH, TIME, all_of, column, flat_sql, quoted
from penstock.runtime.reach import constant_reach, reach_sql, time_sql


@dataclass(frozen=True)
class Rows:
    """The rows of a chain that a step has to do with: those that came with it, and those kept from before."""

    chain: Chain
    schema: str
    new: tuple[Chunk, ...]
    kept: tuple[Chunk, ...]


class Views:
    """Chunks as tables that the SQL of a step can name: one statement is analysed once, whatever it is made of."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._prefix = f"penstock_{uuid4().hex[:12]}"
        self._names: dict[tuple[str, ...], str] = {}
        self._most = 0

    def begin(self) -> None:
        """Forget the chunks of the step before; their names are used again."""
        self._names = {}

    def rows(self, rows: Rows, chunks: tuple[Chunk, ...], alias: str) -> str:
        """The rows of chunks under an input's name, with their event time in microseconds and their reach."""
        paths = tuple(chunk.path for chunk in chunks)
        if paths not in self._names:
            name = f"{self._prefix}_{len(self._names)}"
            read_chunks(self._spark, rows.schema, chunks).createOrReplaceTempView(name)
            self._names[paths] = name
            self._most = max(self._most, len(self._names))
        columns = [f"{quoted(name)} AS {quoted(column(alias, name))}" for name in rows.chain.columns]
        columns.append(f"{time_sql(rows.chain)} AS {quoted(column(alias, TIME))}")
        if constant_reach(rows.chain) is None:
            columns.append(f"{reach_sql(rows.chain)} AS {quoted(column(alias, REACH))}")
        return f"SELECT {', '.join(columns)} FROM {self._names[paths]}"

    def close(self) -> None:
        """Remove the tables."""
        for number in range(self._most):
            self._spark.catalog.dropTempView(f"{self._prefix}_{number}")


def combinations(views: Views, join: SharedJoin, rows: Callable[[StreamScan], Rows], *, uniform: bool) -> str | None:
    """All new combinations of a join, as SQL; None if there is none.

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
                found = _branch(views, join, order, streams, set(names[:position]), uniform)
                branches += [] if found is None else [found]
    return " UNION ALL ".join(branches) if branches else None


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
    views: Views,
    join: SharedJoin,
    order: tuple[str, ...],
    streams: dict[str, Rows],
    earlier: set[str],
    uniform: bool,
) -> str | None:
    first, *others = order
    low, high = _span(streams[first].new)
    text = views.rows(streams[first], streams[first].new, first)
    joined = [first]
    for number, name in enumerate(others):
        other = streams[name]
        chunks = other.kept + other.new if name in earlier else other.kept
        near = tuple(c for c in chunks if c.high > low - c.reach and c.low < high + _longest(streams[first]))
        if not near:
            return None
        conditions = all_of([*_keys(join, joined, name), *_times(streams, joined, name, uniform)])
        found, more = f"found{number}", views.rows(other, near, name)
        text = f"SELECT /*+ BROADCAST({found}) */ * FROM ({text}) AS {found} JOIN ({more}) AS more ON {conditions}"
        joined.append(name)
    columns = [column(name, own) for name in sorted(streams) for own in (*streams[name].chain.columns, TIME)]
    return f"SELECT {', '.join(map(quoted, columns))} FROM ({text}) AS found"


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
