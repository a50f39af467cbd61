"""The workloads: what they ask compiles, DuckDB can answer it, and they show what was found, whatever failed."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.bench.core import Case, Found, Measured, Setting
from penstock.bench.goals import GOALS
from penstock.bench.nexmark_data import Events, make_events
from penstock.bench.nexmark_queries import questions
from penstock.bench.pairs import Pair
from penstock.bench.systems import SYSTEMS
from penstock.bench.systems import duckdb as judge
from penstock.bench.workloads import NAMES, nexmark, workload
from penstock.bench.workloads.multiway import chained_text
from penstock.bench.workloads.queries import pairs_of
from penstock.bench.workloads.state_slice import CHAINS, chain_windows

Made = tuple[str, Setting, list[Case]]


@pytest.fixture(scope="module", params=NAMES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A workload at its smallest, and its cases."""
    setting = Setting(tmp_path_factory.mktemp(request.param), "tiny")
    return request.param, setting, workload(request.param).cases(setting)


def test_cases_are_told_apart(made: Made) -> None:
    _, _, cases = made
    names = [case.name for case in cases]
    assert len(set(names)) == len(names) > 0
    assert {case.system for case in cases} <= set(SYSTEMS)


def test_queries_compile(made: Made) -> None:
    _, _, cases = made
    for case in cases:
        if case.system == "penstock" and "texts" in case.job:
            catalog = {"streams": case.job["streams"], "relations": case.job.get("relations", {})}
            compiled = penstock.compile(case.job["texts"], catalog, settings=case.job.get("settings"))
            assert set(compiled.physical.queries) == set(case.job["texts"])


def test_duckdb_answers_what_others_are_asked(made: Made) -> None:
    _, _, cases = made
    judges = [case for case in cases if case.system == "duckdb" and not case.call]
    others = {case.answers for case in cases if case.system != "duckdb" and case.answers}
    assert others == {case.answers for case in judges}
    answers = {case.name: judge.run(case.job)["results"] for case in judges}
    assert all(any(results.values()) for results in answers.values()), answers


def test_every_query_of_nexmark(tmp_path: Path) -> None:
    made, asked = Events(rate=500, seconds=12), questions()
    make_events(tmp_path, made)
    job = nexmark.penstock_job(tmp_path, made, asked)
    assert set(penstock.compile(job["texts"], {"streams": job["streams"]}).physical.queries) > set(asked)
    answers = judge.run(nexmark.duckdb_job(tmp_path, asked))["results"]
    assert set(answers) == set(asked) and all(answers.values())


def test_failures_are_shown(made: Made) -> None:
    name, setting, cases = made
    for measured in ([], [Measured(case, failure="it failed") for case in cases]):
        shown = workload(name).show(setting, Found(measured))
        assert all(value is None for value in shown.figures.values())
        assert all(len(row) == len(table.header) for table in shown.tables for row in table.rows)


def test_goals_are_of_figures_that_there_are(tmp_path: Path) -> None:
    for name in {goal.workload for goal in GOALS}:
        shown = workload(name).show(Setting(tmp_path), Found([]))
        figures = {goal.figure for goal in GOALS if goal.workload == name}
        assert figures <= set(shown.figures) | {"flink 10", "spark 10", "worst deviation"}


@pytest.mark.parametrize("count", [5, 10, 100, 10_000])
def test_many_queries_give_as_much_as_one(count: int) -> None:
    pairs = pairs_of(count, 120)
    assert len({(pair.window, pair.condition) for pair in pairs}) == count
    parts = [(pair.selection[2] - pair.selection[1]) / 100 for pair in pairs if pair.selection]
    assert all(0 < part <= 1 for part in parts)
    assert (min(pair.window for pair in pairs), max(pair.window for pair in pairs)) == (12_000, 60_000)


def test_a_query_in_every_dialect() -> None:
    pair = Pair("q", 1500, "a.v >= 9", ("a", 9.0, 100.0))
    assert pair.text.endswith("WHERE a.k = b.k AND a.v >= 9 WINDOW 1500 ms")
    assert pair.duck.endswith("abs(epoch_ms(a.ts) - epoch_ms(b.ts)) < 1500 AND a.v >= 9")
    assert "a.ts < b.ts + INTERVAL 1500 MILLISECONDS AND a.v >= 9" in pair.spark
    assert "a.ts < b.ts + INTERVAL '1.500' SECOND(3, 3) AND a.v >= 9" in pair.flink
    assert pair.pathway == {"window": 1_500_000, "selection": ("a", 9.0, 100.0)}


def test_chains_of_more_queries_are_distributed_like_twelve() -> None:
    for name, windows in CHAINS.items():
        assert chain_windows(name, 12) == list(map(float, windows))
        for count in (24, 36):
            found = chain_windows(name, count)
            assert found == sorted(found) and len(set(found)) == count
            assert found[count // 12 - 1 :: count // 12] == list(map(float, windows))


def test_joins_one_above_the_other() -> None:
    sizes = {"S1": (1.0, 2.0, 3.0), "S2": (1.0, 4.0, 3.0), "S3": (1.0, 5.0, 3.0)}
    text = chained_text(("S2", "S1", "S3"), sizes, "{} s", "plain({})")
    inner = (
        "SELECT S2.k AS k, S2.ts AS ts_S2, plain(S1.ts) AS ts_S1 FROM S2 JOIN S1 ON S2.k = S1.k "
        "AND S1.ts < S2.ts + 4.0 s AND S1.ts > S2.ts - 2.0 s"
    )
    assert text == (
        f"SELECT l.k AS k, l.ts_S2 AS ts_S2, l.ts_S1 AS ts_S1, plain(S3.ts) AS ts_S3 FROM ({inner}) AS l JOIN S3 ON "
        "l.k = S3.k AND S3.ts < l.ts_S2 + 4.0 s AND S3.ts > l.ts_S2 - 5.0 s AND S3.ts < l.ts_S1 + 2.0 s "
        "AND S3.ts > l.ts_S1 - 5.0 s"
    )
