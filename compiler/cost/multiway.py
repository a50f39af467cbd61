"""What a multi-way window join costs per unit time (Golab & Özsu 2003, section 4 and appendix A).

Each stream i has an arrival rate λ_i, a window of length T_i and v_i distinct join values; its window
holds λ_i·T_i rows. All streams are joined on one attribute with containment of value sets, so that a join
keeps the smallest number of distinct values among its inputs. Costs count comparisons.

Eager evaluation (τ = 0) handles every row when it arrives. Lazy evaluation handles the new rows of τ time
units at once, and because rows expire at that pace too, every window is longer by τ.
"""

import math
from collections.abc import Mapping, Sequence

from penstock.compiler.cost._check import non_negative

Streams = Mapping[str, tuple[float, float, float]]
"""The streams of a join by name: (rate λ, window T, distinct values v)."""

Buckets = Mapping[str, float]
"""The number of hash buckets b of the streams that have a hash index."""


def intermediate_size(names: Sequence[str], streams: Streams, tau: float = 0.0) -> float:
    """φ: how many rows the join of the named windows has, whatever the order they are joined in.

    Each join divides by the larger number of distinct values and keeps the smaller, so that in the end
    every number but the smallest has been a divisor. A single name gives the rows in that window.
    """
    check_join(streams, tau)
    _check_names(names, streams)
    chosen = [streams[name] for name in names]
    smallest = min(distinct for _, _, distinct in chosen)
    return smallest * math.prod(rate * (window + tau) / distinct for rate, window, distinct in chosen)


def multiway_cost(order: Sequence[str], streams: Streams, *, tau: float = 0.0, buckets: Buckets | None = None) -> float:
    """Comparisons per unit time of the multi-way join with the global join order ``order``.

    New rows always come first: rows of stream i are joined with the other windows in the global order
    (C_i of appendix A, or L_i when ``tau`` is above zero). A stream in ``buckets`` is scanned one hash
    bucket at a time, T/b instead of T; the others by nested loops, so the two can be mixed.
    """
    check_join(streams, tau, buckets)
    _check_order(order, streams)
    return sum(_origin_cost(origin, _origin_first(origin, order), streams, tau, buckets or {}) for origin in order)


def general_cost(order_by_origin: Mapping[str, Sequence[str]], streams: Streams, *, tau: float = 0.0) -> float:
    """Comparisons per unit time when the new rows of each stream have a join order of their own.

    ``order_by_origin`` gives for every stream the full order in which its new rows are joined, and the
    new rows need not come first in it (G_i of appendix A, or H_i when ``tau`` is above zero).
    """
    check_join(streams, tau)
    if set(order_by_origin) != set(streams):
        raise ValueError("there must be exactly one join order for each stream")
    for order in order_by_origin.values():
        _check_order(order, streams)
    return sum(_origin_cost(origin, order, streams, tau, {}) for origin, order in order_by_origin.items())


def naive_cost(order: Sequence[str], streams: Streams, *, tau: float = 0.0) -> float:
    """Comparisons per unit time when every new row is joined in the same order, wherever it came from."""
    return general_cost(dict.fromkeys(streams, order), streams, tau=tau)


def origin_cost(
    origin: str, order: Sequence[str], streams: Streams, *, tau: float = 0.0, buckets: Buckets | None = None
) -> float:
    """Comparisons per unit time of the new rows of one stream alone, joined in exactly this order.

    It is C_i or L_i of appendix A when ``origin`` comes first, and G_i or H_i wherever it comes.
    """
    check_join(streams, tau, buckets)
    _check_order(order, streams)
    if origin not in streams:
        raise ValueError(f"unknown stream: {origin}")
    return _origin_cost(origin, order, streams, tau, buckets or {})


def _origin_first(origin: str, order: Sequence[str]) -> tuple[str, ...]:
    return (origin, *(name for name in order if name != origin))


def _origin_cost(origin: str, order: Sequence[str], streams: Streams, tau: float, buckets: Buckets) -> float:
    """The cost per unit time of the new rows of one stream: nested loops, outermost first.

    A round handles one row and there are λ rounds per unit time (eager), or it handles the λ·τ rows of
    the last τ time units and there are 1/τ rounds (lazy).
    """
    rate = streams[origin][0]
    new_rows, rounds = (rate * tau, 1 / tau) if tau > 0 else (1.0, rate)
    comparisons = 0.0
    partial = 1.0  # rows of the join of the loops so far
    distinct = 1.0
    for depth, name in enumerate(order):
        other_rate, window, values = streams[name]
        rows = new_rows if name == origin else other_rate * (window + tau)
        if depth == 0:  # nothing to compare with yet
            partial, distinct = rows, values
            continue
        comparisons += partial * rows / buckets.get(name, 1.0)
        partial *= rows / max(distinct, values)
        distinct = min(distinct, values)
    return rounds * comparisons


def check_join(streams: Streams, tau: float = 0.0, buckets: Buckets | None = None) -> None:
    """Refuse streams, an interval or hash buckets that cannot be."""
    non_negative("tau", tau)
    if not streams:
        raise ValueError("a join needs at least one stream")
    for name, (rate, window, distinct) in streams.items():
        non_negative(f"the rate of {name}", rate)
        non_negative(f"the window of {name}", window)
        if not (math.isfinite(distinct) and distinct >= 1):
            raise ValueError(f"{name} must have at least 1 distinct value, not {distinct!r}")
    for name, count in (buckets or {}).items():
        if name not in streams:
            raise ValueError(f"hash buckets for an unknown stream: {name}")
        if not count >= 1:
            raise ValueError(f"{name} must have at least 1 hash bucket, not {count!r}")


def _check_names(names: Sequence[str], streams: Streams) -> None:
    if not names:
        raise ValueError("no streams are named")
    unknown = [name for name in names if name not in streams]
    if unknown:
        raise ValueError(f"unknown streams: {', '.join(unknown)}")
    if len(set(names)) != len(names):
        raise ValueError(f"a stream is named twice: {', '.join(names)}")


def _check_order(order: Sequence[str], streams: Streams) -> None:
    _check_names(order, streams)
    missing = [name for name in streams if name not in order]
    if missing:
        raise ValueError(f"the join order leaves out {', '.join(missing)}")
