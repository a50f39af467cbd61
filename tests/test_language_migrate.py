"""Queries of every kind that come, change and go while others read them, while it runs, dies and goes on."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from penstock.compiler.settings import OBJECTIVES
from penstock.compiler.warm import EVER
from penstock.grammar.errors import PenstockError
from penstock.runtime import engine
from penstock.runtime.engine import Engine
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests.duck import Bag, plain_read
from penstock.tests.language_questions import Question
from penstock.tests.language_reference import answers
from penstock.tests.language_workloads import LanguageWorkload, workload
from penstock.tests.test_migrate_exact import SHARED, Life, Schedule, nobody_dies_later
from penstock.tests.test_runtime_exact import merge_eagerly

__all__ = ["nobody_dies_later"]  # a fixture of every test here too

FEW = (3, 11)
MANY = tuple(seed for seed in range(200) if seed not in FEW)


@dataclass
class LanguageSchedule(Schedule):
    """A random schedule in which a query comes after those that it reads, and goes before them."""

    given: LanguageWorkload
    drained: bool = False

    def session(self) -> Session:
        """A session that wants just the queries that stand; those that read others are dropped first."""
        catalog = self.given.catalog(self.folder / "data", self.rng.choice((1, 1, 3)))
        for stream in catalog["streams"].values():
            stream["retain"] = self.retain
        settings = {"sharing": self.sharing, "objective": self.rng.choice(OBJECTIVES)}
        session = Session(catalog=catalog, state=self.folder / "state", spark=self.spark, settings=settings)
        for name in reversed(session.queries):
            if name not in self.standing:
                session.drop(name)
        for life in self.standing.values():
            session.register(life.asked.name, life.asked.text)
        return session

    def change(self, session: Session | None, *, live: bool) -> None:
        """Register a query, drop or alter one that no other reads, or set another strategy."""
        what = self.rng.choice(("register", "register", "register", "drop", "alter", "set"))
        unread = [name for name in self.standing if not self._readers(name)]
        if what == "register" and (asked := self.next_spare()):
            self.register(session, asked)
        elif what == "drop" and len(self.standing) > 1:
            life = self.standing[self.rng.choice(unread)]
            if session is not None:
                session.drop(life.asked.name)
            self.leave(life, live)
        elif what == "alter" and unread:
            life = self.standing[self.rng.choice(unread)]
            asked = self.next_spare(besides=life.asked)
            if asked is None:
                return
            changed = replace(asked, name=life.asked.name)
            before = plain_read(self.folder / "state", life.asked)
            if session is not None:
                session.alter(changed.name, changed.text)
            self.leave(life, live)
            self.standing[changed.name] = Life(changed, before, not live)
        elif what == "set" and session is not None:
            sharing = self.rng.choice((*SHARED, "none"))
            try:
                session.execute(f"SET sharing = '{sharing}'")
                self.sharing = sharing
            except PenstockError as error:
                assert error.label == "handover"  # the switch before is not through

    def next_spare(self, besides: Question | None = None) -> Question | None:
        """A query whose reads all stand; to alter one, with as many columns, so that a plain read tells them apart."""
        known = {asked.name for asked in self.given.queries}
        able = [
            asked
            for asked in self.spare
            if all(read in self.standing for read in asked.reads if read in known)
            and (besides is None or (besides.name not in asked.reads and len(asked.outputs) == len(besides.outputs)))
        ]
        if not able:
            return None
        chosen = self.rng.choice(able)
        self.spare.remove(chosen)
        return chosen

    def _readers(self, name: str) -> list[str]:
        return [life.asked.name for life in self.standing.values() if name in life.asked.reads]

    def drain(self) -> None:
        """Close every window."""
        session = self.session()
        session.run(drain=True)
        self.drained = True
        _, starts = session.state()
        for name, life in self.standing.items():
            life.complete = starts[name].complete


def check(schedule: LanguageSchedule) -> None:
    """Compare what every query gave while it stood with the reference.

    All that it gave must be right, so that an aggregate that comes late says nothing of the time before.
    """
    given, state = schedule.given, schedule.folder / "state"
    wanted = answers([life.asked for life in schedule.standing.values()], given.data, drained=schedule.drained)
    for name, life in schedule.standing.items():
        found = plain_read(state, life.asked)
        own = found - life.before
        if life.surely_before:
            assert not own - wanted[name], ("too many", life.asked.text, life, own - wanted[name])
        if life.complete is None:
            continue
        due: Bag = Counter(
            {row: n for row, n in wanted[name].items() if life.complete == EVER or row[0][1] >= life.complete}
        )
        assert not due - found, ("missing", life.asked.text, life, due - found)  # it may have been altered to the same
    for life in schedule.left:
        if life.end is not None and life.asked.name not in schedule.standing:
            assert plain_read(state, life.asked) == life.end, ("after it was dropped", life.asked.text, life)


def schedule_of(spark: SparkSession, folder: Path, seed: int) -> LanguageSchedule:
    """Run a random schedule; a quarter of them to the end of every window."""
    rng = random.Random(seed)
    given = workload(seed, queries=12)
    sharing = "none" if seed % 8 == 7 else SHARED[seed % 3]
    schedule = LanguageSchedule(spark, folder, given, rng, sharing, spare=list(given.queries))
    schedule.retain = rng.choice(("0 ms", "0 ms", "2 sec"))
    for stream in given.files:
        (folder / "data" / stream).mkdir(parents=True)
    for _ in range(rng.randint(1, 5)):
        asked = schedule.next_spare()
        assert asked is not None
        schedule.register(None, asked)
    parts = rng.randint(2, 4)
    for part in range(parts):
        given.write(folder / "data", part, parts)
        schedule.run()
        for _ in range(rng.choice((0, 1, 2)) if part + 1 < parts else 0):
            schedule.change(None, live=False)
    if rng.random() < 0.25:
        schedule.drain()
    return schedule


@pytest.mark.parametrize("seed", [*FEW, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MANY)])
def test_schedule(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A query that stood all along has its own answer; a new one too from its time on, and nothing wrong before."""
    rng = random.Random(-seed)
    merge_eagerly(monkeypatch, rng)
    monkeypatch.setattr(engine, "_SETTLED", rng.choice((0, 2)))
    monkeypatch.setitem(Engine.__init__.__kwdefaults__, "step_rows", rng.choice((1, 20, 20, 1_000_000)))
    check(schedule_of(spark, tmp_path, seed))
