"""Number groups and aggregates in the order of their text, not in that of the query."""

from __future__ import annotations

from dataclasses import replace

from penstock.compiler.logical import Aggregate, Filter, Named, Plan, Project, Query
from penstock.compiler.predicates import in_order
from penstock.compiler.rules.context import Context, each_query
from penstock.compiler.scalar import ColumnRef, replaced
from penstock.compiler.shared import SharedPlan

Names = dict[ColumnRef, ColumnRef]


def name_groups(plan: SharedPlan, context: Context) -> SharedPlan:
    """Groups are called g1, g2, …, aggregates a1, a2, …, in the order of their expressions."""
    return each_query(_query, plan)


def _query(query: Query) -> Query:
    project = query.input
    assert isinstance(project, Project)
    below, names = _numbered(project.input)
    if all(old == new for old, new in names.items()):
        return query
    columns = tuple(Named(column.name, replaced(column.expr, names)) for column in project.columns)
    return replace(query, input=Project(below, columns))


def _numbered(plan: Plan) -> tuple[Plan, Names]:
    if isinstance(plan, Aggregate):
        groups, group_names = _in_order(plan.groups, "g")
        aggregates, aggregate_names = _in_order(plan.aggregates, "a")
        return replace(plan, groups=groups, aggregates=aggregates), group_names | aggregate_names
    if isinstance(plan, Filter) and isinstance(plan.input, Aggregate):
        aggregate, names = _numbered(plan.input)
        return Filter(aggregate, in_order(replaced(condition, names) for condition in plan.conditions)), names
    return plan, {}


def _in_order(columns: tuple[Named, ...], letter: str) -> tuple[tuple[Named, ...], Names]:
    ordered = sorted(columns, key=lambda column: column.expr.sql)
    numbered = tuple(Named(f"{letter}{number}", column.expr) for number, column in enumerate(ordered, 1))
    names = {ColumnRef("", old.name): ColumnRef("", new.name) for old, new in zip(ordered, numbered, strict=True)}
    return numbered, names
