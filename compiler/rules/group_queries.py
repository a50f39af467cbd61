"""Queries that ask the same with other windows and constants become one template."""

from __future__ import annotations

from dataclasses import replace

from penstock.compiler.logical import (
    Aggregate,
    Filter,
    Join,
    Plan,
    Project,
    Query,
    RelationScan,
    StreamScan,
    Window,
)
from penstock.compiler.rules.context import Context
from penstock.compiler.scalar import Constant, Scalar, parametrised, renumbered
from penstock.compiler.shared import Member, Shape, SharedPlan, Template


def group_queries(plan: SharedPlan, context: Context) -> SharedPlan:
    """Every query as a member of a template, with the same ones first; predicates become data.

    Queries with one signature (the same streams and keys) have templates with an equal source, which is what
    makes them share a join and its state. Without sharing, each query has a scope of its own.
    """
    if not plan.queries:
        return plan
    apart = context.settings.sharing == "none"
    templates: dict[Shape, list[Member]] = {}
    for query in plan.queries:
        shape, member = as_member(query, scope=query.name if apart else "")
        templates.setdefault(shape, []).append(member)
    known = tuple(
        replace(template, members=(*template.members, *templates.pop(template.shape)))
        if template.shape in templates
        else template
        for template in plan.templates
    )
    new = tuple(Template(shape, tuple(members)) for shape, members in templates.items())
    return replace(plan, queries=(), templates=known + new)


def as_member(query: Query, *, scope: str = "") -> tuple[Shape, Member]:
    """A query as what it has in common with others, and what sets it apart."""
    project = query.input
    assert isinstance(project, Project)
    plan, aggregate = project.input, None
    having: tuple[Scalar, ...] = ()
    if isinstance(plan, Filter) and isinstance(plan.input, Aggregate):
        having, plan = plan.conditions, plan.input
    if isinstance(plan, Aggregate):
        aggregate, plan = plan, plan.input
    rest: tuple[Scalar, ...] = ()
    if isinstance(plan, Filter) and isinstance(plan.input, Join):
        rest, plan = plan.conditions, plan.input
    source, conditions, windows, units = _apart(plan)
    residual = (*plan.residual, *rest) if isinstance(plan, Join) else ()
    constants = _Constants()
    shape = Shape(
        source=source,
        units=units,
        selections=tuple(constants.take_out(own) for own in conditions),
        residual=constants.take_out(residual),
        having=constants.take_out(having),
        parameters=tuple(constants.types),
        columns=project.columns,
        groups=aggregate.groups if aggregate else (),
        aggregates=aggregate.aggregates if aggregate else (),
        slide=aggregate.slide if aggregate else None,
        sink=query.sink,
        scope=scope,
    )
    return shape, Member(query.name, windows, tuple(constants.values))


class _Constants:
    """Takes the constants out of conditions and numbers them."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.values: list[Constant] = []

    def take_out(self, conditions: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        """The conditions with parameters, in an order that does not depend on the constants."""
        shapes = sorted((parametrised(condition) for condition in conditions), key=lambda found: found[0].sql)
        result = []
        for condition, found in shapes:
            result.append(renumbered(condition, len(self.values)) if found else condition)
            self.types += [type_ for type_, _ in found]
            self.values += [value for _, value in found]
        return tuple(result)


Parts = tuple[Plan, tuple[tuple[Scalar, ...], ...], tuple[Window | None, ...], tuple[str, ...]]


def _apart(plan: Plan) -> Parts:
    """The signature, and for each input its conditions, its window and the window's unit."""
    children = plan.inputs if isinstance(plan, Join) else (plan,)
    scans, conditions, windows, units = [], [], [], []
    for child in children:
        conditions.append(child.conditions if isinstance(child, Filter) else ())
        scan = child.input if isinstance(child, Filter) else child
        assert isinstance(scan, StreamScan | RelationScan)
        window = scan.window if isinstance(scan, StreamScan) else None
        windows.append(window)
        units.append("" if window is None else "rows" if window.rows else "time")
        scans.append(replace(scan, window=None) if isinstance(scan, StreamScan) else scan)
    source = Join(tuple(scans), plan.keys) if isinstance(plan, Join) else scans[0]
    return source, tuple(conditions), tuple(windows), tuple(units)
