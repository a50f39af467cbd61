"""The cost of multi-way joins, against every number that Golab & Özsu print."""

import random

import pytest

from penstock.compiler.cost import (
    all_orders,
    best_order_heuristic,
    general_cost,
    intermediate_size,
    multiway_cost,
    naive_cost,
    order_for_origin,
    origin_cost,
)

TABLE_5 = {"S1": (10, 100, 500), "S2": (1, 100, 50), "S3": (1, 200, 40), "S4": (3, 100, 5)}
TABLE_6 = {"S1": (100, 100, 200), "S2": (1, 100, 200), "S3": (1, 100, 20), "S4": (3, 100, 2)}
TABLE_7 = {"S1": (11, 100, 200), "S2": (10, 100, 100), "S3": (1, 100, 65), "S4": (1, 100, 20)}
TABLES = {"table 5": TABLE_5, "table 6": TABLE_6, "table 7": TABLE_7}

S1234 = ("S1", "S2", "S3", "S4")
EVEN = {f"S{i}": (1, 100, 50) for i in range(1, 5)}
"""Section 4.2's four equal windows."""
ONE_FAST = {**EVEN, "S4": (10, 100, 50)}
"""The same with a fourth stream ten times as fast."""


@pytest.mark.parametrize(
    ("streams", "order", "cost"),
    [
        (TABLE_5, "S1 S2 S3 S4", 16000),
        (TABLE_5, "S2 S1 S3 S4", 19600),
        (TABLE_6, "S2 S1 S3 S4", 80400),
        (TABLE_6, "S2 S3 S1 S4", 123150),
        (TABLE_6, "S2 S3 S4 S1", 248450),
        (TABLE_6, "S1 S2 S3 S4", 120000),
        (TABLE_7, "S3 S4 S1 S2", 49542.3),
        (TABLE_7, "S3 S1 S4 S2", 47976.9),
        (TABLE_7, "S3 S1 S2 S4", 51953.8),
        (TABLE_7, "S1 S2 S3 S4", 68200),
        (TABLE_7, "S2 S1 S3 S4", 79000),
    ],
)
def test_printed_costs(streams, order, cost):
    assert multiway_cost(order.split(), streams) == pytest.approx(cost, abs=0.05)


def test_worst_and_mean_costs():
    costs = {name: [multiway_cost(order, t) for order in all_orders(t)] for name, t in TABLES.items()}
    assert [len(c) for c in costs.values()] == [24, 24, 24]
    assert max(costs["table 5"]) == pytest.approx(86850)
    assert max(costs["table 6"]) == pytest.approx(646050)
    assert sum(costs["table 7"]) / 24 == pytest.approx(63361.5, abs=0.05)


def test_the_other_start_of_table_5_is_fifth_best():
    costs = sorted(multiway_cost(order, TABLE_5) for order in all_orders(TABLE_5))
    assert costs[0] == pytest.approx(16000)
    assert costs[4] == pytest.approx(19600)
    assert costs[3] < costs[4] < costs[5]


@pytest.mark.parametrize("streams", TABLES.values(), ids=TABLES)
def test_the_heuristic_finds_the_best_of_all_orders(streams):
    best = min(multiway_cost(order, streams) for order in all_orders(streams))
    assert multiway_cost(best_order_heuristic(streams), streams) == pytest.approx(best, rel=1e-12)


def test_the_heuristic_orders_by_name():
    assert best_order_heuristic(TABLE_5) == S1234
    assert best_order_heuristic(TABLE_6) == ("S2", "S1", "S3", "S4")
    assert best_order_heuristic({"only": (1, 1, 1)}) == ("only",)


def test_the_heuristic_sees_hash_buckets():
    """With equal buckets the order stays; a lone window with an index goes to the innermost loop."""
    assert best_order_heuristic(TABLE_5, buckets=dict.fromkeys(TABLE_5, 5)) == S1234
    buckets = {"S1": 1000.0}
    order = best_order_heuristic(EVEN, buckets=buckets)
    assert order[-1] == "S1"
    best = min(multiway_cost(o, EVEN, buckets=buckets) for o in all_orders(EVEN))
    assert multiway_cost(order, EVEN, buckets=buckets) == pytest.approx(best)


