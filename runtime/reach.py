"""The reach of a row as a Spark expression: the longest window of any query whose selection accepts it."""

from __future__ import annotations

from penstock.compiler.scalar import PARAMETERS, ColumnRef, Constant, Scalar, comparison_of
from penstock.compiler.shared import Chain, Wanted
from penstock.runtime.columns import all_of, flat_sql, literal, quoted

_MOST_BRANCHES = 64
"""Selections with more constants than this, after those that do not matter are gone, keep every row."""


def constant_reach(chain: Chain) -> int | None:
    """The reach that every row has, if it does not depend on the row."""
    if len(chain.wanted) == 1 and not chain.wanted[0].conditions:
        return chain.wanted[0].reach
    return None


def reach_sql(chain: Chain) -> str:
    """The reach over the stream's own columns; NULL for a row that nobody wants."""
    parts = [_wanted_sql(wanted, chain.stream) for wanted in chain.wanted]
    return parts[0] if len(parts) == 1 else f"GREATEST({', '.join(parts)})"


def _wanted_sql(wanted: Wanted, stream: str) -> str:
    if not wanted.conditions:
        return f"{wanted.reach}L"
    rows = frontier(wanted)
    if len(rows) > _MOST_BRANCHES:
        return f"{wanted.reach}L"
    branches = [f"WHEN {_condition(wanted, constants, stream)} THEN {reach}L" for constants, reach in rows]
    return f"CASE {' '.join(branches)} END"


def _condition(wanted: Wanted, constants: tuple[Constant, ...], stream: str) -> str:
    """The conditions with constants in place of parameters, over the stream's columns by name."""
    texts = []
    for condition in wanted.conditions:
        own = {ref: ColumnRef("", ref.name) for ref in condition.columns if ref.input == stream}
        text = flat_sql(condition, own)
        for number in range(len(constants), 0, -1):
            text = text.replace(quoted(f"{PARAMETERS}.c{number}"), literal(constants[number - 1]))
        texts.append(text)
    return all_of(texts)


def frontier(wanted: Wanted) -> list[tuple[tuple[Constant, ...], int]]:
    """Constants and reaches, the longest first, without those that another one accepts and outreaches.

    `x > 5` for an hour makes `x > 7` for a minute superfluous.
    """
    looser = [_direction(wanted, number) for number in range(len(wanted.parameters))]
    kept: list[tuple[tuple[Constant, ...], int]] = []
    for row in sorted(wanted.rows, key=lambda row: -row[1]):
        if not any(_covers(other[0], row[0], looser) for other in kept):
            kept.append(row)
            if len(kept) > _MOST_BRANCHES:
                break
    return kept


def direction(condition: Scalar) -> str:
    """Whether a condition with one parameter accepts more when that is `less` or `more`; empty if neither is so."""
    parameters = [ref for ref in condition.columns if ref.input == PARAMETERS]
    operator, left = comparison_of(condition)
    if len(parameters) != 1 or left is None or any(ref.input == PARAMETERS for ref in left.columns):
        return ""
    return {">": "less", ">=": "less", "<": "more", "<=": "more"}.get(operator, "")


def _direction(wanted: Wanted, number: int) -> str:
    name = ColumnRef(PARAMETERS, f"c{number + 1}")
    using = [condition for condition in wanted.conditions if name in condition.columns]
    return direction(using[0]) if len(using) == 1 else ""


def _covers(wide: tuple[Constant, ...], narrow: tuple[Constant, ...], looser: list[str]) -> bool:
    for a, b, direction in zip(wide, narrow, looser, strict=True):
        if a == b:
            continue
        less = direction == "less" and a < b  # type: ignore[operator]
        more = direction == "more" and a > b  # type: ignore[operator]
        if not (less or more):
            return False
    return True
