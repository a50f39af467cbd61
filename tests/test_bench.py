"""The benchmark suite: how it measures, compares answers, and shows what it found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.bench import measure as measuring
from penstock.bench import peers
from penstock.bench.answers import judge
from penstock.bench.core import Case, Found, Measured, Plot, Setting, Shown, Table, Workload
from penstock.bench.goals import Goal
from penstock.bench.measure import measure
from penstock.bench.page import finish
from penstock.bench.plots import draw
from penstock.bench.report import goal_rows, page
from penstock.bench.suite import run_one
from penstock.bench.systems import SYSTEMS, System

CODE = """
import os, threading

BEGAN = []


def start():
    BEGAN.append(1)


def run(job):
    if job.get("die"):
        os._exit(3)
    if job.get("wait"):
        threading.Event().wait()
    if job.get("wrong"):
        raise ValueError("this cannot be done")
    with open(job["notes"], "a") as notes:
        notes.write(job["name"] + "\\n")
    return {"seconds": job["seconds"], "results": job.get("results"), "began": len(BEGAN), "work": job["work"]}
"""

Measure = Callable[..., Found]


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Measure cases of a system that does what it is told; the notes of its jobs are in `notes`."""
    code = tmp_path / "fake.py"
    code.write_text(CODE, encoding="utf-8")
    monkeypatch.setitem(SYSTEMS, "fake", System("fake", "A fake", str(code)))
    monkeypatch.setitem(SYSTEMS, "other", System("other", "Another", str(code)))

    def run(*cases: Case, rounds: int = 3) -> Found:
        setting = Setting(tmp_path, "tiny", rounds, frozenset({"fake", "other"}))
        return measure(cases, setting, tmp_path / "logs", lambda text: None)

    return run


def _case(tmp_path: Path, name: str, **job: Any) -> Case:
    own = {key: job.pop(key) for key in ("warm", "counted", "rounds", "limit", "system", "answers") if key in job}
    values = {"notes": str(tmp_path / "notes"), "name": name, "seconds": 1.0, **job}
    return Case(name, own.pop("system", "fake"), values, **own)


def _answered(system: str, *rounds: Any, name: str = "", counted: Any = None) -> Measured:
    found = [{"seconds": 1.0, "results": results} for results in rounds]
    case = Case(name or system, system, {}, answers="same")
    return Measured(case, found, counted={} if counted is None else {"results": counted})


def test_systems_take_turns_after_a_warm_up(measured: Measure, tmp_path: Path) -> None:
    found = measured(
        _case(tmp_path, "a", warm={"name": "warm"}),
        _case(tmp_path, "b", system="other", rounds=1),
        _case(tmp_path, "c", counted={"name": "count", "results": 7}),
    )
    assert (tmp_path / "notes").read_text().split() == ["warm", "a", "b", "count", "c", "c", "a", "a", "c"]
    assert [len(one.rounds) for one in found.values()] == [3, 1, 3]
    assert found["c"].counted["results"] == 7
    assert found["a"].last("began") == 1
    assert all(one.rounds[-1]["peak_mb"] >= 0 for one in found.values())


def test_the_folder_of_a_job_is_its_own_and_is_removed(measured: Measure, tmp_path: Path) -> None:
    found = measured(_case(tmp_path, "a"))
    folders = {Path(one["work"]) for one in found["a"].rounds}
    assert len(folders) == 3 and not any(folder.exists() for folder in folders)


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ({"wrong": True}, "ValueError: this cannot be done"),
        ({"die": True}, "the process ended with code 3"),
        ({"wait": True, "limit": 0.0}, "took longer than 0 s"),
    ],
)
def test_a_failure_is_said_and_the_others_go_on(
    measured: Measure, tmp_path: Path, job: dict[str, Any], said: str
) -> None:
    found = measured(_case(tmp_path, "bad", **job), _case(tmp_path, "good"), rounds=2)
    assert said in found["bad"].failure and found["bad"].remark.startswith("failed: ")
    assert found["bad"].median() is None
    assert len(found["good"].rounds) == 2 and not found["good"].remark


