"""The shared plans of the State-Slice paper: figure 10 and section 7.2."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.catalog import load_catalog
from penstock.compiler.estimate import Estimates
from penstock.compiler.optimize import optimize
from penstock.compiler.rules import Context
from penstock.compiler.settings import Settings
from penstock.compiler.shared import Chain, SharedPlan
from penstock.tests.evaluate import SECOND
from penstock.tests.reference import end_of, reach_of

CATALOG = load_catalog(Path(__file__).parent.parent / "catalog")
JOIN = "SELECT A.* FROM Temperature A, Humidity B WHERE A.LocationId = B.LocationId"
SELECTION = " AND A.Value > 30"
MINUTE = 60 * SECOND
COLD = {"LocationId": 1, "Value": 20.0}
HOT = {"LocationId": 1, "Value": 40.0}
UNKNOWN = {"LocationId": 1, "Value": None}


def _plan(texts: dict[str, str], sharing: str = "slice", objective: str = "memory") -> SharedPlan:
    context = Context(Settings(sharing=sharing, objective=objective), Estimates(CATALOG))
    return optimize(penstock.compile(texts, catalog=CATALOG).logical.values(), context).plan


def _chains(plan: SharedPlan) -> tuple[Chain, Chain]:
    """The chains of streams A and B."""
    chains = {chain.stream: chain for chain in plan.chains}
    assert len(chains) == len(plan.chains) == 2
    return chains["Temperature"], chains["Humidity"]


def _figure_10(sharing: str = "slice") -> SharedPlan:
    return _plan({"Q1": f"{JOIN} WINDOW 1 min", "Q2": f"{JOIN}{SELECTION} WINDOW 60 min"}, sharing)


def test_figure_10_is_one_join_over_a_chain_of_two_slices() -> None:
    plan = _figure_10()
    assert [join.name for join in plan.joins] == [
        "Humidity, Temperature on Humidity.LocationId = Temperature.LocationId"
    ]
    assert [chain.slices for chain in _chains(plan)] == [((0, MINUTE), (MINUTE, 60 * MINUTE))] * 2


def test_figure_10_lets_all_rows_into_the_first_slice_and_selected_ones_into_the_second() -> None:
    a, b = _chains(_figure_10())
    assert [(str(line.conditions[0]) if line.conditions else "", line.rows) for line in a.wanted] == [
        ("", (((), MINUTE),)),
        ("Temperature.Value > _query.c1", (((30.0,), 60 * MINUTE),)),
    ]
    assert [reach_of(a, row) for row in (COLD, HOT, UNKNOWN)] == [MINUTE, 60 * MINUTE, MINUTE]
    assert [reach_of(b, row) for row in (COLD, HOT, UNKNOWN)] == [60 * MINUTE] * 3


def test_figure_10_filters_the_results_of_the_first_slice_for_q2_alone() -> None:
    members = _figure_10().members
    assert members["Q1"].shape.conditions == ()
    assert [str(condition) for condition in members["Q2"].shape.conditions] == ["Temperature.Value > _query.c1"]
    assert members["Q1"].shape.source == members["Q2"].shape.source


# Window distributions of table 3, in seconds.
WINDOWS = [(5, 10, 30), (10, 20, 30), (20, 25, 30)]


def _three(windows: tuple[int, ...], sharing: str) -> SharedPlan:
    selections = ("", SELECTION, SELECTION)
    texts = {f"Q{n}": f"{JOIN}{s} WINDOW {w} sec" for n, (w, s) in enumerate(zip(windows, selections, strict=True), 1)}
    return _plan(texts, sharing)


@pytest.mark.parametrize("windows", WINDOWS)
def test_section_7_2_slices_at_all_three_windows(windows: tuple[int, ...]) -> None:
    w1, w2, w3 = (window * SECOND for window in windows)
    a, b = _chains(_three(windows, "slice"))
    assert a.slices == b.slices == ((0, w1), (w1, w2), (w2, w3))
    assert [reach_of(a, row) for row in (COLD, HOT)] == [w1, w3]
    assert [reach_of(b, row) for row in (COLD, HOT)] == [w3, w3]


@pytest.mark.parametrize("windows", WINDOWS)
def test_section_7_2_pulled_up_is_one_regular_join(windows: tuple[int, ...]) -> None:
    w3 = windows[-1] * SECOND
    for chain in _chains(_three(windows, "pull-up")):
        assert chain.slices == ((0, w3),)
        assert [reach_of(chain, row) for row in (COLD, HOT)] == [w3, w3]


@pytest.mark.parametrize("windows", WINDOWS)
def test_section_7_2_pushed_down_parts_the_stream_by_the_selection(windows: tuple[int, ...]) -> None:
    w1, _, w3 = (window * SECOND for window in windows)
    a, b = _chains(_three(windows, "push-down"))
    assert a.partitioned and a.boundaries == (0, w1, w3)
    assert [reach_of(a, row) for row in (COLD, HOT)] == [w1, w3]
    assert b.partitioned and b.boundaries == (0, w3)


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize(("hot", "of"), [(1, 5), (1, 2), (4, 5)])
def test_section_7_2_keeps_as_many_rows_as_the_paper_says(windows: tuple[int, ...], hot: int, of: int) -> None:
    """With 10 rows a second in both streams: equations 1 and 3, for three queries."""
    w1, _, w3 = windows
    rate, selected = 10, hot / of
    rows = [(HOT if number % of < hot else COLD, number * SECOND // rate) for number in range(rate * w3)]

    def kept(sharing: str) -> int:
        chains = _chains(_three(windows, sharing))
        return sum(age < end_of(chain, reach_of(chain, row)) for chain in chains for row, age in rows)

    assert kept("pull-up") == 2 * rate * w3
    assert kept("slice") == pytest.approx(2 * rate * w1 + (1 + selected) * rate * (w3 - w1))
