"""Aggregates taken apart, so that they can be computed in parts."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from penstock.compiler.scalar.value import Scalar, scalar_of

_NAMES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}


@dataclass(frozen=True)
class AggregateCall:
    """One of COUNT, SUM, AVG, MIN and MAX; COUNT(*) has no arguments."""

    name: str
    arguments: tuple[Scalar, ...]
    distinct: bool


def aggregate_call(scalar: Scalar) -> AggregateCall:
    """What an aggregate computes."""
    tree = scalar.tree
    inner = tree.this
    distinct = isinstance(inner, exp.Distinct)
    trees = inner.expressions if distinct else [inner, *tree.expressions]
    arguments = tuple(scalar_of(part.copy()) for part in trees if not isinstance(part, exp.Star))
    return AggregateCall(_NAMES[type(tree)], arguments, distinct)
