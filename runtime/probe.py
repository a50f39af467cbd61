"""A step of a join: new rows of each stream meet the kept rows of the others, every combination once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from penstock.compiler.logical import RelationScan
from penstock.compiler.shared import SharedJoin, inputs_of
from penstock.compiler.validity import Tie, key_ties
from penstock.runtime.chunks import Chunk
from penstock.runtime.columns import AT, REACH, all_of, column, flat_sql, quoted
from penstock.runtime.reach import constant_reach
from penstock.runtime.views import Rows, Views, columns_of, seen_column, with_seen

_SMALL_RELATION = 200_000
"""A relation of so many rows is sent to where the others are; of a larger one, the others are sent to it."""
_FEW, _SMALL = 10_000, 100_000
"""Of a join of more than two, so few rows of a stream are sent to what that many new rows have found."""
_SPREAD = 4
"""Without keys, rows are found by their time if they span more than so many times what rows may be apart."""


@dataclass(frozen=True)
class Asked:
    """A join and the rows of its streams, by input.

    `uniform` says that every query has one window for all streams, so that the reach of the newer row bounds the age of
    the older one too. `counted` are the streams whose windows count rows, with the ranks of their rows.
    """

    join: SharedJoin
    streams: Mapping[str, Rows]
    uniform: bool = False
    counted: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The inputs that are streams, in order."""
        return [scan.alias for scan in self.join.streams]

    @property
    def relations(self) -> dict[str, RelationScan]:
        """The inputs that are relations."""
        return {scan.alias: scan for scan in inputs_of(self.join.source) if isinstance(scan, RelationScan)}


def combinations(views: Views, asked: Asked) -> str | None:
    """All new combinations of a join, as SQL; None if there is none.

    With new rows Δi and kept rows Si they are the union over i of Δi ⋈ (Sj ∪ Δj for j < i) ⋈ (Sj for j > i), in
    the order that is best for stream i.
    """
    branches = []
    for parts in product(*(_parts(asked.streams[name]) for name in asked.names)):
        own = replace(asked, streams=dict(zip(asked.names, parts, strict=True)))
        for position, order in enumerate(asked.join.orders):
            if own.streams[asked.names[position]].new:
                found = _Branch(views, own, set(asked.names[:position])).sql(order)
                branches += [] if found is None else [found]
    return " UNION ALL ".join(branches) if branches else None


def whole(views: Views, asked: Asked) -> str | None:
    """All combinations of the rows of a join, kept and new; None if there is none."""
    if any(not (rows.new or rows.kept) for rows in asked.streams.values()):
        return None
    return _Branch(views, asked, set(asked.names), everything=True).sql(asked.join.orders[0])


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


