"""Move every condition as near to the streams as it can go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.compiler.logical import Aggregate, Filter, Join, Key, Plan, Project, Query
from penstock.compiler.predicates import in_order, merged_keys, split_conditions
from penstock.compiler.rules.context import Context, each_query
from penstock.compiler.scalar import ColumnRef, Scalar, comparison_of, equal, folded, narrowed, replaced
from penstock.compiler.shared import SharedPlan

_EXACT = ("tinyint", "smallint", "int", "bigint", "string", "boolean", "date", "timestamp")
"""Types whose equal values cannot be told apart: 0.0 and -0.0 can."""


def push_down_selections(plan: SharedPlan, context: Context) -> SharedPlan:
    """Conditions on one input stand above that input, conditions on groups below the grouping.

    Equalities that folding has laid bare become keys. What a key says of one input's column holds for the columns
    that are equal to it: `A.k = B.k AND A.k > 5` gives `B.k > 5` too.
    """
    return each_query(_query, plan)


def _query(query: Query) -> Query:
    project = query.input
    assert isinstance(project, Project)
    below = _below_project(project.input)
    return query if below is project.input else replace(query, input=replace(project, input=below))


def _below_project(plan: Plan) -> Plan:
    having: tuple[Scalar, ...] = ()
    aggregate = plan
    if isinstance(plan, Filter) and isinstance(plan.input, Aggregate):
        having, aggregate = plan.conditions, plan.input
    if not isinstance(aggregate, Aggregate):
        return _below_grouping(plan, ())
    groups = {ColumnRef("", group.name): group.expr for group in aggregate.groups}
    early = [c for c in having if _is_early(c, groups)]
    refs = {ref: next(iter(expr.columns)) for ref, expr in groups.items() if expr.is_column}
    below = _below_grouping(aggregate.input, [folded(replaced(condition, refs)) for condition in early])
    if below is aggregate.input and not early:
        return plan
    changed: Plan = replace(aggregate, input=below)
    late = tuple(condition for condition in having if condition not in early)
    return Filter(changed, late) if late else changed


def _is_early(condition: Scalar, groups: dict[ColumnRef, Scalar]) -> bool:
    """Whether a condition on groups can be asked of their rows: it must not tell apart rows of one group."""
    own = [groups[ref] for ref in condition.columns if ref in groups and groups[ref].is_column]
    if not own or len(own) < len(condition.columns):
        return False
    compared = comparison_of(condition)[1]
    return all(group.type in _EXACT for group in own) or (compared is not None and compared.is_column)


def _below_grouping(plan: Plan, more: Iterable[Scalar]) -> Plan:
    above = (*plan.conditions, *more) if isinstance(plan, Filter) else tuple(more)
    source = plan.input if isinstance(plan, Filter) else plan
    if not isinstance(source, Join):
        return plan if not more else Filter(source, in_order(narrowed(above)))
    inner = [(child.conditions, child.input) if isinstance(child, Filter) else ((), child) for child in source.inputs]
    below = [condition for conditions, _ in inner for condition in conditions]
    keys, residual, selections = split_conditions([*source.residual, *above, *below])
    keys = merged_keys([*(key.parts for key in source.keys), *(key.parts for key in keys)])
    keys, same = _one_part_each(keys)
    everywhere = in_order([*selections, *same])
    everywhere = in_order(narrowed([*everywhere, *_implied(everywhere, keys)]))
    inputs = tuple(_filtered(child, everywhere) for _, child in inner)
    rest = tuple(condition for condition in everywhere if not condition.columns)
    joined: Plan = Join(inputs, keys, residual)
    result = Filter(joined, rest) if rest else joined
    return plan if result == plan else result


def _filtered(child: Plan, conditions: tuple[Scalar, ...]) -> Plan:
    names = {ref.input for ref in child.schema}
    own = tuple(condition for condition in conditions if condition.inputs and condition.inputs <= names)
    return Filter(child, own) if own else child


def _one_part_each(keys: tuple[Key, ...]) -> tuple[tuple[Key, ...], list[Scalar]]:
    """Keys with one part for each input; where there were two, they are equal, which is a selection."""
    slim, same = [], []
    for key in keys:
        first: dict[frozenset[str], Scalar] = {}
        for part in key.parts:
            kept = first.setdefault(part.inputs, part)
            if kept is not part:
                same.append(equal(kept, part))
        slim.append(Key(tuple(first.values())))
    return tuple(slim), same


def _implied(selections: tuple[Scalar, ...], keys: tuple[Key, ...]) -> Iterable[Scalar]:
    """Selections on a key's column, as they hold for the columns of the other inputs."""
    for key in keys:
        types = {part.type for part in key.parts}
        if len(types) > 1 or not types <= set(_EXACT) or not all(part.is_column for part in key.parts):
            continue  # of another type, the same expression may mean something else
        refs = [next(iter(part.columns)) for part in key.parts]
        for selection in selections:
            for ref in refs:
                if selection.columns == {ref}:
                    yield from (folded(replaced(selection, {ref: other})) for other in refs if other != ref)
