"""The cost of sharing a join, against the equations and settings of the State-Slice paper."""

import random
from dataclasses import asdict
from itertools import product

import pytest

from penstock.compiler.cost import (
    STRATEGIES,
    QueryLoad,
    Selection,
    SharedJoin,
    equation_1,
    equation_2,
    equation_3,
    equation_4,
    sharing_cost,
)

GRID = list(
    product(
        (0.5, 20.0, 80.0),  # λ
        ((1.0, 60.0), (5.0, 30.0), (29.0, 30.0)),  # W_1, W_2
        (0.0, 0.01, 0.3, 0.8, 1.0),  # S_σ
        (0.0, 0.025, 0.4, 1.0),  # S⋈
    )
)
PRINTED = {"pull-up": equation_1, "push-down": equation_2, "slice": equation_3}


def two_queries(rate, windows, s_sigma, s_join):
    w1, w2 = windows
    return SharedJoin(rate, rate, s_join, (QueryLoad(w1), QueryLoad(w2, Selection("σ", s_sigma))))


def random_join(rng):
    """Any number of queries, with selections on either stream, some of them the same."""
    pool = {stream: [Selection(f"{stream}{k}", rng.random()) for k in range(4)] for stream in "ab"}
    queries = tuple(
        QueryLoad(
            rng.randint(1, 12),
            rng.choice([None, *pool["a"]]),
            rng.choice([None, *pool["b"]]),
        )
        for _ in range(rng.randint(1, 7))
    )
    return SharedJoin(rng.uniform(1, 50), rng.uniform(1, 50), rng.random(), queries)


@pytest.mark.parametrize("strategy", PRINTED)
def test_equations_1_to_3_term_by_term(strategy):
    for rate, windows, s_sigma, s_join in GRID:
        found = sharing_cost(two_queries(rate, windows, s_sigma, s_join), strategy)
        printed = PRINTED[strategy](rate, *windows, s_sigma, s_join)
        assert asdict(found) == pytest.approx(asdict(printed), rel=1e-9)
        assert found.total == pytest.approx(printed.total, rel=1e-9)


def test_totals_as_the_paper_writes_them():
    """Equation 3 reads "+ + λ" where the purges stand; with 4λ there, what we count is 3λ more.

    Two slices purged by two streams are 4λ; the same paper has 2λ for the one join of equation 1.
    """
    for lam, (w1, w2), s, sj in GRID:
        pull_up = 2 * lam**2 * w2 + 2 * lam + 2 * lam**2 * w2 * sj + 2 * lam**2 * w2 * sj
        probes = 2 * (1 - s) * lam**2 * w1 + 2 * s * lam**2 * w2
        push_down = lam + probes + 3 * lam + 2 * s * lam**2 * w2 * sj + 2 * lam**2 * w1 * sj
        as_read = 2 * lam**2 * w1 + lam + 2 * lam**2 * s * (w2 - w1) + lam + 2 * lam + 2 * lam**2 * sj * w1
        assert equation_1(lam, w1, w2, s, sj).total == pytest.approx(pull_up, rel=1e-9)
        assert equation_2(lam, w1, w2, s, sj).total == pytest.approx(push_down, rel=1e-9)
        assert equation_3(lam, w1, w2, s, sj).total == pytest.approx(as_read + 3 * lam, rel=1e-9)


def test_equation_4_follows_from_equations_1_to_3():
    """C_p = aλ² + bλ, so C_p(2λ) - 2·C_p(λ) = 2aλ²: the terms linear in λ are gone, as in the paper."""

    def quadratic(equation, rate, *rest):
        return equation(2 * rate, *rest).total - 2 * equation(rate, *rest).total

    def saving(other, own):
        return (other - own) / other

    for rate, (w1, w2), s, sj in GRID:
        memory = [e(rate, w1, w2, s, sj).memory for e in PRINTED.values()]
        cpu = [quadratic(e, rate, w1, w2, s, sj) for e in PRINTED.values()]
        savings = equation_4(w1 / w2, s, sj)
        assert saving(memory[0], memory[2]) == pytest.approx(savings.memory_pull_up, rel=1e-9, abs=1e-9)
        assert saving(memory[1], memory[2]) == pytest.approx(savings.memory_push_down, rel=1e-9)
        assert saving(cpu[0], cpu[2]) == pytest.approx(savings.cpu_pull_up, rel=1e-9, abs=1e-9)
        assert saving(cpu[1], cpu[2]) == pytest.approx(savings.cpu_push_down, rel=1e-9, abs=1e-9)


def test_what_the_paper_reads_from_equation_4():
    """Half the memory and all the comparisons in the extreme; without a selection S⋈ decides alone."""
    extreme = equation_4(1e-9, 0.0, 0.4)
    assert extreme.memory_pull_up == pytest.approx(0.5)
    assert extreme.cpu_pull_up == pytest.approx(1.0)
    assert equation_4(0.5, 1.0, 0.1).memory_pull_up == 0
    assert equation_4(0.5, 1.0, 0.1).cpu_pull_up == pytest.approx(1.5 * 0.1 / 1.2)
    for rho, s, sj in product((0.1, 0.5, 0.9), (0.1, 0.5, 0.9), (0.01, 0.1, 0.4)):
        assert min(asdict(equation_4(rho, s, sj)).values()) > 0