def test_the_heuristic_stays_affordable_with_many_streams():
    """n^f orders would be 20^10; fewer fast streams are moved instead."""
    streams = {f"S{i}": (1 + 99 * (i % 2), 10, 20 + i) for i in range(20)}
    assert sorted(best_order_heuristic(streams)) == sorted(streams)


@pytest.mark.parametrize(
    ("names", "size"),
    [
        ("S1", 1000),
        ("S1 S2", 200),
        ("S1 S3", 400),
        ("S1 S4", 600),
        ("S2 S3", 400),
        ("S2 S4", 600),
        ("S3 S4", 1500),
        ("S1 S2 S3", 800),
        ("S1 S2 S4", 1200),
    ],
)
def test_intermediate_sizes_of_tables_10_and_11(names, size):
    assert intermediate_size(names.split(), TABLE_5) == pytest.approx(size)


def test_intermediate_size_is_that_of_the_recursion_in_any_order():
    def recursion(names, tau):
        rate, window, distinct = TABLE_7[names[0]]
        if len(names) == 1:
            return rate * (window + tau), distinct
        rest, values = recursion(names[1:], tau)
        return rest * rate * (window + tau) / max(values, distinct), min(values, distinct)

    for tau in (0.0, 7.0):
        for order in all_orders(TABLE_7):
            assert intermediate_size(order, TABLE_7, tau) == pytest.approx(recursion(order, tau)[0])


def test_appendix_b():
    """C_1 to C_4 of the worked example, which add up to the 16000 of table 5."""
    costs = [origin_cost(i, (i, *(n for n in S1234 if n != i)), TABLE_5) for i in S1234]
    assert costs == pytest.approx([3800, 3800, 2400, 6000])
    assert sum(costs) == pytest.approx(multiway_cost(S1234, TABLE_5))


def test_lazy_costs_are_eager_costs_of_longer_windows():
    """L_i has the form of C_i with T + τ for T."""
    tau = 7.0
    longer = {name: (rate, window + tau, v) for name, (rate, window, v) in TABLE_7.items()}
    for order in all_orders(TABLE_7):
        assert multiway_cost(order, TABLE_7, tau=tau) == pytest.approx(multiway_cost(order, longer))


def test_general_eager_costs_of_appendix_a():
    """G_1 to G_4, written as the appendix writes them, for rows in each place of the order."""
    (l1, t1, v1), (l2, t2, v2), (l3, t3, v3), (l4, t4, _) = TABLE_5.values()

    def phi(*names):
        return intermediate_size(names, TABLE_5)

    g = [
        l1 * l2 * t2 + (phi("S1", "S2") * l3 * t3 + phi("S1", "S2", "S3") * l4 * t4) / t1,
        l2 * l1 * t1 + (phi("S1", "S2") * l3 * t3 + phi("S1", "S2", "S3") * l4 * t4) / t2,
        l3 * (l1 * t1 * l2 * t2 + phi("S1", "S2") * (1 + l4 * t4 / max(min(v1, v2), v3))),
        l4 * (l1 * t1 * l2 * t2 + phi("S1", "S2") * l3 * t3 + phi("S1", "S2", "S3")),
    ]
    assert [origin_cost(name, S1234, TABLE_5) for name in S1234] == pytest.approx(g)
    assert naive_cost(S1234, TABLE_5) == pytest.approx(sum(g))


