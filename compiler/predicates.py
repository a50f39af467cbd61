"""Conditions sorted by what they are for: join keys, other join conditions, selections on one input."""

from __future__ import annotations

from collections.abc import Callable

from penstock.compiler.logical import Key
from penstock.compiler.scalar import Scalar, translate
from penstock.grammar import ast

Leaf = Callable[[ast.Expr], Scalar | None]


def split_conditions(
    conditions: list[tuple[ast.Expr, Scalar]], leaf: Leaf
) -> tuple[tuple[Key, ...], tuple[Scalar, ...], tuple[Scalar, ...]]:
    """Keys, residual and selections; each once, in the order of their text."""
    equalities: list[tuple[Scalar, Scalar]] = []
    residual: set[Scalar] = set()
    selections: set[Scalar] = set()
    for node, scalar in conditions:
        if len(scalar.inputs) < 2:
            selections.add(scalar)
        elif (pair := _equality(node, leaf)) is not None:
            equalities.append(pair)
        else:
            residual.add(scalar)
    return _keys(equalities), _sorted(residual), _sorted(selections)


def _equality(node: ast.Expr, leaf: Leaf) -> tuple[Scalar, Scalar] | None:
    """Both sides, if the condition says that expressions over two different inputs are equal."""
    if not isinstance(node, ast.Binary) or node.op != "=":
        return None
    left, right = translate(node.left, leaf), translate(node.right, leaf)
    single = len(left.inputs) == len(right.inputs) == 1
    return (left, right) if single and left.inputs != right.inputs else None


def _keys(equalities: list[tuple[Scalar, Scalar]]) -> tuple[Key, ...]:
    """Equalities as keys; those that share a side become one key, if all are of one type.

    Across types equality is not transitive: Spark compares 1 with '01' and with '1' as equal.
    """
    classes: list[set[Scalar]] = []
    for left, right in equalities:
        if left.type != right.type:
            classes.append({left, right})
            continue
        merged = {left, right}
        for known in [c for c in classes if c & merged and len({part.type for part in c}) == 1]:
            classes.remove(known)
            merged |= known
        classes.append(merged)
    keys = {Key(_sorted(parts)) for parts in classes}
    return tuple(sorted(keys, key=str))


def _sorted(scalars: set[Scalar]) -> tuple[Scalar, ...]:
    return tuple(sorted(scalars, key=lambda scalar: scalar.sql))