def test_the_motivating_example():
    """1 min against 60 min at 1 %: the pulled-up state is 60 times Q1's.

    The paper's other factor, 100 times Q2's state, holds for stream A alone; with the unfiltered
    B it is 2 / 1.01.
    """
    join = two_queries(100.0, (1.0, 60.0), 0.01, 0.1)
    q1, q2 = (SharedJoin(100.0, 100.0, 0.1, (query,)) for query in join.queries)
    shared = sharing_cost(join, "pull-up").memory
    assert shared / sharing_cost(q1, "none").memory == pytest.approx(60)
    assert shared / sharing_cost(q2, "none").memory == pytest.approx(2 / 1.01)
    only_a = SharedJoin(100.0, 0.0, 0.1, join.queries)
    only_a_q2 = SharedJoin(100.0, 0.0, 0.1, join.queries[1:])
    ratio = sharing_cost(only_a, "pull-up").memory / sharing_cost(only_a_q2, "none").memory
    assert ratio == pytest.approx(100)


def test_three_queries_by_hand():
    """Section 7.2 at λ_A = 2, λ_B = 3, windows 5, 10, 30, S_σ = 0.2, S⋈ = 0.1."""
    sigma = Selection("σ", 0.2)
    join = SharedJoin(2.0, 3.0, 0.1, (QueryLoad(5), QueryLoad(10, sigma), QueryLoad(30, sigma)))

    none = sharing_cost(join, "none")
    assert none.memory == pytest.approx(5 * 5 + 3.4 * 10 + 3.4 * 30)
    assert none.probe == pytest.approx(2 * 2 * 3 * (5 + 0.2 * 40))
    assert none.purge == pytest.approx(5 + 3.4 + 3.4)
    assert none.filter == pytest.approx(2 * 2)

    pull_up = sharing_cost(join, "pull-up")
    assert pull_up.memory == pytest.approx(150)
    assert pull_up.route == pytest.approx(2 * 36)  # 36 results, compared with 5 and 10
    assert pull_up.filter == pytest.approx(36)

    push_down = sharing_cost(join, "push-down")  # two joins: W_1 for what σ rejects, W_3 for the rest
    assert push_down.memory == pytest.approx((1.6 + 3) * 5 + (0.4 + 3) * 30)
    assert push_down.probe == pytest.approx(2 * 3 * (1.6 * 5 + 0.4 * 30))
    assert push_down.purge == pytest.approx(4.6 + 3.4)
    assert push_down.split == pytest.approx(2)
    assert push_down.route == pytest.approx(2 * 7.2)
    assert push_down.union == pytest.approx(6)  # Q1 alone has results from both joins
    assert push_down.filter == 0

    sliced = sharing_cost(join, "slice")
    assert sliced.memory == pytest.approx(5 * 5 + 3.4 * 25)
    assert sliced.probe == pytest.approx(12 * (5 + 0.2 * 25))
    assert sliced.purge == pytest.approx(3 * 5)
    assert sliced.union == pytest.approx(2 * 5)
    assert sliced.filter == pytest.approx(2 + 6)  # σ on rows of A, and on the results of the first slice
    assert sliced.route == sliced.split == 0


def test_selections_on_both_streams_by_hand():
    """Q1 takes all with window 1; Q2 has a on A and b on B with window 3. λ_A = 10, λ_B = 20."""
    queries = (QueryLoad(1), QueryLoad(3, Selection("a", 0.5), Selection("b", 0.1)))
    join = SharedJoin(10.0, 20.0, 0.5, queries)
    sliced = sharing_cost(join, "slice")
    assert sliced.memory == pytest.approx(30 * 1 + (5 + 2) * 2)
    assert sliced.probe == pytest.approx(2 * 200 * 1 + 2 * 5 * 2 * 2)
    assert sliced.filter == pytest.approx(10 + 20 + 2 * (2 * 200 * 0.5))  # a and b, on rows and results
    push_down = sharing_cost(join, "push-down")  # four joins, and only a ⋈ b has the long window
    assert push_down.memory == pytest.approx((5 + 18) + (5 + 2) + (5 + 18) + (5 + 2) * 3)
    assert push_down.probe == pytest.approx(2 * (5 * 18 + 5 * 2 + 5 * 18) + 2 * 5 * 2 * 3)
    assert push_down.split == pytest.approx(30)
    assert push_down.route == pytest.approx(2 * 5 * 2 * 3 * 0.5)
    assert push_down.union == pytest.approx(2 * 200 * 0.5)


def test_different_selections_are_taken_as_independent_and_equal_names_as_one():
    half, fifth = Selection("x", 0.5), Selection("y", 0.2)
    different = SharedJoin(10.0, 0.0, 0.1, (QueryLoad(4, half), QueryLoad(4, fifth)))
    assert sharing_cost(different, "slice").memory == pytest.approx(10 * 4 * (1 - 0.5 * 0.8))
    same = SharedJoin(10.0, 0.0, 0.1, (QueryLoad(4, half), QueryLoad(4, half)))
    assert sharing_cost(same, "slice").memory == pytest.approx(10 * 4 * 0.5)


