"""No rule changes an answer: random sets of queries, interpreted before and after every rule."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

import penstock
from penstock.catalog import load_catalog
from penstock.compiler.estimate import Estimates, Measured
from penstock.compiler.optimize import optimize, without
from penstock.compiler.rules import RULES, Context, Rule
from penstock.compiler.rules.group_queries import group_queries
from penstock.compiler.settings import OBJECTIVES, SHARING, Settings
from penstock.compiler.shared import SharedPlan, Template
from penstock.tests.evaluate import SECOND
from penstock.tests.reference import Answers, Reference, reach_of
from penstock.tests.workloads import CATALOG, random_rows, workload

SEEDS = range(160)
KNOWN = load_catalog(CATALOG)
STRATEGIES = list(product(SHARING, OBJECTIVES))


def _context(sharing: str, objective: str, csys: float = 0.0) -> Context:
    return Context(Settings(sharing=sharing, objective=objective), Estimates(KNOWN, Measured(csys=csys)))


def _bags(answers: dict[str, Answers]) -> dict[str, list[str]]:
    return {name: sorted(map(repr, found)) for name, found in answers.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_stay_the_same_after_every_rule(seed: int) -> None:
    texts = workload(seed)
    plan = SharedPlan(tuple(penstock.compile(texts, catalog=CATALOG).logical.values()))
    reference = Reference(*random_rows(seed))
    expected = _bags(reference.shared_answers(plan))
    seen = {plan}

    def applied(rules: tuple[Rule, ...], plan: SharedPlan, context: Context) -> SharedPlan:
        for rule in rules:
            plan = rule(plan, context)
            if plan not in seen:
                seen.add(plan)
                actual = _bags(reference.shared_answers(plan))
                assert actual == expected, f"{rule.__name__} with {context.settings}: {texts}"
        return plan

    first = RULES.index(group_queries)  # the rules before it see each query alone, whatever the settings
    plan = applied(RULES[:first], plan, Context())
    for sharing, objective in STRATEGIES:
        whole = applied(RULES[first:], plan, _context(sharing, objective, csys=(0.0, 3.0, 1e4)[seed % 3]))
        if (sharing, objective) == ("slice", "memory"):
            _check_least_state(whole, reference)


def _check_least_state(plan: SharedPlan, reference: Reference) -> None:
    """A row goes as far down its chain as the longest window of a query that accepts it, and no further."""
    alone = [
        replace(plan, templates=(Template(template.shape, (member,)),))
        for template in plan.templates
        for member in template.members
    ]
    for chain in plan.chains:
        own = [
            other
            for single in alone
            for other in optimize((), _context("slice", "memory"), single).plan.chains
            if (other.stream, other.rows) == (chain.stream, chain.rows)
        ]
        for row in reference.rows[chain.stream]:
            reaches = [reach for other in own if (reach := reach_of(other, row)) is not None]
            assert reach_of(chain, row) == max(reaches, default=None)
            assert max(reaches, default=0) in chain.boundaries


def _row(ts: float, **values: object) -> dict[str, object]:
    return {"k": 1, "v": 1.0, "s": "a", "n": 1, **values, "ts": int(ts * SECOND)}


# Queries and rows for what random ones hardly meet.
CORNERS = {
    "both zeros are one group": (
        ["SELECT v, COUNT(*) AS c FROM Heat GROUP BY v HAVING CAST(v AS STRING) = '0.0' WINDOW 2 sec"],
        {"Heat": [_row(0, v=-0.0), _row(1, v=0.0)]},
    ),
    "a sum overflows in one stream's type alone": (
        ["SELECT a.v FROM Heat a, Load b WHERE a.k = b.k AND b.k + 2147483647 > 0 WINDOW 1 min"],
        {"Heat": [_row(0)], "Load": [_row(1)]},
    ),
    "constants of two types in conditions that read alike": (
        ["SELECT a.v FROM Heat a, Damp b WHERE a.k = b.k AND a.n < 5 WINDOW 1 min",
         "SELECT a.v FROM Heat a, Damp b WHERE a.k = b.k AND a.n < 5.5 WINDOW 2 min"],
        {"Heat": [_row(0, n=5)], "Damp": [_row(90)]},
    ),
    "rows at the same time leave a count window at once": (
        ["SELECT v FROM Heat WINDOW 2 ROWS", "SELECT a.v FROM Heat a [ROWS 1], Heat b [ROWS 3] WHERE a.k = b.k"],
        {"Heat": [_row(1, v=float(number)) for number in range(4)]},
    ),
    "a window ends before its length": (
        ["SELECT a.v FROM Heat a, Damp b WHERE a.k = b.k WINDOW 1 sec",
         "SELECT a.v FROM Heat a, Damp b WHERE a.k = b.k WINDOW 1001 ms"],
        {"Heat": [_row(0)], "Damp": [_row(1)]},
    ),
    "a query over the results of another": (
        ["SELECT a.k, b.v FROM Heat a, Damp b WHERE a.k = b.k WINDOW 1 sec",
         "SELECT x.v, y.v AS w FROM q1 x, Load y WHERE x.k = y.k AND x.v > 1 WINDOW 2 sec",
         "SELECT MAX(_ts) AS last, COUNT(*) AS c FROM q1 WINDOW 5 sec SLIDE 2 sec"],
        {"Heat": [_row(0), _row(0.5)], "Damp": [_row(0.9, v=2.0), _row(1.2)], "Load": [_row(2.5)]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CORNERS)
@pytest.mark.parametrize("sharing", SHARING)
def test_corners(name: str, sharing: str) -> None:
    texts, rows = CORNERS[name]
    queries = penstock.compile({f"q{n}": text for n, text in enumerate(texts, 1)}, catalog=CATALOG).logical
    reference = Reference(dict(rows), {})
    expected = {}
    for query in queries.values():
        expected[query.name] = found = reference.answers(query)
        names = [ref.name for ref in query.schema]
        reference.rows[query.name] = [{**dict(zip(names, row, strict=True)), "_ts": ts} for ts, row in found]
    assert any(expected.values())
    plan = SharedPlan(tuple(queries.values()))
    for rule in RULES:
        plan = rule(plan, _context(sharing, "memory"))
        assert _bags(reference.shared_answers(plan)) == _bags(expected), rule.__name__


def _as_sets(plan: SharedPlan) -> tuple[object, ...]:
    """A plan without the order of its templates and their members."""
    templates = {(template.shape, frozenset(template.members)) for template in plan.templates}
    return templates, set(plan.joins), set(plan.chains)


@pytest.mark.parametrize("seed", SEEDS)
def test_adding_and_dropping_give_the_plan_from_scratch(seed: int) -> None:
    rng = random.Random(seed)
    queries = list(penstock.compile(workload(seed), catalog=CATALOG).logical.values())
    context = _context(*rng.choice(STRATEGIES))
    first = rng.sample(queries, rng.randint(0, len(queries)))
    added = [query for query in queries if query not in first]
    whole, part = optimize(queries, context).plan, optimize(first, context).plan
    assert _as_sets(optimize(added, context, base=part).plan) == _as_sets(whole)
    assert _as_sets(without(whole, [query.name for query in added], context).plan) == _as_sets(part)


@pytest.mark.parametrize("seed", SEEDS)
def test_probe_orders_start_with_their_stream_and_name_every_input_once(seed: int) -> None:
    queries = penstock.compile(workload(seed), catalog=CATALOG).logical.values()
    for join in optimize(queries, _context("slice", "memory")).plan.joins:
        assert [order[0] for order in join.orders] == [scan.alias for scan in join.streams]
        assert all(sorted(order) == sorted(scan.alias for scan in join.source.inputs) for order in join.orders)
