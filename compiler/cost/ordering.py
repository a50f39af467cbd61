"""The order in which the windows of a multi-way join are probed (Golab & Özsu 2003, section 5)."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, permutations

from penstock.compiler.cost.multiway import Buckets, Streams, check_join, intermediate_size, multiway_cost

Order = tuple[str, ...]
"""Stream names, outermost loop first."""

_MOST_ORDERS = 1_000
"""The heuristic moves fewer fast streams rather than look at many more orders than this."""


def all_orders(streams: Iterable[str]) -> Iterator[Order]:
    """Every join order of the streams, n! of them."""
    return permutations(streams)


def best_order_heuristic(streams: Streams, *, tau: float = 0.0, buckets: Buckets | None = None) -> Order:
    """A good global join order, found without looking at all n! of them.

    It starts with the order that keeps intermediate results smallest: the binary join with the fewest
    results (either of its streams first), then always the stream that adds the fewest. In that order
    the fast streams, those with a rate above the mean, are tried at every higher position, which makes
    on the order of n^f orders for f fast streams. When only some windows have a hash index, it also starts
    with these windows innermost, where loops repeat most often. The cheapest of all the orders looked
    at is returned.
    """
    check_join(streams, tau, buckets)
    considered: dict[Order, None] = {}  # a set that remembers the order, so that ties break the same way
    hashed = buckets or {}
    for start in _smallest_first(streams, tau, hashed):
        hashed_last = tuple(sorted(start, key=lambda name: name in hashed))
        for order in (start, hashed_last):
            considered |= dict.fromkeys(_with_fast_streams_higher(order, streams))
    return min(considered, key=lambda order: multiway_cost(order, streams, tau=tau, buckets=buckets))


def order_for_origin(origin: str, streams: Streams, edges: Mapping[frozenset[str], float]) -> Order:
    """The probe order for the new rows of ``origin`` when the joins are on different attributes.

    ``edges`` is the join graph: it maps each pair of streams that a predicate connects to the larger
    number of distinct values of the two, so that the predicate keeps one row combination in that many.
    The order starts with ``origin``; each further stream is the one, among those connected to a stream
    already joined, that leaves the fewest combinations. A stream connected several times counts with
    its most selective predicate alone, because the others may follow from it. Streams that nothing
    connects are cross products (selectivity 1) and come as late as possible, smallest window first.
    """
    check_join(streams)
    if origin not in streams:
        raise ValueError(f"unknown stream: {origin}")
    for pair, distinct in edges.items():
        if len(pair) != 2 or not pair <= streams.keys():
            raise ValueError(f"not a pair of streams of this join: {', '.join(sorted(pair))}")
        if not distinct >= 1:
            raise ValueError(f"a join needs at least 1 distinct value, not {distinct!r}")

    order = [origin]
    waiting = [name for name in streams if name != origin]
    while waiting:
        fan_out: dict[str, tuple[bool, float]] = {}
        for name in waiting:
            rate, window, _ = streams[name]
            found = [edges[pair] for done in order if (pair := frozenset({done, name})) in edges]
            fan_out[name] = (not found, rate * window / max(found, default=1.0))
        chosen = min(waiting, key=fan_out.__getitem__)
        waiting.remove(chosen)
        order.append(chosen)
    return tuple(order)


def _smallest_first(streams: Streams, tau: float, buckets: Buckets) -> Iterator[Order]:
    """The orders by ascending intermediate size; hashed windows count as one bucket (section 5.3)."""
    if len(streams) < 2:
        yield tuple(streams)
        return
    scanned = {
        name: (rate, (window + tau) / buckets.get(name, 1.0), distinct)
        for name, (rate, window, distinct) in streams.items()
    }
    first, second = min(combinations(scanned, 2), key=lambda pair: intermediate_size(pair, scanned))
    yield _grown((first, second), scanned)
    yield _grown((second, first), scanned)


def _grown(order: Order, streams: Streams) -> Order:
    """The order continued with the stream that adds the fewest intermediate results, until all are in it."""
    while rest := [name for name in streams if name not in order]:
        sizes = {name: intermediate_size((*order, name), streams) for name in rest}
        order = (*order, min(rest, key=sizes.__getitem__))
    return order


def _with_fast_streams_higher(start: Order, streams: Streams) -> list[Order]:
    """The order itself and those with the fast streams moved up, alone and together."""
    mean = sum(rate for rate, _, _ in streams.values()) / len(streams)
    fast = sorted((name for name in start if streams[name][0] > mean), key=lambda name: -streams[name][0])
    orders: dict[Order, None] = {start: None}
    for moved, name in enumerate(fast, 1):
        if len(start) ** moved > _MOST_ORDERS:
            break
        for order in list(orders):
            rest = tuple(other for other in order if other != name)
            for position in range(order.index(name)):
                orders[(*rest[:position], name, *rest[position:])] = None
    return list(orders)