def test_partitions_that_a_selection_does_not_decide_are_filtered_again():
    """x and y share the longest window, so a row of that part may have passed either one."""
    x, y = Selection("x", 0.5), Selection("y", 0.2)
    join = SharedJoin(10.0, 10.0, 0.1, (QueryLoad(4, x), QueryLoad(4, y)))
    found = sharing_cost(join, "push-down")
    assert found.split == 20
    assert found.filter == pytest.approx(2 * 2 * 6 * 10 * 0.1 * 4)
    assert found.memory == pytest.approx((6 + 10) * 4)


def test_rows_that_fail_a_selection_feed_none_of_its_queries():
    """Rows are parted into those that pass x and those that pass y alone; only y's query needs both."""
    x, y = Selection("x", 0.5), Selection("y", 0.2)
    join = SharedJoin(10.0, 10.0, 0.1, (QueryLoad(2, x), QueryLoad(1, x), QueryLoad(1, y)))
    found = sharing_cost(join, "push-down")
    assert found.memory == pytest.approx((5 + 10) * 2 + (1 + 10) * 1)
    assert found.union == pytest.approx(2 * 2 * 10 * 0.1 * 1)
    assert found.filter == pytest.approx(2 * 5 * 10 * 0.1 * 1)


def test_slicing_never_needs_more_memory_in_random_workloads():
    """Theorem 4, with selections on both streams."""
    rng = random.Random(3)
    for _ in range(300):
        join = random_join(rng)
        least = sharing_cost(join, "slice").memory
        for strategy in STRATEGIES:
            assert least <= sharing_cost(join, strategy).memory * (1 + 1e-9)
        merged = sharing_cost(join, "slice", chain=(0, join.windows[-1])).memory
        assert least <= merged * (1 + 1e-9)


def test_a_totally_merged_chain_is_selection_pull_up():
    """Section 5.2, as long as some query takes all rows."""
    rng = random.Random(4)
    for _ in range(100):
        some = random_join(rng)
        queries = (*some.queries, QueryLoad(3.5))
        join = SharedJoin(some.rate_a, some.rate_b, some.join_selectivity, queries)
        merged = sharing_cost(join, "slice", chain=(0, join.windows[-1]))
        assert asdict(merged) == pytest.approx(asdict(sharing_cost(join, "pull-up")))


def test_one_query_costs_the_same_shared_or_not():
    plain = SharedJoin(7.0, 3.0, 0.2, (QueryLoad(5),))
    assert len({sharing_cost(plain, strategy) for strategy in STRATEGIES}) == 1
    selective = SharedJoin(7.0, 3.0, 0.2, (QueryLoad(5, Selection("σ", 0.3)),))
    totals = [sharing_cost(selective, strategy).total for strategy in ("none", "push-down", "slice")]
    assert totals == pytest.approx([totals[0]] * 3)


def test_a_boundary_between_windows_costs_a_purge_and_no_routing():
    join = SharedJoin(2.0, 3.0, 0.1, (QueryLoad(5), QueryLoad(10)))
    finest = sharing_cost(join, "slice")
    cut = sharing_cost(join, "slice", chain=(0, 5, 7, 10))
    assert cut.purge == finest.purge + 5
    assert (cut.route, cut.probe, cut.memory) == pytest.approx((0, finest.probe, finest.memory))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda join: sharing_cost(join, "magic"), "unknown sharing strategy 'magic'"),
        (lambda join: sharing_cost(join, "none", chain=(0, 10)), "only the strategy 'slice'"),
        (lambda join: sharing_cost(join, "slice", chain=(0, 5)), "longest window"),
        (lambda join: sharing_cost(join, "slice", chain=(1, 10)), "from 0"),
        (lambda join: sharing_cost(join, "slice", chain=()), "from 0"),
        (lambda join: sharing_cost(join, "slice", chain=(0, 7, 5, 10)), "ascend"),
        (lambda join: SharedJoin(-1, 1, 0.1, join.queries), "rate_a"),
        (lambda join: SharedJoin(1, 1, 1.5, join.queries), "join_selectivity"),
        (lambda join: SharedJoin(1, 1, 0.1, ()), "at least one query"),
        (lambda join: QueryLoad(0), "window"),
        (lambda join: Selection("σ", 1.1), "selectivity of σ"),
        (lambda join: equation_1(1, 5, 5, 0.5, 0.5), "0 < w1 < w2"),
        (lambda join: equation_4(1.0, 0.5, 0.5), "rho"),
        (
            lambda join: SharedJoin(1, 1, 0.1, (QueryLoad(1, Selection("σ", 0.1)), QueryLoad(1, Selection("σ", 0.2)))),
            "two selectivities on stream A",
        ),
    ],
)
def test_invalid_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call(SharedJoin(1.0, 1.0, 0.1, (QueryLoad(5), QueryLoad(10))))
