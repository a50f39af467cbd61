"""Cases are measured: warm-ups, then rounds in which the systems take turns, each in a process of its own."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.bench.answers import judge
from penstock.bench.core import Case, Found, Job, Measured, Setting
from penstock.bench.peers import PeerMissing, python_for
from penstock.bench.processes import Worker, WorkerFailed
from penstock.bench.systems import SYSTEMS

Say = Callable[[str], None]


def measure(cases: Sequence[Case], setting: Setting, logs: Path, say: Say) -> Found:
    """Measure cases and compare what came out."""
    measured = [Measured(case) for case in cases if case.system in setting.systems]
    crew = Crew(setting, logs, say)
    try:
        for turn in range(setting.rounds):
            for place, one in enumerate(in_turn(measured, turn)):
                if not _is_due(one, turn, setting.rounds):
                    continue
                say(f"round {turn + 1}/{setting.rounds}, {place + 1}/{len(measured)}: {one.case.name} …")
                crew.measure(one)
                if one.failure:
                    say(f"  failed: {one.failure}")
                else:
                    say(f"  {one.rounds[-1].get('seconds', 0):,.2f} s")
                if not any(_is_due(other, later, setting.rounds) for other, later in _to_come(measured, one, turn)):
                    crew.dismiss(one.case)
    finally:
        crew.end()
    judge(measured)
    return Found(measured)


def in_turn(measured: list[Measured], turn: int) -> list[Measured]:
    """The cases in the order of a round: every other one goes backwards, so that none always follows the same."""
    return measured[::-1] if turn % 2 else measured


def _is_due(one: Measured, turn: int, rounds: int) -> bool:
    wanted = rounds if one.case.rounds is None else min(rounds, one.case.rounds)
    return not one.failure and turn < wanted and len(one.rounds) <= turn


def _to_come(measured: list[Measured], done: Measured, turn: int) -> list[tuple[Measured, int]]:
    """The cases that need the same process, and the rounds that they may need it in."""
    mine = [one for one in measured if key_of(one.case) == key_of(done.case)]
    return [(one, later) for one in mine for later in (turn, turn + 1)]


def key_of(case: Case) -> tuple[str, str]:
    """What tells the process of a case."""
    return case.system, case.worker


class Crew:
    """The worker processes that are there, and what they are ready for."""

    def __init__(self, setting: Setting, logs: Path, say: Say) -> None:
        self._setting = setting
        self._logs = logs
        self._say = say
        self._workers: dict[tuple[str, str], Worker] = {}
        self._warm: set[tuple[tuple[str, str], str]] = set()
        self._missing: dict[str, str] = {}

    def measure(self, one: Measured) -> None:
        """One more round of a case, after a warm-up if its process is new to it."""
        case = one.case
        try:
            worker = self._worker(case)
            ready = (key_of(case), case.name)
            if ready not in self._warm:
                if case.warm is not None:
                    self._do(worker, case, case.warm)
                if case.counted is not None and not one.counted:
                    one.counted = self._do(worker, case, case.counted)
                self._warm.add(ready)
            one.rounds.append(self._do(worker, case, {}))
        except PeerMissing as error:
            one.failure = f"cannot be installed: {error}"
        except WorkerFailed as error:
            one.failure = str(error)
            self.dismiss(case)

    def _do(self, worker: Worker, case: Case, instead: Job) -> Job:
        call = case.call or f"{SYSTEMS[case.system].code}:run"
        folder = self._setting.scratch / "work" / f"{time.monotonic_ns()}"
        folder.mkdir(parents=True)
        try:
            return worker.do(call, {**case.job, "work": str(folder), **instead}, case.limit)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _worker(self, case: Case) -> Worker:
        key = key_of(case)
        if key not in self._workers:
            system = SYSTEMS[case.system]
            if system.name in self._missing:
                raise PeerMissing(self._missing[system.name])
            try:
                python = python_for(system, self._say)
            except PeerMissing as error:
                self._missing[system.name] = str(error)
                raise
            self._workers[key] = Worker(python, self._logs / f"{case.system}.log")
        return self._workers[key]

    def dismiss(self, case: Case) -> None:
        """End the process of a case."""
        worker = self._workers.pop(key_of(case), None)
        if worker is not None:
            worker.end()
        self._warm = {ready for ready in self._warm if ready[0] != key_of(case)}

    def end(self) -> None:
        """End all processes."""
        for worker in self._workers.values():
            worker.end()
        self._workers.clear()
