"""How much the parts of a plan give, by the cost model: combinations, partial aggregates, results a second."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

from penstock.compiler.estimate import Estimates
from penstock.compiler.logical import Join, Named, RelationScan, StreamScan, Window
from penstock.compiler.shared import Member, Shape, SharedPlan, inputs_of
from penstock.compiler.tally import Tally

SECOND = 1_000_000


def seconds(window: Window | None, rate: float) -> float:
    """A window as seconds; so many rows last as long as they take to come."""
    if window is None:
        return 0.0
    return window.size / rate if window.rows else window.size / SECOND


def combinations_a_second(shape: Shape, member: Member, estimates: Estimates) -> float:
    """New combinations of a query: what the new rows of each stream find in the windows of the others.

    Conditions over several inputs besides the keys count as always met.
    """
    rates, sizes = [], []
    found = 1.0
    for scan, selection, window in zip(shape.inputs, shape.selections, member.windows, strict=True):
        if isinstance(scan, RelationScan):
            found *= estimates.rows(scan.relation)
        else:
            rate = estimates.rate(scan.stream) * estimates.selectivity(scan.stream, selection)
            rates.append(rate)
            sizes.append(rate * seconds(window, estimates.rate(scan.stream)))
    for key in getattr(shape.source, "keys", ()):
        assert isinstance(shape.source, Join)
        distinct = max(estimates.distinct_of(shape.source, part) for part in key.parts)
        found /= distinct ** (len(key.parts) - 1)
    others = (prod(size for place, size in enumerate(sizes) if place != own) for own in range(len(rates)))
    return found * sum(rate * size for rate, size in zip(rates, others, strict=True))


def groups(shape: Shape, estimates: Estimates) -> float:
    """How many groups there may be."""
    return prod((_distinct(shape, group, estimates) for group in shape.groups), start=1.0)


def _distinct(shape: Shape, group: Named, estimates: Estimates) -> float:
    owners = [scan for scan in inputs_of(shape.source) if scan.alias in group.expr.inputs]
    if len(owners) != 1:
        return estimates.distinct("", group.expr)
    (scan,) = owners
    return estimates.distinct(scan.stream if isinstance(scan, StreamScan) else scan.relation, group.expr)


@dataclass(frozen=True)
class TallyLoad:
    """What partial aggregates cost a second, beside computing every instant anew from the combinations."""

    combinations: float
    """Combinations that are added up."""
    kept: float
    """Partial aggregates that are kept."""
    read: float
    """Partial aggregates that instants are made from."""
    anew: float
    """Combinations that instants would be made from without them."""


def tally_load(tally: Tally, asking: Iterable[tuple[Shape, Member]], estimates: Estimates) -> TallyLoad:
    """The load of partial aggregates and of the queries that read them."""
    grain = tally.grain / SECOND
    added = kept = 0.0
    for counted in tally.counted:
        windows = tuple(None if size is None else Window(size) for size in counted.windows)
        new = combinations_a_second(tally.shape, Member("", windows, counted.constants), estimates)
        longest = counted.longest / SECOND
        added += new
        kept += min(new, groups(tally.shape, estimates) / grain) * longest
    read = anew = 0.0
    for shape, member in asking:
        assert shape.slide is not None
        own = max(window.size for window in member.windows if window is not None)
        instants = SECOND / shape.slide
        read += kept / len(tally.counted) * min(1.0, own / tally.longest) * instants
        anew += combinations_a_second(shape, member, estimates) * own / SECOND * instants
    return TallyLoad(added, kept, read, anew)


def results_a_second(shape: Shape, member: Member, estimates: Estimates) -> float:
    """How many results a query gives: its combinations, or its groups at every instant."""
    found = combinations_a_second(shape, member, estimates)
    if shape.slide is None:
        return found
    sizes = [seconds(window, 1.0) for window in member.windows if window is not None and not window.rows]
    alive = found * max(sizes, default=1.0)
    return min(groups(shape, estimates), alive) * SECOND / shape.slide


def with_derived_rates(plan: SharedPlan, estimates: Estimates) -> Estimates:
    """Estimates that know how fast the results come that other queries read."""
    asked = {member.query: (template.shape, member) for template in plan.templates for member in template.members}
    read = {scan.stream for shape, _ in asked.values() for _, scan in shape.streams if scan.derived}
    rates: dict[str, float] = {}

    def rate(query: str) -> float:
        shape, member = asked[query]
        for _, scan in shape.streams:
            if scan.derived and scan.stream in asked and scan.stream not in rates:
                rates[scan.stream] = rate(scan.stream)
        return results_a_second(shape, member, _with(estimates, rates))

    for query in sorted(read & set(asked)):
        rates.setdefault(query, rate(query))
    return _with(estimates, rates)


def _with(estimates: Estimates, rates: dict[str, float]) -> Estimates:
    return replace(estimates, measured=replace(estimates.measured, rates={**rates, **estimates.measured.rates}))
