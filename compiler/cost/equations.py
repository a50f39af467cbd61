"""The equations of the State-Slice paper (Wang et al. 2006), for its two queries and equal rates.

Q1 joins A and B with window W_1, Q2 joins σ(A) and B with window W_2 > W_1; both streams have the rate λ,
σ has the selectivity S_σ and the join S⋈. Memory is in rows (M_t = 1).
"""

from dataclasses import dataclass

from penstock.compiler.cost._check import fraction, non_negative
from penstock.compiler.cost.workload import Cost


def equation_1(rate: float, w1: float, w2: float, s_sigma: float, s_join: float) -> Cost:
    """Naive sharing with the selection pulled up."""
    _check(rate, w1, w2, s_sigma, s_join)
    return Cost(
        memory=2 * rate * w2,
        probe=2 * rate**2 * w2,
        purge=2 * rate,
        route=2 * rate**2 * w2 * s_join,
        filter=2 * rate**2 * w2 * s_join,
    )


def equation_2(rate: float, w1: float, w2: float, s_sigma: float, s_join: float) -> Cost:
    """Stream partition with the selection pushed down."""
    _check(rate, w1, w2, s_sigma, s_join)
    return Cost(
        memory=(2 - s_sigma) * rate * w1 + (1 + s_sigma) * rate * w2,
        split=rate,
        probe=2 * (1 - s_sigma) * rate**2 * w1 + 2 * s_sigma * rate**2 * w2,
        purge=3 * rate,
        route=2 * s_sigma * rate**2 * w2 * s_join,
        union=2 * rate**2 * w1 * s_join,
    )


def equation_3(rate: float, w1: float, w2: float, s_sigma: float, s_join: float) -> Cost:
    """State-slice sharing: a chain of two sliced joins with the selection between them.

    The purge term is 4λ: each of the two slices is purged by the rows of both streams, as the one join of
    equation 1 is at 2λ, and as section 5.1 counts another purge per row for every further slice. The
    text of the paper reads "+ + λ" at this place, which no count of purges gives; a misprinted 4λ is the
    likely cause. The selection does not lessen it: rows that σ holds back are counted too.
    """
    _check(rate, w1, w2, s_sigma, s_join)
    return Cost(
        memory=2 * rate * w1 + (1 + s_sigma) * rate * (w2 - w1),
        probe=2 * rate**2 * w1 + 2 * rate**2 * s_sigma * (w2 - w1),
        purge=4 * rate,
        filter=rate + 2 * rate**2 * s_join * w1,
        union=2 * rate,
    )


@dataclass(frozen=True)
class Savings:
    """The fractions of memory and comparisons that slicing saves against the other two strategies."""

    memory_pull_up: float
    memory_push_down: float
    cpu_pull_up: float
    cpu_push_down: float


def equation_4(rho: float, s_sigma: float, s_join: float) -> Savings:
    """What slicing saves at the window ratio ρ = W_1 / W_2, without the terms linear in the rate."""
    if not 0 < rho < 1:
        raise ValueError(f"rho must be between 0 and 1, not {rho!r}")
    fraction("s_sigma", s_sigma)
    fraction("s_join", s_join)
    pushed = rho * (1 - s_sigma) + s_sigma + s_sigma * s_join + rho * s_join
    return Savings(
        memory_pull_up=(1 - rho) * (1 - s_sigma) / 2,
        memory_push_down=rho / (1 + 2 * rho + (1 - rho) * s_sigma),
        cpu_pull_up=((1 - rho) * (1 - s_sigma) + (2 - rho) * s_join) / (1 + 2 * s_join),
        cpu_push_down=s_sigma * s_join / pushed,
    )


def _check(rate: float, w1: float, w2: float, s_sigma: float, s_join: float) -> None:
    non_negative("rate", rate)
    fraction("s_sigma", s_sigma)
    fraction("s_join", s_join)
    if not 0 < w1 < w2:
        raise ValueError(f"the windows must be 0 < w1 < w2, not {w1!r} and {w2!r}")
