"""Handing a query over: when its state is to be kept elsewhere, as between a plan that shares and one that does not.

Rows cannot be taken along, because copies of one row in the states of several queries cannot be told apart. So the
operators of before go on beside the new ones, and each result is given by just one of them: up to the time from which
on the new ones have all the rows they need by the old ones, from then on by the new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from penstock.compiler.physical import Ingest, Operator, PhysicalPlan, Route
from penstock.compiler.shared import Member, Shape


@dataclass(frozen=True)
class Handover:
    """Operators that go on for a while, and for each of their queries the time from which on the new ones answer."""

    operators: tuple[Operator, ...] = ()
    cuts: Mapping[str, int] = field(default_factory=dict)


def moved_queries(old: PhysicalPlan, new: PhysicalPlan) -> tuple[str, ...]:
    """The queries that are the same in both plans but for where their state is kept."""
    before = meanings(old)
    return tuple(
        query
        for query, (shape, member) in meanings(new).items()
        if query in before
        and before[query][1] == member
        and before[query][0] != shape
        and replace(before[query][0], scope=shape.scope) == shape
        and (shape.keeps_state or shape.slide is not None)
    )


def unchanged_queries(old: PhysicalPlan, new: PhysicalPlan) -> set[str]:
    """The queries that are the same in both plans."""
    before = meanings(old)
    return {query for query, meaning in meanings(new).items() if before.get(query) == meaning}


def operators_for(plan: PhysicalPlan, queries: Iterable[str]) -> tuple[Operator, ...]:
    """The part of a plan that these queries need, without the readers of streams."""
    names = set(queries)
    needed: dict[str, Operator] = {}
    for route in plan.of_kind(Route):
        members = tuple(member for member in route.members if member.query in names)
        if members:
            needed[route.id] = replace(route, members=members)
            _add_inputs(plan, route, needed)
            needed |= {op.id: op for op in plan.operators if op.inputs == (route.id,)}
    order = [operator.id for operator in plan.operators]
    return tuple(sorted(needed.values(), key=lambda operator: order.index(operator.id)))


def together(plan: PhysicalPlan, handover: Handover | None) -> PhysicalPlan:
    """A plan with the operators of before that go on beside it."""
    if handover is None:
        return plan
    return PhysicalPlan((*plan.operators, *(op for op in handover.operators if op.id not in plan.by_id)))


def _add_inputs(plan: PhysicalPlan, operator: Operator, needed: dict[str, Operator]) -> None:
    for id_ in operator.inputs:
        source = plan.by_id.get(id_)
        if source is not None and not isinstance(source, Ingest) and id_ not in needed:
            needed[id_] = source
            _add_inputs(plan, source, needed)


def meanings(plan: PhysicalPlan) -> dict[str, tuple[Shape, Member]]:
    """Every query by its template's shape and what sets it apart."""
    return {member.query: (route.shape, member) for route in plan.of_kind(Route) for member in route.members}
