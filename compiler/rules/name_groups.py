"""Number groups and aggregates in the order of their text, not in that of the query."""

from __future__ import annotations

from dataclasses import replace

from penstock.compiler.logical import Aggregate, Filter, Named, Plan, Project, Query
from penstock.compiler.predicates import in_order
from penstock.compiler.rules.context import Context, each_query
from penstock.compiler.scalar import ColumnRef, Scalar, folded, replaced
from penstock.compiler.shared import SharedPlan

Names = dict[ColumnRef, ColumnRef]


def name_groups(plan: SharedPlan, context: Context) -> SharedPlan:
    """Groups are called g1, g2, …, aggregates a1, a2, …, in the order of their expressions, each of these once."""
    return each_query(with_named_groups, plan)


def with_named_groups(query: Query) -> Query:
    """The query with its groups and aggregates numbered."""
    project = query.input
    assert isinstance(project, Project)
    below, names = _numbered(project.input)
    if all(old == new for old, new in names.items()):
        return query
    columns = tuple(Named(column.name, _with_names(column.expr, names)) for column in project.columns)
    return replace(query, input=Project(below, columns))


def _numbered(plan: Plan) -> tuple[Plan, Names]:
    if isinstance(plan, Aggregate):
        groups, group_names = _in_order(plan.groups, "g")
        aggregates, aggregate_names = _in_order(plan.aggregates, "a")
        return replace(plan, groups=groups, aggregates=aggregates), group_names | aggregate_names
    if isinstance(plan, Filter) and isinstance(plan.input, Aggregate):
        aggregate, names = _numbered(plan.input)
        return Filter(aggregate, in_order(_with_names(condition, names) for condition in plan.conditions)), names
    return plan, {}


def _with_names(expr: Scalar, names: Names) -> Scalar:
    return folded(replaced(expr, names))  # which side of a comparison comes first depends on the names


def _in_order(columns: tuple[Named, ...], letter: str) -> tuple[tuple[Named, ...], Names]:
    numbers = {expr: f"{letter}{number}" for number, expr in enumerate(in_order(c.expr for c in columns), 1)}
    names = {ColumnRef("", column.name): ColumnRef("", numbers[column.expr]) for column in columns}
    return tuple(Named(name, expr) for expr, name in numbers.items()), names
