"""What N queries over one window join cost under each sharing strategy (Wang et al. 2006, State-Slice).

The paper counts two queries at equal rates (equations 1 to 3, in ``equations.py``); here every operator is
counted for any number of queries, unequal rates and selections on either stream. All rest on these counts:

- a join purges once for every row that comes to it, and a row that enters a chain is counted in all its
  slices, as equation 3 has it, even where a selection would hold it back;
- a router compares a result with every window of its queries but the longest;
- a selection that several queries have is evaluated once for a row or a result, and not at all
  where a row can only have come if it passed;
- a union of a chain's slices is driven by the rows that enter it, which act as punctuations; a union
  of partitions merges results, one comparison each.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from penstock.compiler.cost.partition import partitions
from penstock.compiler.cost.workload import (
    Cost,
    QueryLoad,
    Selection,
    SharedJoin,
    disjunction,
    survival,
)


def sharing_cost(join: SharedJoin, strategy: str, *, chain: Sequence[float] | None = None) -> Cost:
    """The state and the comparisons per unit time of a shared join under a strategy.

    ``none`` gives every query a join of its own behind its selections; ``pull-up`` has one join with the
    longest window, a router and the selections after it; ``push-down`` partitions the streams by the
    selections; ``slice`` is a chain of sliced joins, cut at the boundaries ``chain`` or, when there are
    none, at every window.
    """
    if strategy == "slice":
        return _slice(join, _checked(chain, join) if chain is not None else (0.0, *join.windows))
    if strategy not in _COSTS:
        raise ValueError(f"unknown sharing strategy {strategy!r}: use one of {', '.join(STRATEGIES)}")
    if chain is not None:
        raise ValueError(f"only the strategy 'slice' has a chain, not {strategy!r}")
    return _COSTS[strategy](join)


def _none(join: SharedJoin) -> Cost:
    memory = probe = purge = selecting = 0.0
    for query in join.queries:
        a = join.rate_a * survival(disjunction([query.selection_a]))
        b = join.rate_b * survival(disjunction([query.selection_b]))
        memory += (a + b) * query.window
        probe += 2 * a * b * query.window
        purge += a + b
        selecting += join.rate_a * (query.selection_a is not None)
        selecting += join.rate_b * (query.selection_b is not None)
    return Cost(memory=memory, probe=probe, purge=purge, filter=selecting)


def _pull_up(join: SharedJoin) -> Cost:
    longest = join.windows[-1]
    probe = 2 * join.rate_a * join.rate_b * longest
    results = 2 * join.rate_a * join.rate_b * join.join_selectivity
    return Cost(
        memory=join.rates * longest,
        probe=probe,
        purge=join.rates,
        route=results * longest * (len(join.windows) - 1),
        filter=results * (_ages(join.queries, "a") + _ages(join.queries, "b")),
    )


def _push_down(join: SharedJoin) -> Cost:
    memory = probe = purge = route = selecting = union = 0.0
    feeds = [0] * len(join.queries)
    parts_a = partitions(join.queries, "a")
    parts_b = partitions(join.queries, "b")
    for part_a in parts_a.parts:
        for part_b in parts_b.parts:
            served = part_a.queries & part_b.queries
            if not served:
                continue
            queries = [join.queries[i] for i in sorted(served)]
            window = max(query.window for query in queries)
            a, b = join.rate_a * part_a.fraction, join.rate_b * part_b.fraction
            results = 2 * a * b * join.join_selectivity
            memory += (a + b) * window
            probe += 2 * a * b * window
            purge += a + b
            route += results * window * (len({query.window for query in queries}) - 1)
            selecting += results * (_ages(queries, "a", part_a.passed) + _ages(queries, "b", part_b.passed))
            for i in served:
                feeds[i] += 1
    for query, count in zip(join.queries, feeds, strict=True):
        if count > 1:
            a = join.rate_a * survival(disjunction([query.selection_a]))
            b = join.rate_b * survival(disjunction([query.selection_b]))
            union += 2 * a * b * join.join_selectivity * query.window
    split = join.rate_a * len(parts_a.selections) + join.rate_b * len(parts_b.selections)
    return Cost(memory=memory, probe=probe, purge=purge, route=route, filter=selecting, union=union, split=split)


def _slice(join: SharedJoin, chain: Sequence[float]) -> Cost:
    memory = probe = route = selecting = 0.0
    entering = join.rate_a * survival(disjunction(query.selection_a for query in join.queries))
    entering += join.rate_b * survival(disjunction(query.selection_b for query in join.queries))
    asked_a: frozenset[Selection] = frozenset()
    asked_b: frozenset[Selection] = frozenset()
    for start, end in pairwise(chain):
        reaching = [query for query in join.queries if query.window > start]
        condition_a = disjunction(query.selection_a for query in reaching)
        condition_b = disjunction(query.selection_b for query in reaching)
        asked_a |= condition_a or frozenset()
        asked_b |= condition_b or frozenset()
        a, b = join.rate_a * survival(condition_a), join.rate_b * survival(condition_b)
        results = 2 * a * b * join.join_selectivity
        memory += (a + b) * (end - start)
        probe += 2 * a * b * (end - start)
        route += results * (end - start) * sum(start < window < end for window in join.windows)
        passed_a, passed_b = _only(condition_a), _only(condition_b)
        selecting += results * (_ages(reaching, "a", passed_a, start, end) + _ages(reaching, "b", passed_b, start, end))
    # A row is tagged once with how far it reaches, so that each selection meets it once.
    selecting += join.rate_a * len(asked_a) + join.rate_b * len(asked_b)
    return Cost(
        memory=memory,
        probe=probe,
        purge=entering * (len(chain) - 1),
        route=route,
        filter=selecting,
        union=entering * sum(window > chain[1] for window in join.windows),
    )


def _only(condition: frozenset[Selection] | None) -> frozenset[Selection]:
    """What is known to hold for every row behind a disjunction: its selection, if it has just one."""
    return condition if condition is not None and len(condition) == 1 else frozenset()


def _ages(
    queries: Iterable[QueryLoad],
    stream: str,
    passed: frozenset[Selection] = frozenset(),
    start: float = 0.0,
    end: float = float("inf"),
) -> float:
    """Over all selections not yet decided, the sum of the spans of age in [start, end) they are asked for.

    Times the results per unit of age and time it is how often results are compared with selections.
    """
    longest: dict[Selection, float] = {}
    for query in queries:
        selection: Selection | None = getattr(query, f"selection_{stream}")
        if selection is not None and selection not in passed:
            longest[selection] = max(longest.get(selection, 0.0), query.window)
    return sum(min(window, end) - start for window in longest.values())


def _checked(chain: Sequence[float], join: SharedJoin) -> Sequence[float]:
    if len(chain) < 2 or chain[0] != 0 or chain[-1] != join.windows[-1]:
        raise ValueError(f"a chain runs from 0 to the longest window, {join.windows[-1]}, not {tuple(chain)}")
    if any(end <= start for start, end in pairwise(chain)):
        raise ValueError(f"the boundaries of a chain ascend, unlike {tuple(chain)}")
    return chain


_COSTS: dict[str, Callable[[SharedJoin], Cost]] = {
    "none": _none,
    "pull-up": _pull_up,
    "push-down": _push_down,
}

STRATEGIES = (*_COSTS, "slice")
"""The sharing strategies by name."""
