"""Warm starts: from which time on the answer of a query that comes late is that of one that had always run.

The rows that are kept for the queries of the plan in force are proven to hold those that the new one needs: if every
row that it selects is also selected by a query that is there, then all of them are kept as far back as that
query's window goes. Times are microseconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from penstock.compiler.facts import facts_of
from penstock.compiler.handover import meanings
from penstock.compiler.implication import Selection, implies
from penstock.compiler.logical import StreamScan
from penstock.compiler.physical import KeepChain, PhysicalPlan, Route
from penstock.compiler.rules.tag_reach import selection_of, used_columns
from penstock.compiler.shared import Fact, Member, Shape
from penstock.compiler.tally import counted_by, grain_of, is_tallied, tallied_shape

EVER = -(2**62)
"""Since ever: no row is missing."""


@dataclass(frozen=True)
class Kept:
    """What is known of the rows of a chain when the plan changes."""

    high: int = EVER
    """The largest event time of the rows that steps have taken."""
    ahead: int = EVER
    """The same of the rows that were read, for the plan in force until now."""
    reading: int | None = None
    """The batch that is being read for that plan, whose times are not known yet."""
    trimmed: int = EVER
    """Rows whose reach ended before this time are gone."""
    columns: Mapping[str, int] = field(default_factory=dict)
    """Since when a column is kept, if not as long as the chain."""
    retained: tuple[int, int] | None = None
    """Since when all rows are retained and for how long, if they are."""


@dataclass(frozen=True)
class Count:
    """So many rows of a chain must be counted, all of them later than a time."""

    chain: str
    stream: str
    rows: int
    later: int
    needed: int | None = None
    """The rank that must be reached; None until all rows up to the time are counted."""


@dataclass(frozen=True)
class Start:
    """From when on the rows that a query needs are there, for each of its streams."""

    streams: tuple[str, ...]
    windows: tuple[int, ...]
    since: tuple[int, ...]
    after: int = EVER
    """Results up to this time may have been given before the query came."""
    usable: int = EVER
    """Rows before this time lack columns, so that they must not be used."""
    waits: Mapping[str, int] = field(default_factory=dict)
    """Batches that must be taken before it is known since when the rows of their streams are there."""
    earlier: int | None = None
    """Since when it was complete before it was handed over from other operators."""
    counts: tuple[Count, ...] = ()
    """The streams of which so many rows must have been counted before the last ones are known."""
    reads: tuple[str, ...] = ()
    """The queries that it reads of which it is not known yet since when they are complete."""

    @property
    def complete(self) -> int | None:
        """The time from which on the answer is complete; None if that is not known yet, `EVER` if it always was."""
        if self.earlier is not None:
            return self.earlier
        if self.waits or self.counts or self.reads:
            return None
        if all(since == EVER for since in self.since) and self.after == EVER:
            return EVER
        ends = (since + window for since, window in zip(self.since, self.windows, strict=True) if since != EVER)
        return max(self.after + 1 if self.after != EVER else EVER, *ends, EVER)

    def taken(self, stream: str, batch: int, high: int | None) -> Start:
        """What is known when batches of a stream up to this one have been taken."""
        if stream not in self.waits or batch < self.waits[stream]:
            return self
        first = EVER if high is None else high + 1
        known = zip(self.streams, self.since, strict=True)
        since = tuple(max(first, own) if name == stream else own for name, own in known)
        counts = tuple(replace(c, later=max(c.later, first)) if c.stream == stream else c for c in self.counts)
        waits = {name: n for name, n in self.waits.items() if name != stream}
        return replace(self, since=since, waits=waits, counts=counts)

    def counted(self, ranks: Mapping[str, int], marks: Mapping[str, int]) -> Start:
        """What is known when so many rows of each chain have been counted, up to the marks of their streams."""
        waiting, after = [], self.after
        for count in self.counts:
            rank, mark = ranks.get(count.chain, 0), marks.get(count.stream, EVER)
            needed = count.needed
            if needed is None and mark > count.later:
                needed = rank + count.rows
            if needed is not None and rank >= needed:
                after = max(after, mark - 1)
            else:
                waiting.append(replace(count, needed=needed))
        return self if tuple(waiting) == self.counts else replace(self, counts=tuple(waiting), after=after)

    def read(self, complete: Mapping[str, int | None]) -> Start:
        """What is known when it is known since when other queries are complete."""
        found = {query: time for query in self.reads if (time := complete.get(query)) is not None}
        if not found:
            return self
        known = zip(self.streams, self.since, strict=True)
        since = tuple(max(own, found.get(name, EVER)) for name, own in known)
        return replace(self, since=since, reads=tuple(query for query in self.reads if query not in found))

    def to_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @staticmethod
    def of(data: Mapping[str, Any]) -> Start:
        """From JSON."""
        lists: dict[str, Any] = {name: tuple(data.get(name, ())) for name in ("streams", "windows", "since", "reads")}
        lists["counts"] = tuple(Count(**count) for count in data.get("counts", ()))
        return Start(**{**data, **lists})


@dataclass(frozen=True)
class _Covered:
    """Rows that a query has had kept: what it selects, for how long, and since when."""

    selection: Selection
    reach: int
    since: int
    facts: tuple[Fact, ...] = ()
    """The facts without which rows are not kept."""


def starts(
    old: PhysicalPlan, new: PhysicalPlan, known: Mapping[str, Start], kept: Mapping[str, Kept]
) -> dict[str, Start]:
    """The start of every query of the new plan; `kept` is by chain, for the chains of the new plan."""
    return _Starts(old, new, known, kept).found()


class _Starts:
    """The starts of the queries of a plan, those that others read first."""

    def __init__(
        self, old: PhysicalPlan, new: PhysicalPlan, known: Mapping[str, Start], kept: Mapping[str, Kept]
    ) -> None:
        self.old = old
        self.known = known
        self.kept = kept
        self.before = meanings(old)
        self.now = meanings(new)
        self.changed = redefined(old, new)
        self.ids = {(op.chain.scope, op.chain.stream, op.chain.rows): op.id for op in new.of_kind(KeepChain)}
        self.covers: dict[str, list[_Covered]] = {}
        self.starts: dict[str, Start] = {}

    def found(self) -> dict[str, Start]:
        for query in self.now:
            self._add(query)
        return {query: self.starts[query] for query in self.now}

    def _add(self, query: str) -> None:
        if query in self.starts:
            return
        shape, member = self.now[query]
        read = [scan.stream for _, scan in shape.streams if scan.derived]
        for other in read:
            if other in self.now:
                self._add(other)
        if query in self.known and query not in self.changed and self.before.get(query) == (shape, member):
            self.starts[query] = self.known[query]
            return
        start = self._tallied(shape, member) if is_tallied(shape) else self._kept(shape, member)
        complete = {other: self.starts[other].complete for other in read if other in self.starts}
        self.starts[query] = replace(start, reads=tuple(sorted(complete))).read(complete)

    def _kept(self, shape: Shape, member: Member) -> Start:
        """The start of a query that finds its rows in the chains."""
        since, windows, waits, counts = [], [], {}, []
        after = usable = EVER
        for position, scan in shape.streams:
            window, counted = member.windows[position], shape.units[position] == "rows"
            chain = self.ids[shape.scope, scan.stream, counted]
            own = self.kept[chain]
            if counted:
                assert window is not None
                times, more = self._last_rows(chain, scan.stream, window.size)
                counts += more
            else:
                times = self._there(shape, member, position, scan, chain)
            cold = own.ahead + 1 if own.ahead != EVER else EVER
            if not times and own.reading is not None:
                waits[scan.stream] = own.reading
            since.append(min([*times, cold]) if own.reading is None else min(times, default=cold))
            lasting = window is not None and not counted and (shape.keeps_state or shape.slide is not None)
            windows.append(window.size if window is not None and lasting else 0)
            after = max(after, own.high)
            needed = {scan.timestamp, *used_columns(shape, scan.alias)}
            usable = max(usable, *(own.columns.get(name, EVER) for name in needed))
        names = tuple(scan.stream for _, scan in shape.streams)
        known = tuple(max(usable, own) for own in since)
        return Start(names, tuple(windows), known, after, usable, waits, counts=tuple(counts))

    def _there(self, shape: Shape, member: Member, position: int, scan: StreamScan, chain: str) -> list[int]:
        """Since when rows that an input selects are there, for each query that had them kept."""
        if chain not in self.covers:
            self.covers[chain] = _covers(self.old, chain, self.known, self.kept[chain])
        (conditions, types), numbers = selection_of(shape, position, scan.alias, scan.stream)
        wanted = Selection(conditions, types, tuple(member.constants[number] for number in numbers))
        facts = set(facts_of(shape, scan))
        covers = [c for c in self.covers[chain] if facts.issuperset(c.facts) and implies(wanted, c.selection)]
        return [_there(cover, self.kept[chain]) for cover in covers]

    def _last_rows(self, chain: str, stream: str, rows: int) -> tuple[list[int], list[Count]]:
        """Since when the last rows of a stream are there, if they are; else how many must be counted first."""
        own = self.kept[chain]
        if own.ahead == EVER and own.reading is None:
            return [EVER], []
        for query, (shape, member) in self.before.items():
            for position, scan in shape.streams:
                window = member.windows[position]
                same = shape.units[position] == "rows" and self._chain_of(shape, scan) == chain
                start = self.known.get(query)
                if same and window is not None and window.size >= rows and start and start.complete is not None:
                    return [start.complete], []
        return [EVER], [Count(chain, stream, rows, own.ahead)]

    def _chain_of(self, shape: Shape, scan: StreamScan) -> str | None:
        return self.ids.get((shape.scope, scan.stream, True))

    def _tallied(self, shape: Shape, member: Member) -> Start:
        """The start of a query whose aggregates are made from partial ones, which may have been added up before."""
        cold = replace(shape, selections=tuple(() for _ in shape.selections))
        start = self._kept(cold, member)  # for the columns and the batches that are waited for
        tallied, grain = tallied_shape(shape), grain_of(shape, member)
        counted = counted_by(tallied, member)
        high = max(
            (self.kept[self.ids[shape.scope, scan.stream, False]].high for _, scan in shape.streams), default=EVER
        )
        best: tuple[int, ...] | None = None
        for query, (other, asker) in self.before.items():
            same = is_tallied(other) and tallied_shape(other) == tallied and grain_of(other, asker) == grain
            if not same or query not in self.known or query in self.changed:
                continue
            theirs, began = counted_by(tallied, asker), self.known[query]
            if theirs.name == counted.name and began.complete is not None:
                since = tuple(max(own, high - theirs.longest + 1 if high != EVER else EVER) for own in began.since)
                best = since if best is None else min(best, since)
        waits = start.waits if best is None else {}
        colds = [self.kept[self.ids[shape.scope, scan.stream, False]].ahead for _, scan in shape.streams]
        never = tuple(ahead + 1 if ahead != EVER else EVER for ahead in colds)
        return replace(start, since=never if best is None else best, waits=waits)


def redefined(old: PhysicalPlan, new: PhysicalPlan) -> set[str]:
    """The queries that are new or asked otherwise, wherever they are kept, and those that read one of them."""
    before, now = meanings(old), meanings(new)
    found = {
        query
        for query, (shape, member) in now.items()
        if query not in before or (replace(before[query][0], scope=shape.scope), before[query][1]) != (shape, member)
    }
    while True:
        more = {
            query
            for query, (shape, _) in now.items()
            if query not in found and any(scan.derived and scan.stream in found for _, scan in shape.streams)
        }
        if not more:
            return found
        found |= more


def _there(cover: _Covered, kept: Kept) -> int:
    """Since when all the rows that a query has had kept are there."""
    if not cover.reach:  # they were taken and not kept; those not taken yet are there
        return max(cover.since, kept.high + 1 if kept.high != EVER else EVER)
    return max(cover.since, kept.trimmed - cover.reach + 1 if kept.trimmed != EVER else EVER)


def _covers(plan: PhysicalPlan, chain: str, known: Mapping[str, Start], kept: Kept) -> list[_Covered]:
    """What the queries of a plan have had kept in a chain, the same selection once."""
    keeper = plan.by_id.get(chain)
    if not isinstance(keeper, KeepChain):
        return []
    best: dict[tuple[object, ...], _Covered] = {}
    if kept.retained is not None:
        since, reach = kept.retained
        best[()] = _Covered(Selection((), ()), reach, since)
    for route in plan.of_kind(Route):
        shape = route.shape
        if shape.scope != keeper.chain.scope:
            continue
        for number, (position, scan) in enumerate(shape.streams):
            if scan.stream != keeper.chain.stream or shape.units[position] == "rows":
                continue
            (conditions, types), numbers = selection_of(shape, position, scan.alias, scan.stream)
            for member in route.members:
                start = known.get(member.query)
                if start is None or scan.stream in start.waits:
                    continue
                window = member.windows[position]
                reach = window.size if window is not None and shape.keeps_state else 0
                constants = tuple(member.constants[place] for place in numbers)
                facts = facts_of(shape, scan)
                cover = _Covered(Selection(conditions, types, constants), reach, start.since[number], facts)
                key = (conditions, types, constants, facts)
                if key not in best or _there(cover, kept) < _there(best[key], kept):
                    best[key] = cover
    return list(best.values())
