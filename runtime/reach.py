"""The reach of a row as a Spark expression: the longest window of any query whose selection accepts it.

It is worked out from the row's columns whenever it is needed, and never kept: what is kept serves every plan, and
queries come and go without a row being written again.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.compiler.estimate import selection_text
from penstock.compiler.scalar import PARAMETERS, ColumnRef, Constant, Scalar, comparison_of
from penstock.compiler.shared import Chain, Fact, Wanted
from penstock.compiler.survival import is_range
from penstock.runtime.columns import REACH, all_of, flat_sql, literal, looked_up, quoted

_MOST_BRANCHES = 64
"""Selections with more constants than this, after those that do not matter are gone, keep every row."""
_STEPS = 8
"""For so many ages a chunk knows how many of its rows reach further."""

_MOST_MEASURED = 8
"""For at most so many selections of a chain it is measured how many rows they accept."""


@dataclass(frozen=True)
class Acceptance:
    """A selection of a chain: its text, how many sets of constants it has, and SQL that is NULL if none accepts."""

    text: str
    sets: int
    sql: str


def constant_reach(chain: Chain) -> int | None:
    """The reach that every row has, if it does not depend on the row."""
    if len(chain.wanted) == 1 and not chain.wanted[0].conditions and not chain.wanted[0].facts:
        return chain.wanted[0].reach
    return None


def reach_sql(chain: Chain) -> str:
    """The reach over the stream's own columns; NULL for a row that nobody wants."""
    fixed = constant_reach(chain)
    if fixed is not None:
        return f"{fixed}L"
    parts = [_wanted_sql(wanted, chain) for wanted in chain.wanted]
    return parts[0] if len(parts) == 1 else f"GREATEST({', '.join(parts)})"


def acceptances(chain: Chain) -> tuple[Acceptance, ...]:
    """The selections whose part of the rows is measured: none if there are many, or many constants.

    Ranges that are open on one side accept together what the widest accepts, and count as one set.
    """
    wanted = [(own, frontier(own)) for own in chain.wanted if own.conditions]
    branches = sum(power_of_two(len(rows)) for _, rows in wanted)
    if len(wanted) > _MOST_MEASURED or branches > _MOST_BRANCHES:
        return ()
    found = []
    for own, _ in wanted:
        sets = 1 if all(map(is_range, own.conditions)) else len(own.rows)
        alone = len(chain.wanted) == 1 and not chain.partitioned
        sql = REACH if alone else _wanted_sql(own, chain)
        found.append(Acceptance(selection_text(own.conditions), sets, sql))
    return tuple(found)


def time_sql(chain: Chain) -> str:
    """The event time of a row in microseconds."""
    return f"unix_micros({quoted(chain.timestamp)})"


def _wanted_sql(wanted: Wanted, chain: Chain) -> str:
    reach = _selected_sql(wanted, chain)
    for fact in wanted.facts:
        reach = _with_fact(fact, reach, time_sql(chain))
    return reach


def _with_fact(fact: Fact, reach: str, time: str) -> str:
    """A reach that ends with the last row of a relation; that of a row of before facts were looked for is not known."""
    ends = f" WHEN {reach} > {fact.column} - {time} THEN {fact.column} - {time}" if fact.limits else ""
    return f"CASE WHEN {fact.column} <= {time} THEN NULL{ends} ELSE {reach} END"


def _selected_sql(wanted: Wanted, chain: Chain) -> str:
    if not wanted.conditions:
        return f"{wanted.reach}L"
    rows = frontier(wanted)
    if len(rows) > _MOST_BRANCHES:
        return f"{wanted.reach}L"
    texts = [over_columns(condition, chain.stream) for condition in wanted.conditions]
    if not wanted.parameters:
        return f"CASE WHEN {all_of(texts)} THEN {wanted.reach}L END"
    time = time_sql(chain)
    columns = [
        [*(literal(constants[number]) for constants, _ in rows), f"CAST(NULL AS {type_})"]
        for number, type_ in enumerate(wanted.parameters)
    ]
    reaches = [*(f"{reach}L" for _, reach in rows), "CAST(NULL AS BIGINT)"]
    branches = []
    for position in range(power_of_two(len(rows))):  # so that one query more seldom makes other code
        place = min(position, len(rows))
        condition = all_of(_with_constants(text, columns, place, time) for text in texts)
        branches.append(f"WHEN {condition} THEN {looked_up(reaches, place, time)}")
    return f"CASE {' '.join(branches)} END"


def power_of_two(count: int) -> int:
    """The next power of two."""
    return 1 << max(0, count - 1).bit_length()


def over_columns(condition: Scalar, stream: str) -> str:
    """A condition over the stream's columns by name."""
    return flat_sql(condition, {ref: ColumnRef("", ref.name) for ref in condition.columns if ref.input == stream})


def _with_constants(text: str, columns: list[list[str]], place: int, time: str) -> str:
    for number in range(len(columns), 0, -1):
        text = text.replace(quoted(f"{PARAMETERS}.c{number}"), looked_up(columns[number - 1], place, time))
    return text


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


def counted_ages(chain: Chain) -> tuple[int, ...]:
    """A few ages, spread evenly, for which rows are counted: boundaries, or any where facts end the reach of rows."""
    inner = chain.boundaries[:-1]
    if any(fact.limits for fact in chain.facts):
        inner = tuple(chain.reach * part // _STEPS for part in range(_STEPS))
    if len(inner) <= _STEPS:
        return inner
    return tuple(inner[round(i * (len(inner) - 1) / (_STEPS - 1))] for i in range(_STEPS))
