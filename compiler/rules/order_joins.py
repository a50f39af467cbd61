"""Decide in which order the new rows of each stream probe the others."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from penstock.compiler.cost import all_orders, best_order_heuristic, order_for_origin, origin_cost
from penstock.compiler.logical import Join, RelationScan, StreamScan
from penstock.compiler.rules.context import Context
from penstock.compiler.shared import SharedJoin, SharedPlan, inputs_of

SECOND = 1_000_000
_TRY_ALL = 6
"""Up to this many inputs every order is looked at."""

Sizes = dict[str, tuple[float, float, float]]


def order_joins(plan: SharedPlan, context: Context) -> SharedPlan:
    """A join for every signature and scope, with a probe order for each of its streams.

    The orders suit the longest windows of all the queries that share the join.
    """
    longest: dict[tuple[str, Join], list[float]] = {}
    for template in plan.templates:
        source = template.shape.source
        if not isinstance(source, Join):
            continue
        windows = longest.setdefault((template.shape.scope, source), [0.0] * len(source.inputs))
        for position in range(len(windows)):
            for member in template.members:
                window = member.windows[position]
                if window is not None and window.size > windows[position]:
                    windows[position] = window.size
    joins = tuple(
        SharedJoin(source, scope, _orders(source, windows, context)) for (scope, source), windows in longest.items()
    )
    return replace(plan, joins=tuple(sorted(joins, key=lambda join: (join.scope, join.name))))


def _orders(source: Join, windows: list[float], context: Context) -> tuple[tuple[str, ...], ...]:
    scans = inputs_of(source)
    if len(scans) == 2:
        first, second = (scan.alias for scan in scans)
        both = {first: (first, second), second: (second, first)}
        return tuple(both[scan.alias] for scan in scans if isinstance(scan, StreamScan))
    sizes = {scan.alias: _size(scan, window, source, context) for scan, window in zip(scans, windows, strict=True)}
    origins = [scan.alias for scan in scans if isinstance(scan, StreamScan)]
    if len(source.keys) == 1 and len(source.keys[0].parts) == len(scans):
        return tuple(_one_attribute(origin, sizes) for origin in origins)
    edges: dict[frozenset[str], float] = {}
    for key in source.keys:
        for left, right in combinations(key.parts, 2):
            pair = left.inputs | right.inputs
            distinct = max(context.estimates.distinct_of(source, part) for part in (left, right))
            edges[pair] = max(edges.get(pair, 1.0), distinct)
    return tuple(order_for_origin(origin, sizes, edges) for origin in origins)


def _one_attribute(origin: str, sizes: Sizes) -> tuple[str, ...]:
    """The best order when all inputs are joined on one attribute: of all orders, or of those the heuristic sees.

    Rows are probed by hash, so that what an order costs are the matches it finds: a bucket for every value.
    """
    buckets = {name: distinct for name, (_, _, distinct) in sizes.items()}
    if len(sizes) > _TRY_ALL:
        order = best_order_heuristic(sizes, buckets=buckets)
        return (origin, *(name for name in order if name != origin))
    orders = ((origin, *rest) for rest in all_orders(name for name in sizes if name != origin))
    return min(orders, key=lambda order: origin_cost(origin, order, sizes, buckets=buckets))


def _size(scan: StreamScan | RelationScan, window: float, source: Join, context: Context) -> tuple[float, float, float]:
    """Rate, window and distinct values; of a relation all its rows, as though they came in one second."""
    estimates = context.estimates
    parts = [part for key in source.keys for part in key.parts if part.inputs == {scan.alias}]
    distinct = max((estimates.distinct_of(source, part) for part in parts), default=1.0)
    if isinstance(scan, RelationScan):
        return estimates.rows(scan.relation), 1.0, distinct
    return estimates.rate(scan.stream), window / SECOND, distinct