def test_general_lazy_costs_of_appendix_a():
    """H_3 and H_4, where new rows come late; H_1 and H_2 equal L_1 and L_2."""
    tau = 5.0
    (l1, t1, v1), (l2, t2, v2), (l3, t3, v3), (l4, t4, _) = TABLE_5.values()

    def phi(*names):
        return intermediate_size(names, TABLE_5, tau)

    outer = l1 * (t1 + tau) * l2 * (t2 + tau) / tau
    h3 = outer + phi("S1", "S2") * l3 * (1 + l4 * (t4 + tau) / max(min(v1, v2), v3))
    h4 = outer + phi("S1", "S2") * l3 * (t3 + tau) / tau + phi("S1", "S2", "S3") * l4
    assert origin_cost("S3", S1234, TABLE_5, tau=tau) == pytest.approx(h3)
    assert origin_cost("S4", S1234, TABLE_5, tau=tau) == pytest.approx(h4)
    l_2 = origin_cost("S2", ("S2", "S1", "S3", "S4"), TABLE_5, tau=tau)
    assert origin_cost("S2", S1234, TABLE_5, tau=tau) == pytest.approx(l_2)
    l_1 = origin_cost("S1", S1234, TABLE_5, tau=tau)
    assert naive_cost(S1234, TABLE_5, tau=tau) == pytest.approx(l_1 + l_2 + h3 + h4)


def test_putting_new_rows_first_beats_the_naive_join():
    """Figure 2: eager, equal windows, and the gap widens with every further window."""
    ratios = []
    for n in range(3, 8):
        streams = {f"S{i}": (1, 100, 50) for i in range(n)}
        ratios.append(naive_cost(list(streams), streams) / multiway_cost(list(streams), streams))
    assert min(ratios) > 10
    orders = list(all_orders(TABLE_5))
    assert all(multiway_cost(order, TABLE_5) <= naive_cost(order, TABLE_5) for order in orders)


def best_general(streams, tau):
    """The order of all that is best for each origin."""
    orders = list(all_orders(streams))
    return {i: min(orders, key=lambda order, i=i: origin_cost(i, order, streams, tau=tau)) for i in streams}


@pytest.mark.parametrize("tau", [1, 10, 25, 50])
def test_lazy_is_as_good_as_general_for_equal_windows(tau):
    """Figure 3(a)."""
    lazy = min(multiway_cost(order, EVEN, tau=tau) for order in all_orders(EVEN))
    general = general_cost(best_general(EVEN, tau), EVEN, tau=tau)
    naive = min(naive_cost(order, EVEN, tau=tau) for order in all_orders(EVEN))
    assert lazy == pytest.approx(general)
    assert naive > lazy


def test_a_fast_stream_is_better_ordered_last_when_rows_pile_up():
    """Figure 3(b): general = lazy < naive for small τ, general < naive < lazy for large τ."""
    found = {}
    for tau in (5, 50):
        lazy = min(multiway_cost(order, ONE_FAST, tau=tau) for order in all_orders(ONE_FAST))
        naive = min(naive_cost(order, ONE_FAST, tau=tau) for order in all_orders(ONE_FAST))
        orders = best_general(ONE_FAST, tau)
        found[tau] = (general_cost(orders, ONE_FAST, tau=tau), lazy, naive, orders["S4"])
    general, lazy, naive, _ = found[5]
    assert general == pytest.approx(lazy)
    assert lazy < naive
    general, lazy, naive, order = found[50]
    assert general < naive < lazy
    assert order[-1] == "S4"


def test_hash_buckets_divide_the_scan_and_not_the_matches():
    two = {"A": (2, 10, 5), "B": (3, 20, 4)}
    assert multiway_cost("AB", two) == pytest.approx(2 * 60 + 3 * 20)
    assert multiway_cost("AB", two, buckets={"B": 4}) == pytest.approx(2 * 60 / 4 + 3 * 20)
    for order in all_orders(TABLE_6):  # equal tables: every loop is cheaper by the same factor
        hashed = multiway_cost(order, TABLE_6, buckets=dict.fromkeys(TABLE_6, 5))
        assert hashed == pytest.approx(multiway_cost(order, TABLE_6) / 5)
    ones = dict.fromkeys(TABLE_6, 1)
    assert multiway_cost(S1234, TABLE_6, buckets=ones) == multiway_cost(S1234, TABLE_6)


CHAIN = {"A": (1, 100, 1), "B": (10, 100, 1), "C": (1, 100, 1), "D": (1, 10, 1)}


def edges(**distinct):
    return {frozenset(pair): count for pair, count in distinct.items()}


