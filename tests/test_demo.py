"""The demonstration, in a short form: what it does, what it says, and the folder that it leaves."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.demo import run_demo
from penstock.demo.savings import Measured
from penstock.demo.scenario import Scenario, acts, prepare, scenario
from penstock.demo.show import saved
from penstock.demo.view import View, clock
from penstock.grammar.errors import PenstockError
from penstock.project import find_project
from penstock.runtime.lock import Lock
from penstock.runtime.session import SparkSession
from penstock.sensors import DataCenter, Failure
from penstock.session import Session
from penstock.starter import template
from penstock.verbosity import Verbosity

SHORT = Scenario(
    DataCenter(racks=40, aisle=10, period=10, failures=(Failure(1, 0, 160),), moved=60),
    acts(120, 150, 180),
    live=240,
    later=60,
    tick=30,
    pause=0,
)
"""All of it at once, with few readings."""


@pytest.fixture(autouse=True)
def normal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.verbosity._level", Verbosity.NORMAL)


def test_it_runs_to_its_end(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_demo(tmp_path, played=SHORT, spark=spark)
    out, err = capsys.readouterr()
    project = find_project(tmp_path)
    assert {file.stem for file in project.query_files()} == {
        *("alarm", "climate", "hot", "muggy", "overload", "owners", "scorching", "warm")
    }
    assert "WINDOW 4 min" in (tmp_path / "queries" / "hot.cql").read_text()

    assert "scorching is complete from 12:0" in err
    assert "route " in err and ": add scorching" in err
    assert "rows of Humidity are kept for 4 min, not 5 min" in err
    assert "critical" in err and "alarm at 12:0" in err
    alone, shared = (line.split() for line in out.splitlines() if line.startswith(("each query", "one shared")))
    kept = [int(words[3].replace(",", "")) for words in (alone, shared)]
    assert 0 < kept[1] < kept[0]
    assert alone[-1] == shared[-1] != "0"  # the same number of results
    assert f"run {tmp_path} --once" in out

    with Session(tmp_path, spark=spark) as session:
        taken = {row["stream"]: row["rows"] for row in session.execute("SHOW STREAMS")}
        assert taken == {"Temperature": 4 * 240, "Humidity": 4 * 240, "Load": 96}
        session.run(once=True)
        later = {row["stream"]: row["rows"] for row in session.execute("SHOW STREAMS")}
        assert later == {"Temperature": 4 * 300, "Humidity": 4 * 300, "Load": 120}


def test_ctrl_c(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends after the step that is under way, and the folder can be used."""
    step = View.step

    def interrupted(self: View, *args: object) -> None:
        monkeypatch.setattr(View, "step", step)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        step(self, *args)

    monkeypatch.setattr(View, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_demo(tmp_path, played=SHORT, spark=spark)
    assert not Lock(tmp_path / ".penstock").is_held()
    with Session(tmp_path, spark=spark) as session:
        assert session.state()[0].step > 0
        session.run(once=True)


# The folder


def test_it_can_be_run_again(tmp_path: Path) -> None:
    """What the first one made is gone, whatever it had done to the queries."""
    played = scenario()
    prepare(tmp_path, played)
    for act in played.acts:
        act.carry_out(tmp_path)
    (tmp_path / "data" / "temperature").mkdir()
    (tmp_path / "data" / "temperature" / "0.parquet").touch()
    (tmp_path / ".penstock").mkdir()
    (tmp_path / ".penstock" / "log").touch()
    prepare(tmp_path, played)
    found = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert found == {*template("demo"), "data/racks.csv"}


def a_query_of_ones_own(folder: Path) -> str:
    (folder / "queries" / "mine.cql").write_text("SELECT Value FROM Temperature")
    return "mine.cql is not as the demonstration has written it"


def a_query_that_was_changed(folder: Path) -> str:
    (folder / "queries" / "warm.cql").write_text("SELECT Value FROM Temperature")
    return "warm.cql is not as the demonstration has written it"


def another_project(folder: Path) -> str:
    (folder / "penstock.yml").write_text("name: mine")
    return "is not empty"


def something_else(folder: Path) -> str:
    (folder / "penstock.yml").unlink()
    return "is not empty"


@pytest.mark.parametrize(
    "change",
    [a_query_of_ones_own, a_query_that_was_changed, another_project, something_else],
    ids=lambda it: it.__name__,
)
def test_nobodys_work_is_lost(tmp_path: Path, change: object) -> None:
    prepare(tmp_path, scenario())
    said = change(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(PenstockError, match=said):
        prepare(tmp_path, scenario())
    assert before == {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}


def test_not_while_a_run_goes_on(tmp_path: Path) -> None:
    prepare(tmp_path, scenario())
    lock = Lock(tmp_path / ".penstock")
    lock.acquire()
    with pytest.raises(PenstockError, match="is in use by process"):
        prepare(tmp_path, scenario())
    lock.release()


# What is said


def test_what_sharing_saves() -> None:
    alone, shared = Measured(2_000, 10.0, 12.0, 500, 70), Measured(1_500, 5.0, 9.0, 500, 70)
    lines = saved(alone, shared).splitlines()
    assert [line.split() for line in lines if line.startswith("sharing saves")] == [
        ["sharing", "saves", "25%", "50%", "25%"]
    ]
    more = saved(shared, alone)  # it is said as well when it saves nothing
    assert "-33%" in more


def test_a_time_of_day() -> None:
    assert clock("2026-01-31 12:03:20.000001+00:00") == "12:03:20"
    assert clock("the start") == "the start"
    assert clock(None) == "not known yet"


def test_seeds_make_other_readings() -> None:
    one, other = scenario(1), scenario(2)
    assert one.center.readings("temperature", 0, 10) != other.center.readings("temperature", 0, 10)
    assert replace(other.center, seed=1) == one.center
