"""Building chains of slices, against the State-Slice paper's sections 5 to 7.3."""

import random
import time
from itertools import combinations, pairwise, product

import pytest

import penstock.compiler.cost
from penstock.compiler.cost import (
    ChainLoad,
    QueryLoad,
    Selection,
    SharedJoin,
    build_chain,
    chain_through,
    sharing_cost,
)

TABLE_4 = {
    "uniform": [2.5 * k for k in range(1, 13)],
    "mostly-small": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30],
    "small-large": [1, 2, 3, 4, 5, 6, 25, 26, 27, 28, 29, 30],
}
RATES = (20, 40, 60, 80)
S_JOIN = 0.025


def all_paths(n):
    """The nodes of every chain over n windows, 2^(n-1) of them."""
    for size in range(n):
        for inner in combinations(range(1, n), size):
            yield (0, *inner, n)


@pytest.mark.parametrize("windows", TABLE_4.values(), ids=TABLE_4)
def test_the_cpu_chain_is_the_cheapest_of_all_chains(windows):
    paths = list(all_paths(len(windows)))
    assert len(paths) == 2**11
    for rate, csys in product(RATES, (0, 2, 60)):
        settings = {"rate_a": rate, "rate_b": rate, "join_selectivity": S_JOIN, "csys": csys}
        load = ChainLoad.of(windows, **settings)
        length = {(i, j): load.edge_length(i, j) for i, j in combinations(range(13), 2)}
        least = min(sum(length[edge] for edge in pairwise(path)) for path in paths)
        assert build_chain(windows, objective="cpu", **settings).cost == pytest.approx(least, rel=1e-9)