def test_order_for_origin_follows_the_join_graph():
    """D is tiny, but it only joins C: from A it comes last, as A-B-C-D is a chain."""
    graph = edges(AB=10, BC=20, CD=5)
    assert order_for_origin("A", CHAIN, graph) == ("A", "B", "C", "D")
    assert order_for_origin("D", CHAIN, graph) == ("D", "C", "B", "A")
    assert order_for_origin("C", CHAIN, graph) == ("C", "D", "B", "A")


def test_order_for_origin_takes_the_most_selective_join_first():
    """From a star's centre: 1000 rows at 1 in 500 leave 2, 100 rows at 1 in 20 leave 5."""
    assert order_for_origin("A", CHAIN, edges(AB=500, AC=20, AD=1)) == ("A", "B", "C", "D")
    assert order_for_origin("A", CHAIN, edges(AB=50, AC=20, AD=1)) == ("A", "C", "D", "B")


def test_order_for_origin_counts_only_the_best_of_several_predicates():
    """C is connected twice, but 100 / 20 still leaves more than D's 10 / 5."""
    assert order_for_origin("A", CHAIN, edges(AB=1000, AC=20, BC=20, AD=5)) == ("A", "B", "D", "C")
    assert order_for_origin("A", CHAIN, edges(AB=1000, AC=20, BC=400, AD=5)) == ("A", "B", "C", "D")


def test_order_for_origin_puts_cross_products_last():
    assert order_for_origin("A", CHAIN, edges(AB=2)) == ("A", "B", "D", "C")
    assert order_for_origin("B", CHAIN, {}) == ("B", "D", "A", "C")
    assert order_for_origin("A", CHAIN, edges(AB=2, CD=50)) == ("A", "B", "D", "C")


def test_order_for_origin_never_makes_a_cross_product_it_could_avoid():
    rng = random.Random(5)
    names = "ABCDEF"
    for _ in range(200):
        streams = {name: (rng.choice([1, 5, 50]), rng.choice([1, 10]), 1) for name in names}
        graph = {frozenset({names[i], names[rng.randrange(i)]}): rng.randint(1, 99) for i in range(1, 6)}
        order = order_for_origin(rng.choice(names), streams, graph)
        assert sorted(order) == list(names)
        for k in range(1, len(order)):
            assert any(frozenset({order[k], done}) in graph for done in order[:k])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: multiway_cost("AB", {"A": (-1, 1, 1), "B": (1, 1, 1)}), "rate of A"),
        (lambda: multiway_cost("AB", {"A": (1, float("nan"), 1), "B": (1, 1, 1)}), "window of A"),
        (lambda: multiway_cost("AB", {"A": (1, 1, 0), "B": (1, 1, 1)}), "distinct value"),
        (lambda: multiway_cost("ABC", {"A": (1, 1, 1), "B": (1, 1, 1)}), "unknown streams: C"),
        (lambda: multiway_cost("A", {"A": (1, 1, 1), "B": (1, 1, 1)}), "leaves out B"),
        (lambda: multiway_cost("ABB", {"A": (1, 1, 1), "B": (1, 1, 1)}), "named twice"),
        (lambda: multiway_cost(S1234, TABLE_5, tau=-1), "tau"),
        (lambda: multiway_cost(S1234, TABLE_5, buckets={"S1": 0}), "hash bucket"),
        (lambda: multiway_cost(S1234, TABLE_5, buckets={"X": 2}), "unknown stream"),
        (lambda: multiway_cost((), {}), "at least one stream"),
        (lambda: best_order_heuristic({}), "at least one stream"),
        (lambda: best_order_heuristic(TABLE_5, buckets={"S1": 0}), "hash bucket"),
        (lambda: general_cost({"S1": S1234}, TABLE_5), "one join order for each stream"),
        (lambda: intermediate_size((), TABLE_5), "no streams"),
        (lambda: origin_cost("X", S1234, TABLE_5), "unknown stream: X"),
        (lambda: order_for_origin("X", CHAIN, {}), "unknown stream: X"),
        (lambda: order_for_origin("A", CHAIN, edges(AX=2)), "not a pair"),
        (lambda: order_for_origin("A", CHAIN, edges(AB=0)), "distinct value"),
    ],
)
def test_invalid_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
