"""Give the inputs of every query the same names in the same order, whatever its author called them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, islice, permutations, product

from penstock.compiler.logical import (
    Aggregate,
    Filter,
    Join,
    Key,
    Named,
    Plan,
    Project,
    Query,
    RelationScan,
    StreamScan,
)
from penstock.compiler.predicates import in_order
from penstock.compiler.rules.context import Context, each_query
from penstock.compiler.rules.name_groups import with_named_groups
from penstock.compiler.scalar import PARAMETERS, Scalar, folded, parametrised, renamed
from penstock.compiler.shared import SharedPlan

_MOST_NAMINGS = 120
"""Of a stream joined with itself many times over, no more orders than this are tried."""


def name_inputs(plan: SharedPlan, context: Context) -> SharedPlan:
    """An input is called after its stream, the second of the same stream `<stream>_2`, and inputs stand in that order.

    Which of two inputs of one stream is the first is decided by the plan that comes out: of all namings the
    one whose text is first is taken, so that two spellings of one query are equal afterwards. Constants and windows
    count last: queries that differ in nothing else are named alike.
    """
    return each_query(_query, plan)


def _query(query: Query) -> Query:
    scans = [scan for scan in query.walk() if isinstance(scan, StreamScan | RelationScan)]
    namings = list(islice(_namings(scans), _MOST_NAMINGS))
    if len(namings) == 1:
        return _renamed(query, namings[0])
    return min((_renamed(query, names) for names in namings), key=_rank)


def _namings(scans: list[StreamScan | RelationScan]) -> Iterator[dict[str, str]]:
    """Every way to give the aliases canonical names."""
    ordered = sorted(scans, key=_source)
    groups = [list(group) for _, group in groupby(ordered, key=_source)]
    taken = {_source(scan)[1].lower() for scan in scans} | {PARAMETERS}
    names: list[list[str]] = []
    for group in groups:
        base = _source(group[0])[1]
        own = [base if base.lower() != PARAMETERS else _free(base, 1, taken)]
        own += [_free(base, number, taken) for number in range(2, len(group) + 1)]
        names.append(own)
    for orders in product(*(permutations(group) for group in groups)):
        yield {
            scan.alias: name
            for order, own in zip(orders, names, strict=True)
            for scan, name in zip(order, own, strict=True)
        }


def _free(base: str, number: int, taken: set[str]) -> str:
    name = f"{base}_{number}"
    while name.lower() in taken:
        name += "_"
    return name


def _source(scan: StreamScan | RelationScan) -> tuple[bool, str]:
    """Streams before relations, each by name."""
    return (True, scan.relation) if isinstance(scan, RelationScan) else (False, scan.stream)


def _renamed(query: Query, names: dict[str, str]) -> Query:
    if all(old == new for old, new in names.items()) and _in_order(query):
        return query

    def scalar(expr: Scalar) -> Scalar:
        return folded(renamed(expr, names))  # which side of a comparison comes first depends on the names

    def columns(named: tuple[Named, ...]) -> tuple[Named, ...]:
        return tuple(Named(column.name, scalar(column.expr)) for column in named)

    def rebuilt(node: Plan) -> Plan:
        match node:
            case StreamScan() | RelationScan():
                return replace(node, alias=names[node.alias])
            case Filter():
                return Filter(rebuilt(node.input), in_order(map(scalar, node.conditions)))
            case Join():
                inputs = tuple(sorted(map(rebuilt, node.inputs), key=_place))
                keys = sorted((Key(in_order(map(scalar, key.parts))) for key in node.keys), key=str)
                return Join(inputs, tuple(keys), in_order(map(scalar, node.residual)))
            case Aggregate():
                return replace(
                    node, input=rebuilt(node.input), groups=columns(node.groups), aggregates=columns(node.aggregates)
                )
            case Project():
                return Project(rebuilt(node.input), columns(node.columns))
        return node

    return replace(query, input=rebuilt(query.input))


def _place(plan: Plan) -> tuple[bool, str]:
    scan = plan.input if isinstance(plan, Filter) else plan
    assert isinstance(scan, StreamScan | RelationScan)
    return isinstance(scan, RelationScan), scan.alias


def _in_order(query: Query) -> bool:
    return all(list(join.inputs) == sorted(join.inputs, key=_place) for join in query.walk() if isinstance(join, Join))


def _rank(query: Query) -> tuple[list[str], list[str]]:
    nodes = [node for node in with_named_groups(query).walk() if isinstance(node, Plan)]
    return [_without_constants(node) for node in nodes], [node.describe() for node in nodes]


def _without_constants(node: Plan) -> str:
    match node:
        case StreamScan():
            return f"{node.alias} {node.window is not None and node.window.rows}"
        case Filter():
            return _shapes(node.conditions)
        case Join():
            return f"{' and '.join(map(str, node.keys))} {_shapes(node.residual)}"
    return node.describe()


def _shapes(conditions: tuple[Scalar, ...]) -> str:
    return " and ".join(sorted(parametrised(condition)[0].sql for condition in conditions))
