"""Compute constants and bring conditions into normal form."""

from __future__ import annotations

from dataclasses import replace

from penstock.compiler.logical import Aggregate, Filter, Join, Named, Plan, Project, Query
from penstock.compiler.predicates import in_order
from penstock.compiler.rules.context import Context, each_query
from penstock.compiler.scalar import Scalar, conjuncts, folded, narrowed
from penstock.compiler.shared import SharedPlan


def fold_constants(plan: SharedPlan, context: Context) -> SharedPlan:
    """Every expression with its constants computed; conditions cut at their ANDs, those that always hold left out."""
    return each_query(_query, plan)


def _query(query: Query) -> Query:
    changed: Query = query.transform(_node)
    return changed


def _node(node: Plan) -> Plan:
    match node:
        case Filter():
            conditions = _conditions(node.conditions)
            return node.input if not conditions else _if_changed(node, conditions=conditions)
        case Join():
            return _if_changed(node, residual=_conditions(node.residual))
        case Project():
            return _if_changed(node, columns=_named(node.columns))
        case Aggregate():
            return _if_changed(node, groups=_named(node.groups), aggregates=_named(node.aggregates))
    return node


def _conditions(conditions: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    return in_order(narrowed(part for condition in conditions for part in conjuncts(folded(condition))))


def _named(columns: tuple[Named, ...]) -> tuple[Named, ...]:
    return tuple(Named(column.name, folded(column.expr)) for column in columns)


def _if_changed(node: Plan, **fields: object) -> Plan:
    changed = {name: value for name, value in fields.items() if getattr(node, name) != value}
    return replace(node, **changed) if changed else node
