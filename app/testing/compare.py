"""Results beside those that were expected: bags of rows, in which numbers may be a little apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from penstock.testing.model import Difference, Row
from penstock.testing.values import is_close, is_exact

_PAIRED = 50
"""For so many rows that are missing, one that is like it is looked for."""


def compare(expected: Sequence[Row], came: Sequence[Row], types: Sequence[str], tolerance: float = 0.0) -> Difference:
    """What is missing of the expected rows, and what came beside them; equal rows count each.

    >>> compare([(1, "a"), (2, "b")], [(2, "b"), (2, "b"), (1, "c")], ["int", "string"])
    Difference(missing=(), unexpected=((2, 'b'),), near=(((1, 'a'), (1, 'c')),))
    """
    wanted, found = Counter(expected), Counter(came)
    missing, unexpected = list((wanted - found).elements()), list((found - wanted).elements())
    if not all(map(is_exact, types)):
        missing, unexpected = _without_close(missing, unexpected, types, tolerance)
    near = []
    for row in sorted(missing, key=_order)[:_PAIRED]:
        like = max(unexpected, key=lambda other: _likeness(row, other, types, tolerance), default=None)
        if like is not None and _likeness(row, like, types, tolerance) > 0:
            near.append((row, like))
            missing.remove(row)
            unexpected.remove(like)
    return Difference(tuple(sorted(missing, key=_order)), tuple(sorted(unexpected, key=_order)), tuple(near))


def _without_close(
    missing: list[Row], unexpected: list[Row], types: Sequence[str], tolerance: float
) -> tuple[list[Row], list[Row]]:
    """Both without as many pairs as can be made of rows that count as the same."""
    exact = [place for place, type_ in enumerate(types) if is_exact(type_)]
    alike: dict[Row, list[int]] = defaultdict(list)
    for number, row in enumerate(unexpected):
        alike[tuple(row[place] for place in exact)].append(number)
    partner: dict[int, int] = {}

    def pair(number: int, tried: set[int]) -> bool:
        """Find a partner for a missing row, if need be by finding another one for the row that has it."""
        row = missing[number]
        for other in alike[tuple(row[place] for place in exact)]:
            if other in tried or not _is_same(row, unexpected[other], types, tolerance):
                continue
            tried.add(other)
            if other not in partner or pair(partner[other], tried):
                partner[other] = number
                return True
        return False

    left = [row for number, row in enumerate(missing) if not pair(number, set())]
    return left, [row for number, row in enumerate(unexpected) if number not in partner]


def _is_same(row: Row, other: Row, types: Sequence[str], tolerance: float) -> bool:
    return all(is_close(a, b, type_, tolerance) for a, b, type_ in zip(row, other, types, strict=True))


def _likeness(row: Row, other: Row, types: Sequence[str], tolerance: float) -> int:
    """How many columns are the same."""
    return sum(is_close(a, b, type_, tolerance) for a, b, type_ in zip(row, other, types, strict=True))


def differing(row: Row, other: Row, types: Sequence[str], tolerance: float) -> list[int]:
    """The places of the columns in which two rows differ."""
    pairs = enumerate(zip(row, other, types, strict=True))
    return [place for place, (a, b, type_) in pairs if not is_close(a, b, type_, tolerance)]


def _order(row: Row) -> tuple[tuple[bool, str], ...]:
    return tuple((value is not None, str(value)) for value in row)
