"""Results as they come: each once, whatever is merged meanwhile, until the run ends."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from penstock.runtime import results
from penstock.runtime.session import SparkSession
from penstock.tests.test_migrate import HOT, Bench


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    made = Bench(spark, tmp_path)
    made.session.register("hot", HOT)
    made.feed(("Heat", 0, 1, 3.0), ("Wet", 1, 1, 5.0))
    return made


def pair(value: float) -> tuple[tuple[str, float, int, float], tuple[str, float, int, float]]:
    """Two rows that meet each other and nothing else."""
    return ("Heat", value, int(value), value), ("Wet", value, int(value), value)


def values(rows: Any) -> list[float]:
    return [row["x"] for row in rows]


def test_rows_come_while_it_runs(bench: Bench) -> None:
    """An iterator gives the rows of every step, and ends with the run; from the start, the earlier ones first."""
    hot = bench.session.query("hot")
    new, everything = hot.stream(), hot.stream(from_start=True)
    bench.session.start()
    bench.feed(*pair(4.0), run=False)
    assert next(new)["x"] == 4.0
    bench.feed(*pair(5.0), run=False)
    assert next(new)["x"] == 5.0
    bench.session.stop()
    assert values(new) == [] and values(everything) == [3.0, 4.0, 5.0]


def test_without_a_run_it_ends_at_once(bench: Bench) -> None:
    hot = bench.session.query("hot")
    assert values(hot.stream()) == [] and values(hot.stream(from_start=True)) == [3.0]


def test_a_function_is_called(bench: Bench) -> None:
    """It gets a DataFrame for what is new, never an empty one, until it is stopped."""
    came, found = threading.Event(), []

    def take(rows: Any) -> None:
        found.append(values(rows.collect()))
        came.set()

    with bench.session.query("hot").stream(take) as subscription:
        bench.session.start()
        bench.feed(*pair(4.0), run=False)
        assert came.wait(60)
        bench.session.stop()
        subscription.wait()
    bench.feed(*pair(5.0))
    assert found == [[4.0]]


def test_a_function_that_fails(bench: Bench) -> None:
    """What it raises is raised where the subscription ends, and the run goes on."""

    def fail(_: Any) -> None:
        raise ZeroDivisionError("mine")

    subscription = bench.session.query("hot").stream(fail)
    bench.session.start()
    bench.feed(*pair(4.0), run=False)
    with pytest.raises(ZeroDivisionError, match="mine"):
        subscription.wait()
    bench.session.stop()
    bench.feed(*pair(5.0))
    assert len(bench.rows("hot")) == 3


def test_nothing_is_merged_before_it_is_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that somebody has not read stay apart; later they are merged, and everything was given once."""
    monkeypatch.setattr(results, "_MERGE", 2)
    monkeypatch.setattr(results, "_READING", 0.0)
    session = bench.session
    live = session.query("hot").stream()
    for value in (4.0, 5.0, 6.0):
        bench.feed(*pair(value))
    assert sum(name.startswith("s") for name in session.state()[0].results) == 4
    assert values(live) == [4.0, 5.0, 6.0]
    bench.feed(*pair(7.0))
    assert any(name.startswith("m") for name in session.state()[0].results)
    assert sorted(row[1] for row in bench.rows("hot")) == [3.0, 4.0, 5.0, 6.0, 7.0]


def test_one_who_is_forgotten_holds_nothing_back(bench: Bench) -> None:
    live = bench.session.query("hot").stream()
    assert bench.session.readers.read_up_to() == bench.session.state()[0].step
    del live
    assert bench.session.readers.read_up_to() is None


def test_results_that_were_asked_for_stay(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A DataFrame made while a run goes on can still be read some steps later."""
    monkeypatch.setattr(results, "_MERGE", 2)
    bench.session.start()
    asked = bench.session.query("hot").results()
    live = bench.session.query("hot").stream()
    for value in (4.0, 5.0, 6.0):
        bench.feed(*pair(value), run=False)
        assert next(live)["x"] == value
    assert values(asked.collect()) == [3.0]
    bench.session.stop()
