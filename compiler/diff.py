"""What turns one physical plan into another: stages, each of which can be explained and applied on its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.compiler.physical import AggregateWindows, Ingest, KeepChain, Operator, PhysicalPlan, Probe, Route, Write
from penstock.compiler.shared import Chain
from penstock.compiler.tally import Tally
from penstock.grammar.durations import format_duration

KINDS = ("add", "widen", "extend", "split", "re-tag", "order", "route", "merge", "shorten", "narrow", "drop")
"""What stages do, in the order in which they are applied: nothing is taken away before what replaces it is there."""


@dataclass(frozen=True)
class Stage:
    """One change of one operator."""

    kind: str
    operator: str
    what: str
    """What changes, in words."""
    queries: tuple[str, ...] = ()
    """For `route`: the queries that come, change or go."""

    def __str__(self) -> str:
        return f"{self.kind} {self.operator}: {self.what}"


def diff(old: PhysicalPlan, new: PhysicalPlan) -> tuple[Stage, ...]:
    """The stages from the old plan to the new one; none if they are the same."""
    stages: list[Stage] = []
    for operator in new.operators:
        before = old.by_id.get(operator.id)
        if before is None:
            stages.append(Stage("add", operator.id, _summary(operator), _queries(operator)))
        elif before is not operator and before != operator:
            stages += _changes(before, operator)
    for operator in reversed(old.operators):
        if operator.id not in new.by_id:
            stages.append(Stage("drop", operator.id, _summary(operator), _queries(operator)))
    return tuple(sorted(stages, key=lambda stage: KINDS.index(stage.kind)))  # stable: plan order within a kind


def _changes(before: Operator, after: Operator) -> Iterator[Stage]:
    match before, after:
        case Ingest(), Ingest():
            yield from _columns(after.id, [name for name, _ in before.columns], [name for name, _ in after.columns])
        case KeepChain(), KeepChain():
            yield from _columns(after.id, before.chain.columns, after.chain.columns)
            yield from _slices(after.id, before.chain, after.chain)
        case Probe(), Probe() if before.join.orders != after.join.orders:
            orders = "; ".join(" → ".join(order) for order in after.join.orders)
            yield Stage("order", after.id, f"new rows now probe {orders}")
        case Route(), Route():
            yield from _members(before, after)
        case AggregateWindows(), AggregateWindows():
            yield from _counted(after.id, before.tally, after.tally)


def _counted(operator: str, before: Tally, after: Tally) -> Iterator[Stage]:
    old, new = ({counted.name for counted in tally.counted} for tally in (before, after))
    if old != new:
        yield Stage("re-tag", operator, "adds up for other constants")
    if before.longest != after.longest:
        kind = "extend" if after.longest > before.longest else "shorten"
        yield Stage(kind, operator, f"keeps partial aggregates for {format_duration(after.longest)}")


def _columns(operator: str, before: tuple[str, ...] | list[str], after: tuple[str, ...] | list[str]) -> Iterator[Stage]:
    more = [name for name in after if name not in before]
    fewer = [name for name in before if name not in after]
    if more:
        yield Stage("widen", operator, f"keeps {', '.join(more)} too, from now on")
    if fewer:
        yield Stage("narrow", operator, f"no longer keeps {', '.join(fewer)}")


def _slices(operator: str, before: Chain, after: Chain) -> Iterator[Stage]:
    old, new = before.boundaries, after.boundaries

    def text(boundary: int) -> str:
        return f"{boundary} rows" if after.rows else format_duration(boundary)

    if before.partitioned != after.partitioned:
        yield Stage(
            "re-tag",
            operator,
            f"rows of {after.stream} are {'kept apart by reach' if after.partitioned else 'kept together'}",
        )
    if new[-1] > old[-1]:
        yield Stage("extend", operator, f"rows of {after.stream} are kept for {text(new[-1])}, not {text(old[-1])}")
    for boundary in sorted(set(new) - set(old)):
        if boundary < new[-1]:
            yield Stage("split", operator, f"a slice of {after.stream} now ends at {text(boundary)}")
    if before.wanted != after.wanted:
        yield Stage("re-tag", operator, f"rows of {after.stream} are wanted by other selections or for other times")
    for boundary in sorted(set(old) - set(new)):
        if boundary < old[-1]:
            yield Stage("merge", operator, f"the slices of {after.stream} on both sides of {text(boundary)} become one")
    if new[-1] < old[-1]:
        yield Stage("shorten", operator, f"rows of {after.stream} are kept for {text(new[-1])}, not {text(old[-1])}")


def _members(before: Route, after: Route) -> Iterator[Stage]:
    if before.members == after.members:
        return
    old = {member.query: member for member in before.members}
    new = {member.query: member for member in after.members}
    come = [name for name in new if name not in old]
    changed = [name for name, member in new.items() if name in old and old[name] != member]
    gone = [name for name in old if name not in new]
    parts = [
        f"{word} {', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}"
        for word, names in (("add", come), ("change", changed), ("remove", gone))
        if names
    ]
    if parts:
        yield Stage("route", after.id, "; ".join(parts), tuple(come + changed + gone))


def _queries(operator: Operator) -> tuple[str, ...]:
    return tuple(member.query for member in operator.members) if isinstance(operator, Route) else ()


def _summary(operator: Operator) -> str:
    match operator:
        case Ingest():
            return f"read {operator.stream}"
        case KeepChain():
            return f"keep {operator.chain.stream} ({operator.state()})"
        case Probe():
            return f"join {operator.join.name}"
        case Route():
            count = len(operator.members)
            return f"route to {f'{count} queries' if count != 1 else operator.members[0].query}"
        case AggregateWindows():
            return f"add up {operator.tally.shape.source.describe()}"
        case Write():
            return f"write to {operator.target}"
    return operator.kind