def test_a_peer_that_cannot_be_installed_is_left_out(
    measured: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(command: list[str]) -> None:
        raise peers.PeerMissing("ERROR: no network")

    monkeypatch.setattr(peers, "folder", lambda: tmp_path / "peers")
    monkeypatch.setattr(peers, "_run", refuse)
    monkeypatch.setitem(SYSTEMS, "other", System("other", "Another", "none.py", ("nothing==1",)))
    found = measured(_case(tmp_path, "bad", system="other"), _case(tmp_path, "good"), rounds=1)
    assert found["bad"].failure == "cannot be installed: ERROR: no network"
    assert found["good"].is_valid


def test_systems_that_are_not_wanted_are_left_out(tmp_path: Path) -> None:
    setting = Setting(tmp_path, "tiny", 1, frozenset({"duckdb"}))
    assert not measure([Case("a", "spark", {})], setting, tmp_path, lambda text: None)


def test_duckdb_judges() -> None:
    good, bad = _answered("penstock", {"q": 5}, {"q": 5}), _answered("flink", counted={"q": 4})
    bad.rounds.append({"seconds": 1.0})
    judge([good, bad, _answered("duckdb", {"q": 5})])
    assert not good.void and good.is_valid
    assert bad.void == "4 results of q, 5 by duckdb" and not bad.is_valid
    assert bad.median() is None and bad.remark.startswith("VOID")


def test_without_a_judge_all_that_differ_are_void() -> None:
    one, other = _answered("penstock", 5), _answered("spark", 4)
    judge([one, other])
    assert one.void and other.void


def test_rounds_of_one_case_must_agree() -> None:
    one = _answered("penstock", {"q": 5}, {"q": 6})
    judge([one])
    assert one.void == "its own rounds differ: 5 results of q, 6"


def test_only_queries_that_both_know_are_compared() -> None:
    some = _answered("duckdb", {"q1": 1})
    more, others, total = (
        _answered("penstock", {"q1": 1, "q2": 9}),
        _answered("spark", {"q3": 1}),
        _answered("flink", 1),
    )
    judge([some, more, others, total])
    assert not more.void and not total.void
    assert others.void == "they tell of different queries by duckdb"


def test_checksums_are_compared() -> None:
    one, other = _answered("penstock", 5), _answered("duckdb", 5)
    one.rounds[0]["checksum"], other.rounds[0]["checksum"] = 12, 13
    judge([one, other])
    assert one.void == "checksum 12, 13 by duckdb"


def test_cases_that_are_not_compared() -> None:
    one = Measured(Case("a", "penstock", {}, compared=False), [{"results": 1}, {"results": 2}])
    judge([one])
    assert not one.void


def test_medians_and_spread() -> None:
    one = Measured(Case("a", "penstock", {}), [{"seconds": 3.0}, {"seconds": 1.0}, {"seconds": 2.0, "more": 7}])
    found = Found([one, Measured(Case("b", "spark", {}), [{"seconds": 6.0}])])
    assert one.median() == 2.0 and one.spread() == (1.0, 3.0) and one.median("none") is None
    assert one.last("more") == 7 and one.last("none", 0) == 0
    assert found.ratio("b", "a") == 3.0 and found.ratio("b", "c") is None


def test_goals() -> None:
    least, most = Goal("", "", "w", "x", at_least=2), Goal("", "", "w", "y", at_most=2)
    figures = {"w": {"x": 2, "y": None}}
    assert least.reached(figures) == 2 and least.is_met(2) and not least.is_met(1.9)
    assert most.reached(figures) is None and most.is_met(2) and not most.is_met(2.1)


def test_a_workload_becomes_a_page_with_plots(measured: Measure, tmp_path: Path) -> None:
    def cases(setting: Setting) -> list[Case]:
        return [
            _case(tmp_path, "a", results=1),
            _case(tmp_path, "b", results=2, answers="a"),
            _case(tmp_path, "c", answers="a", results=1),
        ]

    def show(setting: Setting, found: Found) -> Shown:
        series = {"one": [(1.0, 2.0), (2.0, 3.0)]}
        table = Table("t", "A table", ("", "value"), [("a|b", "1")], "A note.")
        plots = [Plot("lines", "Lines", "x", "y", series), Plot("bars", "Bars", "x", "y", series, kind="bars")]
        return Shown([table], {"spark": 9.0, "flink": 1.0, "pathway": None}, plots, ["Noted."])

    chosen = Workload("windows", "A workload", "what it shows", cases, show)
    setting = Setting(tmp_path, "tiny", 1, frozenset({"fake"}))
    result = json.loads(json.dumps(run_one(chosen, setting, tmp_path / "logs", lambda text: None)))
    (tmp_path / "windows.json").write_text(json.dumps(result), encoding="utf-8")
    assert [row[3] for row in goal_rows([result])][:3] == ["met", "missed", "not measured"]

    files = finish(tmp_path, ["windows", "never run"])
    assert {path.name for path in files} == {"lines.png", "lines.svg", "bars.png", "bars.svg", "benchmarks.md"}
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    for part in ("![Lines](lines.svg)", "| a&#124;b | 1 |", "A note.", "- Noted.", "- VOID: b: ", "Size: tiny."):
        assert part in text
    assert text == page([result], tmp_path, tmp_path / "benchmarks.md")
    before = (tmp_path / "lines.svg").read_bytes()
    draw(result["plots"], tmp_path)
    assert (tmp_path / "lines.svg").read_bytes() == before


def test_rounds_alternate_their_order() -> None:
    cases = [_answered("a"), _answered("b")]
    assert [one.case.name for turn in range(3) for one in measuring.in_turn(cases, turn)] == list("abbaab")
