"""What a shared join would need under each sharing strategy, by the cost model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from penstock.compiler.cost import STRATEGIES, Cost, QueryLoad, Selection, sharing_cost
from penstock.compiler.cost import SharedJoin as JoinLoad
from penstock.compiler.estimate import Estimates
from penstock.compiler.explain.words import with_constants
from penstock.compiler.logical import RelationScan, StreamScan
from penstock.compiler.output import seconds
from penstock.compiler.shared import Chain, Member, SharedJoin, SharedPlan, Template, inputs_of
from penstock.compiler.survival import match_fraction, survival

SECOND = 1_000_000
MOST_WINDOWS = 100
"""Push-down makes a join for every pair of partitions; for more windows than this they are not counted."""


@dataclass(frozen=True)
class Prediction:
    """Rows kept and comparisons a second; None where the model does not say."""

    strategy: str
    rows: float | None
    comparisons: float | None


def predicted_rows(plan: SharedPlan, estimates: Estimates) -> float:
    """The rows that all chains keep: of each age, those that some query still wants."""
    return sum(_kept_between(chain, 0, chain.reach, estimates) for chain in plan.chains)


def rows_of_ages(chain: Chain, start: int, end: int, estimates: Estimates) -> float:
    """The rows of a chain's stream between two ages, wanted or not."""
    return float(end - start) if chain.rows else estimates.rate(chain.stream) * (end - start) / SECOND


def slice_rows(chain: Chain, start: int, end: int, estimates: Estimates) -> float:
    """The rows that a slice keeps; of a partitioned chain, those of any age that reach just its end."""
    if not chain.partitioned:
        return _kept_between(chain, start, end, estimates)
    reaching, longer = survival(chain, end, estimates), survival(chain, end + 1, estimates)
    return rows_of_ages(chain, 0, end, estimates) * (reaching - longer)


def _kept_between(chain: Chain, start: int, end: int, estimates: Estimates) -> float:
    """Of each age, the rows that some query still wants."""
    inner = (window for window in chain.windows if start < window < end)
    return sum(
        rows_of_ages(chain, a, b, estimates) * survival(chain, b, estimates) for a, b in pairwise((start, *inner, end))
    )


def predicted_work(plan: SharedPlan, estimates: Estimates, strategy: str) -> float | None:
    """The comparisons a second of all joins; None if the model does not say."""
    total = 0.0
    for join in plan.joins:
        chosen = next(p for p in predict(join, plan, estimates) if p.strategy == strategy)
        if chosen.comparisons is None:
            return None
        total += chosen.comparisons
    return total


def predict(join: SharedJoin, plan: SharedPlan, estimates: Estimates) -> tuple[Prediction, ...]:
    """The join's state and work under every strategy, for the queries that share it now."""
    templates = [t for t in plan.templates if (t.shape.scope, t.shape.source) == (join.scope, join.source)]
    if len(join.streams) == 2 and len(inputs_of(join.source)) == 2:
        return tuple(_two_streams(join, templates, estimates))
    return tuple(_many_streams(join, templates, estimates))


def _two_streams(join: SharedJoin, templates: list[Template], estimates: Estimates) -> Iterator[Prediction]:
    first, second = join.streams
    rates = (estimates.rate(first.stream), estimates.rate(second.stream))
    queries = [_load(template, member, join, rates, estimates) for template in templates for member in template.members]
    load = JoinLoad(*rates, match_fraction(join, estimates), tuple(queries))
    for strategy in STRATEGIES:
        if strategy == "push-down" and len(load.windows) > MOST_WINDOWS:
            yield Prediction(strategy, None, None)
        else:
            cost: Cost = sharing_cost(load, strategy)
            yield Prediction(strategy, cost.memory, cost.total)


def _load(
    template: Template, member: Member, join: SharedJoin, rates: tuple[float, float], estimates: Estimates
) -> QueryLoad:
    """A query's windows as one, the mean by rate, and its selections."""
    lengths = [seconds(window, rate) for window, rate in zip(member.windows, rates, strict=True)]
    window = sum(length * rate for length, rate in zip(lengths, rates, strict=True)) / sum(rates)
    selections = [
        Selection(with_constants(conditions, member.constants), estimates.selectivity(scan.stream, conditions))
        if conditions
        else None
        for scan, conditions in zip(join.streams, template.shape.selections, strict=True)
    ]
    return QueryLoad(window, *selections)