class _Branch:
    """The combinations with new rows of one stream; of the `earlier` ones they meet new rows as well as kept ones."""

    def __init__(self, views: Views, asked: Asked, earlier: set[str], *, everything: bool = False) -> None:
        self.views = views
        self.asked = asked
        self.earlier = earlier
        self.everything = everything
        self.ties = key_ties(asked.join.source)

    def sql(self, order: tuple[str, ...]) -> str | None:
        first, *others = order
        rows = self.asked.streams[first]
        self.joined = [first]
        self.columns = self._own_columns(first)
        if self.everything:
            text = self.views.both(rows, _all_chunks(rows), first)
        else:
            text = self._with_seen(self.views.new(rows, first), first)
        for number, name in enumerate(others):
            relation = self.asked.relations.get(name)
            more = self.views.relation(relation) if relation is not None else self._stream(name, rows)
            if more is None:
                return None
            text = self._joined(text, more, name, number)
            self.joined.append(name)
            self.columns += self._own_columns(name)
        return f"SELECT {', '.join(sorted(self.columns))} FROM ({text}) AS found"

    # What is joined

    def _stream(self, name: str, first: Rows) -> str | None:
        """The rows of a stream that the new rows can meet."""
        rows = self.asked.streams[name]
        if self.everything:
            return self.views.both(rows, _all_chunks(rows), name)
        near = [_near(rows.kept, first, rows)]
        near += [_near(rows.new, first, rows)] if name in self.earlier else []
        if not any(near):
            return None
        if rows.span is None:
            return self.views.kept(rows, tuple(chunk for chunks in near for chunk in chunks), name)
        texts = []
        if near[0]:
            unseen = [f"CAST(NULL AS BIGINT) AS {seen_column(name, stream)}" for stream in self.asked.counted]
            kept = self.views.kept(rows, near[0], name)
            texts.append(f"SELECT {', '.join([*columns_of(rows.chain, name), *unseen])} FROM ({kept}) AS kept")
        if near[1:] and near[1]:
            texts.append(self._with_seen(self.views.new(rows, name), name))
        return " UNION ALL ".join(texts)

    def _with_seen(self, rows: str, name: str) -> str:
        """New rows with how many rows of each counted stream there are up to their time."""
        if not self.asked.counted:
            return rows
        counted = {seen_column(name, stream): ranked for stream, ranked in self.asked.counted.items()}
        own = columns_of(self.asked.streams[name].chain, name)
        return with_seen(rows, own, quoted(column(name, AT)), counted)

    def _own_columns(self, name: str) -> list[str]:
        relation = self.asked.relations.get(name)
        if relation is not None:
            return [quoted(column(name, own)) for own, _ in relation.columns]
        seen = [] if self.everything else [seen_column(name, stream) for stream in self.asked.counted]
        return [*columns_of(self.asked.streams[name].chain, name), *seen]

    # How

    def _joined(self, text: str, more: str, name: str, number: int) -> str:
        found = f"found{number}"
        keys = self._keys(name)
        conditions = [*keys, *self._times(name), *self._valid(name)]
        relation = self.asked.relations.get(name)
        sent = "more" if self._is_small(name, number) else found
        width = 0 if keys or relation is not None else self._apart(name)
        shown = "*"
        if width:
            at, other = quoted(column(self._timed(), AT)), quoted(column(name, AT))
            spans = f"explode(sequence(({at} div {width}L) - 1, ({at} div {width}L) + 1)) AS _span"
            text = f"SELECT *, {spans} FROM ({text}) AS near"
            more = f"SELECT *, {other} div {width}L AS _span FROM ({more}) AS timed"
            conditions = [f"{found}._span = more._span", *conditions]
            shown = ", ".join([*self.columns, *self._own_columns(name)])
        both = f"({text}) AS {found} JOIN ({more}) AS more ON {all_of(conditions)}"
        return f"SELECT /*+ BROADCAST({sent}) */ {shown} FROM {both}"

    def _is_small(self, name: str, number: int) -> bool:
        """Whether the rows of an input are better sent to what was found before than the other way round."""
        relation = self.asked.relations.get(name)
        if relation is not None:
            return self.views.relation_rows(relation) <= _SMALL_RELATION
        rows, first = self.asked.streams[name], self.asked.streams[self.joined[0]]
        size = sum(chunk.rows for chunk in _all_chunks(rows))
        new = sum(chunk.rows for chunk in first.new)
        return size <= new or (number > 0 and new >= _FEW and size <= _SMALL)

    def _timed(self) -> str:
        return next(name for name in self.joined if name in self.asked.streams)

    def _apart(self, name: str) -> int:
        """How far apart in time rows may be, if it is worth finding them by that; else 0."""
        one, other = self.asked.streams[self._timed()], self.asked.streams[name]
        if one.chain.rows or other.chain.rows:
            return 0
        width = max(one.chain.reach, other.chain.reach)
        chunks = [*_all_chunks(one), *_all_chunks(other)]
        span = max(chunk.high for chunk in chunks) - min(chunk.low for chunk in chunks)
        return width if span > _SPREAD * width else 0

    def _keys(self, name: str) -> list[str]:
        """The equalities between an input and those joined before it."""
        conditions = []
        for key in self.asked.join.source.keys:
            parts = {next(iter(part.inputs)): part for part in key.parts}
            known = next((other for other in self.joined if other in parts), None)
            if name in parts and known is not None:
                conditions.append(f"{flat_sql(parts[known])} = {flat_sql(parts[name])}")
        return conditions

    def _times(self, name: str) -> list[str]:
        """What ages allow: of two rows the older one is not past its reach when the newer one comes."""
        conditions = []
        streams = self.asked.streams
        for other in self.joined:
            if other not in streams or name not in streams:
                continue
            for older, newer in ((other, name), (name, other)):
                age = f"{quoted(column(newer, AT))} - {quoted(column(older, AT))}"
                reach = _reach(streams[older], older)
                if reach is not None:
                    conditions.append(f"{age} < {reach}")
                ends = any(fact.limits for fact in streams[newer].chain.facts)  # then its reach is not that of a window
                if self.asked.uniform and not ends and (limit := _reach(streams[newer], newer)) not in (reach, None):
                    conditions.append(f"{age} < {limit}")
        return conditions

    def _valid(self, name: str) -> list[str]:
        """A row of a relation is valid at the times of the rows that keys join it with."""
        pairs = [tie for tie in self.ties if name in (tie.relation.alias, tie.stream.alias)]
        others = set(self.joined)
        return [valid_sql(tie) for tie in pairs if {tie.relation.alias, tie.stream.alias} <= others | {name}]


def valid_sql(tie: Tie) -> str:
    """Whether a row of a relation is valid at the time of a stream's."""
    assert tie.relation.valid is not None
    begin, end = (f"unix_micros({quoted(column(tie.relation.alias, name))})" for name in tie.relation.valid)
    at = quoted(column(tie.stream.alias, AT))
    return f"{begin} <= {at} AND {at} < {end}"


def _near(chunks: tuple[Chunk, ...], first: Rows, rows: Rows) -> tuple[Chunk, ...]:
    """The chunks with rows that new rows can meet."""
    if rows.chain.rows or first.chain.rows:
        return chunks
    longest = max(chunk.reach for chunk in first.new)
    return tuple(c for c in chunks if c.high > first.low - c.reach and c.low < first.high + longest)


def _all_chunks(rows: Rows) -> tuple[Chunk, ...]:
    return tuple(dict.fromkeys((*rows.kept, *rows.new)))


def _reach(rows: Rows, alias: str) -> str | None:
    if rows.chain.rows:
        return None
    fixed = constant_reach(rows.chain)
    return quoted(column(alias, REACH)) if fixed is None else f"{fixed}L"
