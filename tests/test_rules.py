"""No rule changes an answer: random sets of queries, interpreted before and after every rule."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
import sqlglot

import penstock
from penstock.catalog import load_catalog
from penstock.compiler.estimate import Estimates
from penstock.compiler.optimize import optimize, without
from penstock.compiler.rules import RULES, Context
from penstock.compiler.settings import OBJECTIVES, SHARING, Settings
from penstock.compiler.shared import SharedPlan, Template
from penstock.tests.evaluate import evaluate
from penstock.tests.reference import Answers, Reference, reach_of
from penstock.tests.workloads import CATALOG, ON_ONE, ON_TWO, random_row, random_rows, workload

SEEDS = range(160)
KNOWN = load_catalog(CATALOG)
STRATEGIES = list(product(SHARING, OBJECTIVES))


def _context(sharing: str, objective: str, csys: float = 0.0) -> Context:
    return Context(Settings(sharing=sharing, objective=objective), Estimates(KNOWN, csys=csys))


def _bags(answers: dict[str, Answers]) -> dict[str, list[str]]:
    return {name: sorted(map(repr, found)) for name, found in answers.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_stay_the_same_after_every_rule(seed: int) -> None:
    texts = workload(seed)
    start = SharedPlan(tuple(penstock.compile(texts, catalog=CATALOG).logical.values()))
    reference = Reference(*random_rows(seed))
    expected = _bags(reference.shared_answers(start))
    seen = {start}
    for sharing, objective in STRATEGIES:
        context = _context(sharing, objective, csys=(0.0, 3.0, 1e4)[seed % 3])
        plan = start
        for rule in RULES:
            plan = rule(plan, context)
            if plan not in seen:
                seen.add(plan)
                actual = _bags(reference.shared_answers(plan))
                assert actual == expected, f"{rule.__name__} with {sharing}, {objective}: {texts}"
        if (sharing, objective) == ("slice", "memory"):
            _check_least_state(plan, reference)


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
