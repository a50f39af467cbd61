"""Conditions sorted by what they are for: join keys, other join conditions, selections on one input."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.compiler.logical import Key
from penstock.compiler.scalar import Scalar, equality


def split_conditions(
    conditions: Iterable[Scalar],
) -> tuple[tuple[Key, ...], tuple[Scalar, ...], tuple[Scalar, ...]]:
    """Keys, residual and selections; each once, in the order of their text."""
    equalities: list[tuple[Scalar, Scalar]] = []
    residual: set[Scalar] = set()
    selections: set[Scalar] = set()
    for condition in conditions:
        if len(condition.inputs) < 2:
            selections.add(condition)
        elif (pair := equality(condition)) is not None:
            equalities.append(pair)
        else:
            residual.add(condition)
    return merged_keys(equalities), in_order(residual), in_order(selections)


def merged_keys(equalities: Iterable[tuple[Scalar, ...]]) -> tuple[Key, ...]:
    """Equalities as keys; those that share a side become one key, if all are of one type.

    Across types equality is not transitive: Spark compares 1 with '01' and with '1' as equal.
    """
    classes: list[set[Scalar]] = []
    for parts in equalities:
        merged = set(parts)
        if len({part.type for part in parts}) == 1:
            for known in [c for c in classes if c & merged and len({part.type for part in c}) == 1]:
                classes.remove(known)
                merged |= known
        classes.append(merged)
    keys = {Key(in_order(parts)) for parts in classes}
    return tuple(sorted(keys, key=str))


def in_order(scalars: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Each scalar once, in the order of their text."""
    return tuple(sorted(set(scalars), key=lambda scalar: scalar.sql))
