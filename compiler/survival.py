"""How much of a stream is still wanted at an age, and how many pairs of rows match."""

from __future__ import annotations

from penstock.compiler.estimate import Estimates
from penstock.compiler.scalar import Scalar, comparison_of
from penstock.compiler.shared import Chain, SharedJoin, Wanted

_RANGES = ("<", "<=", ">", ">=")


def survival(chain: Chain, age: float, estimates: Estimates) -> float:
    """The fraction of a stream's rows that some query wants at this age or later; shapes count as independent."""
    rejected = 1.0
    for wanted in chain.wanted:
        rejected *= 1.0 - _accepted(wanted, sum(reach >= age for _, reach in wanted.rows), chain.stream, estimates)
    return 1.0 - rejected


def _accepted(wanted: Wanted, count: int, stream: str, estimates: Estimates) -> float:
    """The fraction of rows that meet the conditions for one of `count` sets of constants.

    Ranges that are open on the same side are inside one another, so that many accept what the widest accepts;
    anything else counts as independent.
    """
    if count == 0:
        return 0.0
    if not wanted.conditions:
        return 1.0
    one = estimates.selectivity(stream, wanted.conditions)
    return one if all(map(is_range, wanted.conditions)) else 1.0 - (1.0 - one) ** count


def is_range(condition: Scalar) -> bool:
    """Whether a condition is a range that is open on one side."""
    return comparison_of(condition)[0] in _RANGES


def match_fraction(join: SharedJoin, estimates: Estimates) -> float:
    """The fraction of all pairs of rows that agree in the keys."""
    fraction = 1.0
    for key in join.source.keys:
        fraction /= max(estimates.distinct_of(join.source, part) for part in key.parts)
    return fraction
