"""Physical plans: ids made from content, and the stages from one plan to another."""

from __future__ import annotations

import random

import pytest

import penstock
from penstock.compiler.diff import KINDS, diff
from penstock.compiler.physical import KeepChain, Probe, Route

CATALOG = {
    "streams": {name: {"schema": {"k": "int", "v": "double", "ts": "timestamp"}} for name in ("Left", "Right", "Third")}
}
JOIN = "SELECT a.k, a.v FROM Left a, Right b WHERE a.k = b.k"


def _plan(queries: dict[str, str], **settings: str):  # type: ignore[no-untyped-def]
    return penstock.compile(queries, CATALOG, **settings).physical


def _stages(before: dict[str, str], after: dict[str, str], **settings: str) -> list[str]:
    return [f"{stage.kind} {stage.operator.split('-')[0]}" for stage in diff(_plan(before), _plan(after, **settings))]


ONE = {"one": f"{JOIN} WINDOW 1 min"}
TWO = {**ONE, "two": f"{JOIN} AND a.v > 5 WINDOW 10 min"}


@pytest.mark.parametrize(
    ("before", "after", "stages"),
    [
        (ONE, ONE, []),
        ({}, ONE, ["add ingest", "add ingest", "add chain", "add chain", "add probe", "add route", "add sink"]),
        (ONE, {}, ["drop sink", "drop route", "drop probe", "drop chain", "drop chain", "drop ingest", "drop ingest"]),
        (ONE, {"one": f"{JOIN} WINDOW 2 min"}, ["extend chain"] * 2 + ["re-tag chain"] * 2 + ["route route"]),
        (TWO, ONE, ["re-tag chain"] * 2 + ["shorten chain"] * 2 + ["drop sink", "drop route"]),
        (TWO, {**TWO, "three": f"{JOIN} AND a.v > 7 WINDOW 10 min"}, ["re-tag chain", "route route"]),
        (TWO, {**TWO, "three": f"{JOIN} AND a.v > 7 WINDOW 5 min"},
            ["split chain", "split chain", "re-tag chain", "route route"]),
        (TWO, {**TWO, "alone": "SELECT b.v FROM Right b WHERE b.v > 1"},
            ["add route", "add sink", "widen ingest", "widen chain"]),
        (TWO, {**ONE, "two": f"{JOIN} AND a.v > 6 WINDOW 10 min"}, ["re-tag chain", "route route"]),
    ],
)  # fmt: skip
def test_stages(before: dict[str, str], after: dict[str, str], stages: list[str]) -> None:
    assert _stages(before, after) == stages


def test_a_query_of_a_known_template_and_window_changes_data_alone() -> None:
    wide = {f"q{i}": f"{JOIN} AND a.v > {i} WINDOW {1 + i % 3} min" for i in range(9)}
    kinds = {stage.kind for stage in diff(_plan(wide), _plan({**wide, "more": f"{JOIN} AND a.v > 99 WINDOW 2 min"}))}
    assert kinds == {"re-tag", "route"}


def test_ids_do_not_depend_on_the_other_queries_or_on_spelling() -> None:
    other = "SELECT y.k, y.v FROM Right x JOIN Left y ON x.k = y.k WINDOW 1 min"
    alone, spelled, among = _plan(ONE), _plan({"one": other}), _plan({**TWO, "z": "SELECT * FROM Third"})
    assert set(alone.by_id) == set(spelled.by_id)
    assert set(alone.by_id) < set(among.by_id)


def test_every_operator_stands_after_those_it_reads() -> None:
    plan = _plan({**TWO, "agg": "SELECT c.k, COUNT(*) n FROM Third c, Left a WHERE a.k = c.k GROUP BY c.k WINDOW 1 h"})
    seen: set[str] = set()
    for operator in plan.operators:
        assert set(operator.inputs) <= seen
        seen.add(operator.id)
    assert len(seen) == len(plan.operators)


def test_strategies_have_plans_of_their_own() -> None:
    def chains(sharing: str) -> list[tuple[str, str, tuple[int, ...], bool]]:
        found = _plan(TWO, sharing=sharing).of_kind(KeepChain)
        return [(c.chain.scope, c.chain.stream, c.chain.boundaries, c.chain.partitioned) for c in found]  # type: ignore

    minute = 60_000_000
    assert chains("slice") == [
        ("", "Left", (0, minute, 10 * minute), False),
        ("", "Right", (0, minute, 10 * minute), False),
    ]
    assert chains("pull-up") == [("", "Left", (0, 10 * minute), False), ("", "Right", (0, 10 * minute), False)]
    assert chains("push-down") == [
        ("", "Left", (0, minute, 10 * minute), True),
        ("", "Right", (0, 10 * minute), True),
    ]
    assert chains("none") == [
        ("one", "Left", (0, minute), False),
        ("one", "Right", (0, minute), False),
        ("two", "Left", (0, 10 * minute), False),
        ("two", "Right", (0, 10 * minute), False),
    ]


def test_a_diff_there_and_back_undoes_itself() -> None:
    rng = random.Random(5)
    opposite = {"add": "drop", "extend": "shorten", "split": "merge", "widen": "narrow"}
    opposite |= {new: old for old, new in opposite.items()}
    for _ in range(30):
        sets = [
            {
                f"q{i}": f"{JOIN} AND a.v > {rng.randint(0, 3)} WINDOW {rng.randint(1, 5)} min"
                for i in rng.sample(range(6), rng.randint(1, 6))
            }
            for _ in range(2)
        ]
        there, back = diff(_plan(sets[0]), _plan(sets[1])), diff(_plan(sets[1]), _plan(sets[0]))
        assert sorted((opposite.get(s.kind, s.kind), s.operator) for s in there) == sorted(
            (s.kind, s.operator) for s in back
        )
        assert [KINDS.index(stage.kind) for stage in there] == sorted(KINDS.index(stage.kind) for stage in there)


def test_one_chain_serves_every_signature() -> None:
    plan = _plan({**TWO, "three": "SELECT a.k FROM Left a, Right b, Third c WHERE a.k = b.k AND b.k = c.k WINDOW 1 h"})
    assert len(plan.of_kind(Probe)) == 2
    assert [c.chain.stream for c in plan.of_kind(KeepChain)] == ["Left", "Right", "Third"]
    assert plan.queries == ("one", "three", "two")
    assert sum(len(route.members) for route in plan.of_kind(Route)) == 3
