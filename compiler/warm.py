"""Warm starts: from which time on the answer of a query that comes late is that of one that had always run.

The rows that are kept for the queries of the plan in force are proven to hold those that the new one needs: if every
row that it selects is also selected by a query that is there, then all of them are kept as far back as that
query's window goes. Times are microseconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from penstock.compiler.handover import meanings
from penstock.compiler.implication import Selection, implies
from penstock.compiler.physical import KeepChain, PhysicalPlan, Route
from penstock.compiler.rules.tag_reach import selection_of, used_columns
from penstock.compiler.shared import Member, Shape

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

    @property
    def complete(self) -> int | None:
        """The time from which on the answer is complete; None if that is not known yet, `EVER` if it always was."""
        if self.earlier is not None:
            return self.earlier
        if self.waits:
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
        return replace(self, since=since, waits={name: n for name, n in self.waits.items() if name != stream})

    def to_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @staticmethod
    def of(data: Mapping[str, Any]) -> Start:
        """From JSON."""
        lists = {name: tuple(data[name]) for name in ("streams", "windows", "since")}
        return Start(**{**data, **lists})


@dataclass(frozen=True)
class _Covered:
    """Rows that a query has had kept: what it selects, for how long, and since when."""

    selection: Selection
    reach: int
    since: int


def starts(
    old: PhysicalPlan, new: PhysicalPlan, known: Mapping[str, Start], kept: Mapping[str, Kept]
) -> dict[str, Start]:
    """The start of every query of the new plan; `kept` is by chain, for the chains of the new plan."""
    before = meanings(old)
    ids = {(op.chain.scope, op.chain.stream, op.chain.rows): op.id for op in new.of_kind(KeepChain)}
    covers: dict[str, list[_Covered]] = {}
    found = {}
    for route in new.of_kind(Route):
        shape = route.shape
        for member in route.members:
            if member.query in known and before.get(member.query) == (shape, member):
                found[member.query] = known[member.query]
                continue
            for _, scan in shape.streams:
                chain = ids[shape.scope, scan.stream, False]
                if chain not in covers:
                    covers[chain] = _covers(old, chain, known, kept[chain])
            found[member.query] = _start(shape, member, ids, covers, kept)
    return found


def _start(
    shape: Shape,
    member: Member,
    ids: Mapping[tuple[str, str, bool], str],
    covers: Mapping[str, list[_Covered]],
    kept: Mapping[str, Kept],
) -> Start:
    since, windows, waits = [], [], {}
    after = usable = EVER
    for position, scan in shape.streams:
        chain = ids[shape.scope, scan.stream, False]
        own = kept[chain]
        (conditions, types), numbers = selection_of(shape, position, scan.alias, scan.stream)
        wanted = Selection(conditions, types, tuple(member.constants[number] for number in numbers))
        proven = [_there(cover, own) for cover in covers[chain] if implies(wanted, cover.selection)]
        cold = own.ahead + 1 if own.ahead != EVER else EVER
        if not proven and own.reading is not None:
            waits[scan.stream] = own.reading
        since.append(min([*proven, cold]) if own.reading is None else min(proven, default=cold))
        window = member.windows[position]
        windows.append(window.size if window is not None and shape.keeps_state else 0)
        after = max(after, own.high)
        needed = {scan.timestamp, *used_columns(shape, scan.alias)}
        usable = max(usable, *(own.columns.get(name, EVER) for name in needed))
    return Start(
        tuple(scan.stream for _, scan in shape.streams),
        tuple(windows),
        tuple(max(usable, own) for own in since),
        after,
        usable,
        waits,
    )


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
        if route.shape.scope != keeper.chain.scope:
            continue
        for number, (position, scan) in enumerate(route.shape.streams):
            if scan.stream != keeper.chain.stream:
                continue
            (conditions, types), numbers = selection_of(route.shape, position, scan.alias, scan.stream)
            for member in route.members:
                start = known.get(member.query)
                if start is None or scan.stream in start.waits:
                    continue
                constants = tuple(member.constants[place] for place in numbers)
                cover = _Covered(Selection(conditions, types, constants), start.windows[number], start.since[number])
                key = (conditions, types, constants)
                if key not in best or _there(cover, kept) < _there(best[key], kept):
                    best[key] = cover
    return list(best.values())