def test_the_cpu_chain_is_the_cheapest_with_selections_too():
    rng = random.Random(6)
    for _ in range(60):
        windows = [rng.randint(1, 9) for _ in range(8)]
        settings = {
            "rate_a": rng.uniform(0.1, 9),
            "rate_b": rng.uniform(0.1, 9),
            "join_selectivity": rng.choice([0.0, 0.05, 0.5]),
            "selectivities": [rng.random() ** 2 for _ in windows],
            "selectivities_b": rng.choice([None, [rng.random() ** 2 for _ in windows]]),
            "csys": rng.choice([0.0, 1.0, 10.0]),
        }
        load = ChainLoad.of(windows, **settings)
        chains = [chain_through(load, path) for path in all_paths(len(load.windows))]
        cheapest = build_chain(windows, objective="cpu", **settings)
        assert cheapest.cost == pytest.approx(min(chain.cost for chain in chains), rel=1e-9)
        finest = build_chain(windows, objective="memory", **settings)
        assert finest.memory == pytest.approx(min(chain.memory for chain in chains), rel=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_uniform_windows_stay_apart_while_operators_are_cheap(rate):
    """Figure 19(a): both chains are the same.

    Two slices of 2.5 s are merged when (1 + csys)·2λ exceeds the routing 2λ²·5·S⋈, above csys = λ/8 - 1.
    """
    windows = TABLE_4["uniform"]
    settings = {"rate_a": rate, "rate_b": rate, "join_selectivity": S_JOIN}
    limit = rate / 8 - 1
    finest = build_chain(windows, objective="memory", **settings)
    assert finest.boundaries == (0, *windows)
    for csys in (0, 0.5, 0.99 * limit):
        assert build_chain(windows, objective="cpu", csys=csys, **settings).boundaries == finest.boundaries
    assert len(build_chain(windows, objective="cpu", csys=1.01 * limit, **settings)) < 12


def test_small_windows_are_merged_first_when_they_are_many():
    """Figure 19(b): the windows up to 10 s share one slice, here at csys = 60."""
    settings = {"rate_a": 20, "rate_b": 20, "join_selectivity": S_JOIN, "csys": 60}
    chain = build_chain(TABLE_4["mostly-small"], objective="cpu", **settings)
    assert chain.slices == ((0, 10), (10, 30))


@pytest.mark.parametrize("rate", RATES)
def test_small_and_large_windows_are_merged_into_two_slices(rate):
    """Figure 19(c): [0, 6] and [6, 30], at csys = 3λ comparisons per row and operator.

    The window of 25 s stays with the five after it when another operator, (1 + csys)·2λ, costs more than
    routing saves by a cut there, 2λ²·S⋈·(24·5 - 5·4); both halves stay apart while it costs less than
    2λ²·S⋈·(30·11 - 6·5 - 24·5). So csys lies between 2.5λ - 1 and 4.5λ - 1: far above the λ/8 - 1
    up to which uniform windows stay unmerged, so that one csys cannot give figures 19(a) and 19(c) both.
    """
    settings = {"rate_a": rate, "rate_b": rate, "join_selectivity": S_JOIN, "objective": "cpu"}
    windows = TABLE_4["small-large"]
    for csys in (2.51 * rate - 1, 3 * rate, 4.49 * rate - 1):
        chain = build_chain(windows, csys=csys, **settings)
        assert chain.slices == ((0, 6), (6, 30))
        assert len(chain) == 2
    assert build_chain(windows, csys=2.49 * rate - 1, **settings).slices == ((0, 6), (6, 25), (25, 30))
    assert build_chain(windows, csys=4.51 * rate - 1, **settings).slices == ((0, 30),)


def test_merging_changes_the_cost_as_figure_13_says():
    """C_p(a) - C_p(b) for the slices J_i … J_j apart and merged into one.

    The purge and routing terms are the paper's. Its overhead term has the factor j - i + 1, the number of
    slices; merging that many into one takes away j - i operators, and this is what is counted here.
    """
    windows = [1, 2.5, 4, 10, 11, 30]
    nodes = [0, *windows]
    rate_a, rate_b, csys = 3.0, 7.0, 1.5
    load = ChainLoad.of(windows, rate_a=rate_a, rate_b=rate_b, join_selectivity=S_JOIN, csys=csys)
    for i, j in combinations(range(1, 7), 2):
        apart = sum(load.edge_length(k - 1, k) for k in range(i, j + 1))
        merged = load.edge_length(i - 1, j)
        difference = (
            (rate_a + rate_b) * (j - i)
            - 2 * rate_a * rate_b * (nodes[j] - nodes[i - 1]) * S_JOIN * (j - i)
            + csys * (j - i) * (rate_a + rate_b)
        )
        assert apart - merged == pytest.approx(difference, rel=1e-9)


def test_edge_length_and_memory_by_hand():
    """λ_A = 2, λ_B = 3, S⋈ = 0.1, csys = 4; half the rows of A reach beyond 1, a tenth beyond 3."""
    load = ChainLoad.of([1, 3, 6], rate_a=2, rate_b=3, join_selectivity=0.1, csys=4, survival=[1.0, 0.5, 0.1])
    assert load.edge_length(0, 1) == pytest.approx(2 * 2 * 3 * 1 + 5 + 20)
    assert load.edge_length(1, 2) == pytest.approx(2 * 1 * 3 * 2 + 5 + 20)
    assert load.edge_length(1, 3) == pytest.approx(2 * 1 * 3 * 5 * (1 + 0.1) + 5 + 20)
    assert load.edge_length(0, 3) == pytest.approx(2 * 2 * 3 * 6 * (1 + 0.2) + 5 + 20)
    assert load.edge_memory(0, 1) == pytest.approx(5 * 1)
    assert load.edge_memory(1, 2) == pytest.approx((1 + 3) * 2)
    assert load.edge_memory(1, 3) == pytest.approx((1 + 3) * 5)  # also the 0.4 per unit that would drop out


def test_without_selections_every_chain_keeps_the_state_of_the_longest_window():
    """Theorem 3: (λ_A + λ_B)·w_N."""
    load = ChainLoad.of([1, 3, 4, 9], rate_a=2, rate_b=3)
    for path in all_paths(4):
        assert chain_through(load, path).memory == pytest.approx(5 * 9)


def test_windows_may_come_in_any_order_and_more_than_once():
    once = build_chain([1, 5, 9])
    assert build_chain(iter([9, 1, 5, 5.0, 1])) == once
    assert once.boundaries == (0, 1, 5, 9)
    assert once.slices == ((0, 1), (1, 5), (5, 9))
    assert len(once) == 3
    assert len(build_chain([7], objective="cpu")) == 1


def test_survival_is_the_disjunction_of_the_selections_that_reach_a_slice():
    """Queries at 2 (s = 0.5), 5 (0.2 and 0.1) and 9 (0.3), given out of order."""
    load = ChainLoad.of([5, 9, 2, 5], selectivities=[0.2, 0.3, 0.5, 0.1])
    beyond_5, beyond_2 = 0.3, 1 - 0.7 * 0.8 * 0.9
    assert load.survival_a == pytest.approx((1 - 0.5 * (1 - beyond_2), beyond_2, beyond_5))
    assert load.survival_b == (1, 1, 1)
    assert ChainLoad.of([1, 2], selectivities=[1.0, 0.4]).survival_a == pytest.approx((1.0, 0.4))


def test_survival_as_numbers_or_as_a_function():
    fractions = {1: 0.9, 2: 0.5, 4: 0.5}
    given = build_chain(fractions, survival=list(fractions.values()), survival_b=[1, 1, 0.5])
    assert given == build_chain(fractions, survival=fractions.__getitem__, survival_b=[1, 1, 0.5])
    assert given.memory == pytest.approx((0.9 + 1) * 1 + (0.5 + 1) * 1 + (0.5 + 0.5) * 2)


def test_the_memory_chain_is_that_of_equation_3():
    chain = build_chain([1, 60], rate_a=10, rate_b=10, selectivities=[1.0, 0.01])
    assert chain.memory == pytest.approx(2 * 10 * 1 + 1.01 * 10 * 59)


def test_auto_takes_the_cpu_chain_unless_it_needs_much_more_memory():
    """Merging keeps all rows of A up to 12 or 10.2 and not just up to 10: 12 % or 1 % more state."""
    settings = {"rate_a": 1, "rate_b": 0.1, "csys": 50}
    for wide, taken in ((12.0, "memory"), (10.2, "cpu")):
        survival = [1.0, 0.3]
        finest, cheapest, auto = (
            build_chain([10, wide], survival=survival, objective=objective, **settings)
            for objective in ("memory", "cpu", "auto")
        )
        assert (len(finest), len(cheapest)) == (2, 1)
        assert (cheapest.memory > 1.1 * finest.memory) is (taken == "memory")
        assert auto == {"memory": finest, "cpu": cheapest}[taken]


def test_chains_and_shared_joins_agree():
    """The part of a chain's cost that both count is the same, whatever the cuts and selections."""
    rng = random.Random(8)
    for _ in range(50):
        windows = rng.sample(range(1, 20), 5)
        accepted = [rng.random() for _ in windows]
        queries = tuple(QueryLoad(w, Selection(str(w), s)) for w, s in zip(windows, accepted, strict=True))
        join = SharedJoin(rng.uniform(1, 9), rng.uniform(1, 9), 0.2, queries)
        load = ChainLoad.of(
            windows, rate_a=join.rate_a, rate_b=join.rate_b, join_selectivity=0.2, selectivities=accepted
        )
        for path in all_paths(5):
            chain = chain_through(load, path)
            cost = sharing_cost(join, "slice", chain=chain.boundaries)
            assert chain.memory == pytest.approx(cost.memory)
            assert chain.cost == pytest.approx(cost.probe + cost.purge + cost.route)


def test_slices_are_not_merged_for_nothing():
    """At λ = 1 and S⋈ = 0.5 merging saves a purge of 2 and routes 2 results."""
    assert len(build_chain([1, 2], join_selectivity=0.5, objective="cpu")) == 2
    assert len(build_chain([1, 2], join_selectivity=0.499, objective="cpu")) == 1


def test_a_thousand_windows_in_well_under_a_second():
    started = time.process_time()
    chain = build_chain(range(1, 1001), rate_a=20, rate_b=20, csys=10, objective="cpu")
    assert time.process_time() - started < 1.0
    assert 1 < len(chain) < 1000


def test_the_package_exports_its_public_names():
    names = penstock.compiler.cost.__all__
    assert {"multiway_cost", "build_chain", "sharing_cost", "order_for_origin"} <= set(names)
    assert all(hasattr(penstock.compiler.cost, name) for name in names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"windows": []}, "at least one window"),
        ({"windows": [0]}, "window"),
        ({"windows": [-1]}, "window"),
        ({"windows": [float("inf")]}, "window"),
        ({"rate_a": -1}, "rate_a"),
        ({"rate_b": float("nan")}, "rate_b"),
        ({"join_selectivity": 2}, "join_selectivity"),
        ({"csys": -1}, "csys"),
        ({"objective": "speed"}, "unknown objective 'speed'"),
        ({"selectivities": [0.5]}, "1 selectivities for 2 windows"),
        ({"selectivities": [0.5, 1.5]}, "selectivity"),
        ({"survival": [0.5]}, "1 survival fractions for 2 distinct"),
        ({"survival": [0.5, 0.6]}, "cannot rise"),
        ({"survival": [1.5, 0.6]}, "survival fraction"),
        ({"survival": [1, 1], "selectivities": [1, 1]}, "not both"),
    ],
)
def test_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        build_chain(**{"windows": [1, 2], **arguments})


def test_invalid_paths_and_edges():
    load = ChainLoad.of([1, 2])
    for path in ((0, 1), (1, 2), (0,), (0, 2, 1, 2)):
        with pytest.raises(ValueError, match="node"):
            chain_through(load, path)
    with pytest.raises(ValueError, match="node 0 to node 3"):
        load.edge_length(0, 3)
