"""Where results come from, step by step, and which of them are written together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from penstock.compiler.physical import KeepChain, Probe
from penstock.compiler.shared import Chain, Shape
from penstock.runtime.chunks import Chunk
from penstock.runtime.columns import AT, QUERY, RANK, SEEN, TIME, changing, column, quoted
from penstock.runtime.counting import ranked, ranked_schema
from penstock.runtime.marks import Span
from penstock.runtime.partials import Parts
from penstock.runtime.probe import Asked, combinations, whole
from penstock.runtime.reach import power_of_two, time_sql
from penstock.runtime.route import NEWEST, Router
from penstock.runtime.tallies import VIEW, Askers, Finish
from penstock.runtime.views import Rows, Views, columns_of, seen_column, with_seen

_MOST_COUNTED = 64
New = dict[str, list[Chunk]]
"""The chunks that come with a step, by chain."""


@dataclass
class Step:
    """What a step works on: the chunks of every chain that come with it and those from before, and what it settles."""

    views: Views
    new: New
    kept: dict[str, tuple[Chunk, ...]]
    span: Callable[[Shape], Span]
    """What the step settles for the queries of a shape."""
    end: Callable[[Shape], int | None] = lambda shape: None
    """When the streams of a shape have ended: the largest event time of their rows; None if they go on."""

    def chunks(self, id_: str) -> tuple[Chunk, ...]:
        """All the chunks of a chain, or of partial aggregates."""
        return (*self.kept.get(id_, ()), *self.new.get(id_, ()))


class Source(Protocol):
    """Results of some queries."""

    @property
    def queries(self) -> list[str]:
        """The queries in the order of their numbers."""

    def routed(self, step: Step, *, numbered: bool) -> str | None:
        """Their results in a step, as SQL; None if there are none."""

    def close(self) -> None:
        """Remove the tables it has made."""


@dataclass(frozen=True)
class Inputs:
    """What the combinations of a shape are made from: a join and its chains, or one chain alone."""

    shape: Shape
    probe: Probe | None
    keepers: dict[str, KeepChain]
    """The chain of each stream, by input."""
    schema: Callable[[Chain], str]

    def arrived(self, step: Step, *, uniform: bool) -> str | None:
        """The combinations with rows that came with the step."""
        if self.probe is None:
            ((alias, keeper),) = self.keepers.items()
            rows = self._rows(keeper, step)
            return step.views.new(rows, alias) if rows.new else None
        streams = {alias: self._rows(keeper, step) for alias, keeper in self.keepers.items()}
        return combinations(step.views, Asked(self.probe.join, streams, uniform))

    def settled(self, step: Step) -> str | None:
        """The combinations with rows that the step settles; how many rows of each stream there were by then."""
        span = step.span(self.shape)
        if span.is_empty:
            return None
        streams = {alias: self._settled(keeper, step, span) for alias, keeper in self.keepers.items()}
        counted = self._counted(step, span)
        if self.probe is None:
            ((alias, rows),) = streams.items()
            if not rows.new:
                return None
            columns = columns_of(rows.chain, alias)
            names = {seen_column(alias, stream): text for stream, text in counted.items()}
            found: str | None = with_seen(step.views.new(rows, alias), columns, quoted(column(alias, AT)), names)
        else:
            found = combinations(step.views, Asked(self.probe.join, streams, counted=counted))
        if found is None:
            return None
        seen = []
        for alias, keeper in self.keepers.items():
            if keeper.chain.rows:
                own = [seen_column(other, keeper.chain.stream) for other in self.keepers]
                known = own[0] if len(own) == 1 else f"GREATEST({', '.join(own)})"
                seen.append(f"{known} AS {quoted(column(alias, SEEN))}")
        return f"SELECT {', '.join(['*', *seen])} FROM ({found}) AS settled"

    def standing(self, step: Step) -> str | None:
        """All the combinations of rows that are settled, of this step or from before, at each instant of the step."""
        span = step.span(self.shape)
        if span.is_empty:
            return None
        streams = {alias: self._settled(keeper, step, span) for alias, keeper in self.keepers.items()}
        chunks = [chunk for rows in streams.values() for chunk in (*rows.new, *rows.kept)]
        instants = _instants(self.shape, span, chunks, step.end(self.shape))
        if instants is None:
            return None
        if self.probe is None:
            ((alias, rows),) = streams.items()
            found: str | None = step.views.both(rows, tuple(dict.fromkeys((*rows.kept, *rows.new))), alias)
        else:
            found = whole(step.views, Asked(self.probe.join, streams))
        if found is None:
            return None
        counted = self._counted(step, span)
        names = {f"_count{n}": text for n, text in enumerate(counted.values())}
        places = dict(zip(counted, names, strict=True))
        timed = with_seen(instants, [NEWEST], NEWEST, names)
        seen = [
            f"{places[keeper.chain.stream]} AS {quoted(column(alias, SEEN))}"
            for alias, keeper in self.keepers.items()
            if keeper.chain.rows
        ]
        times = [quoted(column(alias, AT)) for alias in self.keepers]
        newest = times[0] if len(times) == 1 else f"GREATEST({', '.join(times)})"
        return (
            f"SELECT /*+ BROADCAST(instants) */ {', '.join(['*', *seen])} FROM ({found}) AS standing "
            f"JOIN ({timed}) AS instants ON {newest} <= {NEWEST}"
        )

    def _rows(self, keeper: KeepChain, step: Step) -> Rows:
        kept = step.kept.get(keeper.id, ())
        return Rows(keeper.chain, self.schema(keeper.chain), tuple(step.new.get(keeper.id, ())), kept)

    def _settled(self, keeper: KeepChain, step: Step, span: Span) -> Rows:
        chain, chunks, schema = keeper.chain, step.chunks(keeper.id), self.schema(keeper.chain)
        if chain.rows:
            chunks, schema = ranked(chunks), ranked_schema(schema)
        return Rows.settled(chain, schema, chunks, span)

    def _counted(self, step: Step, span: Span) -> dict[str, str]:
        """The times and ranks of the rows of each stream that are counted."""
        found = {}
        for keeper in self.keepers.values():
            rows = self._settled(keeper, step, span)
            chunks = tuple(dict.fromkeys((*rows.kept, *rows.new)))
            if keeper.chain.rows and chunks:
                time = time_sql(keeper.chain)
                table = step.views.chunks(chunks, rows.schema)
                until = changing(span.until, time)
                found[keeper.chain.stream] = f"SELECT {time} AS {AT}, {RANK} FROM {table} WHERE {time} < {until}"
        return found


def _instants(shape: Shape, span: Span, chunks: list[Chunk], end: int | None) -> str | None:
    """The instants that a step settles.

    The last rows of streams that have ended stay the last ones for ever: they count up to the first instant after them.
    """
    slide = shape.slide
    assert slide is not None
    if not chunks:
        return None
    first = -(-max(span.since, min(chunk.low for chunk in chunks)) // slide) * slide
    last = -(-span.until // slide) * slide - slide
    if end is not None and all(shape.units[position] == "rows" for position, _ in shape.streams):
        last = min(last, -(-end // slide) * slide)
    if first > last:
        return None
    low, high = changing(first, "id"), changing(last, "id")
    return f"SELECT explode(sequence({low}, {high}, {slide}L)) AS {NEWEST} FROM range(1)"


class Found:
    """Results that combinations are, found in one way or another."""

    def __init__(self, router: Router, find: Callable[[Step], str | None]) -> None:
        self._router = router
        self._find = find

    @property
    def queries(self) -> list[str]:
        return self._router.queries

    def routed(self, step: Step, *, numbered: bool) -> str | None:
        rows = self._find(step)
        return None if rows is None else self._router.routed(rows, numbered=numbered)

    def close(self) -> None:
        self._router.close()


class Tallied:
    """Aggregates made from partial ones."""

    def __init__(self, askers: Askers, schema: str) -> None:
        self._askers = askers
        self._schema = schema

    @property
    def queries(self) -> list[str]:
        return self._askers.queries

    def routed(self, step: Step, *, numbered: bool) -> str | None:
        span, chunks = step.span(self._askers.keeper.tally.shape), step.chunks(self._askers.keeper.id)
        if span.is_empty or not chunks or not self._askers.has_instants(span):
            return None
        return self._askers.routed(step.views.chunks(chunks, self._schema), span, numbered=numbered)

    def close(self) -> None:
        self._askers.close()


class Standing:
    """Aggregates over the last rows, made from the rows themselves."""

    def __init__(self, inputs: Inputs, router: Router, parts: Parts, finish: Finish) -> None:
        self._inputs = inputs
        self._router = router
        self._parts = parts
        self._finish = finish
        finish.views = finish.queries

    @property
    def queries(self) -> list[str]:
        return self._finish.queries

    def routed(self, step: Step, *, numbered: bool) -> str | None:
        rows = self._inputs.standing(step)
        if rows is None:
            return None
        met = self._router.routed(rows, numbered=False, timed=True)
        seen = (
            f"SELECT * EXCEPT ({QUERY}, {TIME}), {QUERY} AS {VIEW}, unix_micros({TIME}) AS {TIME} FROM ({met}) AS met"
        )
        return self._finish.routed(self._parts.computed(seen, [VIEW, TIME]), numbered=numbered)

    def close(self) -> None:
        self._router.close()
        self._finish.close()


class Outlet:
    """Results that are written together."""

    def __init__(self, sources: list[tuple[int, Source]]) -> None:
        """Each source with the first of its numbers."""
        self.sources = sources

    @property
    def queries(self) -> list[tuple[str, int]]:
        """Whose results they are, with the numbers by which results are counted."""
        return [(query, first + i) for first, source in self.sources for i, query in enumerate(source.queries)]

    @property
    def counted(self) -> int:
        """By how many numbers results are counted in the step itself: all, or none if there are too many."""
        slots = self.slots(self.sources)
        return slots if slots <= _MOST_COUNTED else 0

    @staticmethod
    def slots(sources: list[tuple[int, Source]]) -> int:
        """How many numbers there are, some of them for queries to come."""
        return sum(power_of_two(len(source.queries)) for _, source in sources)

    def routed(self, step: Step) -> str | None:
        """The results of a step, as SQL; None if there are none."""
        texts = [source.routed(step, numbered=bool(self.counted)) for _, source in self.sources]
        found = [text for text in texts if text is not None]
        return " UNION ALL ".join(found) if found else None

    def close(self) -> None:
        """Remove the tables it has made."""
        for _, source in self.sources:
            source.close()