def _many_streams(join: SharedJoin, templates: list[Template], estimates: Estimates) -> Iterator[Prediction]:
    """Joins of more streams, or with relations: each query alone, and all of them over the longest windows.

    With selections pushed into the chains the state is that of the slices; the comparisons are at most those of
    the unsliced join. Partitioned streams are not counted.
    """
    scans = join.streams
    positions = [i for i, scan in enumerate(inputs_of(join.source)) if isinstance(scan, StreamScan)]
    rates = [estimates.rate(scan.stream) for scan in scans]
    alone_rows = alone_work = 0.0
    reaches: list[list[tuple[float, float]]] = [[] for _ in scans]  # window, selectivity
    for template in templates:
        fractions = [
            estimates.selectivity(scan.stream, template.shape.selections[position])
            for scan, position in zip(scans, positions, strict=True)
        ]
        for member in template.members:
            windows = [seconds(member.windows[p], rate) for p, rate in zip(positions, rates, strict=True)]
            selected = [rate * fraction for rate, fraction in zip(rates, fractions, strict=True)]
            alone_rows += sum(rate * window for rate, window in zip(selected, windows, strict=True))
            alone_work += _work(join, selected, windows, estimates)
            for reach, window, fraction in zip(reaches, windows, fractions, strict=True):
                reach.append((window, fraction))
    longest = [max(window for window, _ in reach) for reach in reaches]
    whole = _work(join, rates, longest, estimates)
    sliced = sum(rate * _kept(reach) for rate, reach in zip(rates, reaches, strict=True))
    if len(scans) == 1:  # a row meets the relations when it comes, and is done with
        alone_rows, sliced, longest = 0.0, 0.0, [0.0]
    yield Prediction("none", alone_rows, alone_work)
    yield Prediction("pull-up", sum(r * w for r, w in zip(rates, longest, strict=True)), whole)
    yield Prediction("push-down", None, None)
    yield Prediction("slice", sliced, min(whole, alone_work))


def _kept(reaches: list[tuple[float, float]]) -> float:
    """Rows kept for each row a second: the part still wanted, summed over all ages; selections count as independent."""
    total = 0.0
    for start, end in pairwise(sorted({0.0, *(window for window, _ in reaches)})):
        rejected = 1.0
        for fraction in {fraction for window, fraction in reaches if window > start}:
            rejected *= 1.0 - fraction
        total += (1.0 - rejected) * (end - start)
    return total


def probed(join: SharedJoin, plan: SharedPlan, estimates: Estimates) -> float:
    """Matches a second that all origins find on their way, each probing in its order by hash.

    This is what orders are chosen by: nested loops, which the papers compare strategies with, are not how it is run.
    """
    rates = [estimates.rate(scan.stream) for scan in join.streams]
    longest = [0.0] * len(rates)
    for template in plan.templates:
        if (template.shape.scope, template.shape.source) == (join.scope, join.source):
            for place, (position, _) in enumerate(template.shape.streams):
                own = (seconds(member.windows[position], rates[place]) for member in template.members)
                longest[place] = max(longest[place], *own)
    return _work(join, rates, longest, estimates, hashed=True)


def _work(
    join: SharedJoin, rates: list[float], windows: list[float], estimates: Estimates, *, hashed: bool = False
) -> float:
    """Comparisons a second of all origins, each probing in its order by nested loops, or by hash."""
    sizes: dict[str, float] = {}
    rate_of: dict[str, float] = {}
    for scan, rate, window in zip(join.streams, rates, windows, strict=True):
        sizes[scan.alias], rate_of[scan.alias] = rate * window, rate
    for relation in inputs_of(join.source):
        if isinstance(relation, RelationScan):
            sizes[relation.alias] = estimates.rows(relation.relation)
    edges: dict[frozenset[str], float] = {}
    for key in join.source.keys:
        for left, right in combinations(key.parts, 2):
            distinct = max(estimates.distinct_of(join.source, part) for part in (left, right))
            edges[left.inputs | right.inputs] = distinct
    total = 0.0
    for order in join.orders:
        partial = rate_of[order[0]]
        for position, name in enumerate(order[1:], 1):
            compared = partial * sizes[name]
            known = [edges[pair] for done in order[:position] if (pair := frozenset({done, name})) in edges]
            partial *= sizes[name] / max(known, default=1.0)
            total += partial if hashed else compared
    return total
