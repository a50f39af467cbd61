"""Queries that come, change and go while it runs, dies and goes on: each has the answer that it must have."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from penstock.compiler.settings import OBJECTIVES
from penstock.compiler.warm import EVER
from penstock.grammar.errors import PenstockError
from penstock.runtime import engine, faults
from penstock.runtime.engine import Engine
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests.duck import Bag, expected, plain_read
from penstock.tests.streams import Asked, Workload, workload
from penstock.tests.test_runtime_exact import merge_eagerly
from penstock.tests.test_runtime_faults import Death, Dying

FEW = tuple(range(20))
MANY = tuple(range(20, 230))
SHARED = ("slice", "push-down", "pull-up")


@pytest.fixture(autouse=True)
def nobody_dies_later() -> Iterator[None]:
    """Nothing dies after the test."""
    yield
    faults.on_reach(None)


@dataclass
class Life:
    """A query while it stood: what came before under its name, and what is known of it when it left."""

    asked: Asked
    before: Bag = field(default_factory=Counter)
    surely_before: bool = True
    """Whether all that came before is in `before`."""
    complete: int | None = None
    end: Bag | None = None
    rows_at_end: int = 0


@dataclass
class Schedule:
    """A random schedule over a workload."""

    spark: SparkSession
    folder: Path
    given: Workload
    rng: random.Random
    sharing: str
    standing: dict[str, Life] = field(default_factory=dict)
    spare: list[Asked] = field(default_factory=list)
    written: int = 0

    def session(self) -> Session:
        """A session that wants just the queries that stand."""
        catalog = self.given.catalog(self.folder / "data", self.rng.choice((1, 1, 3)))
        for stream in catalog["streams"].values():
            stream["retain"] = self.retain
        settings = {"sharing": self.sharing, "objective": self.rng.choice(OBJECTIVES)}
        session = Session(catalog=catalog, state=self.folder / "state", spark=self.spark, settings=settings)
        for name in session.queries:
            if name not in self.standing:
                session.drop(name)
        for life in self.standing.values():
            session.register(life.asked.name, life.asked.text)
        return session

    def run(self) -> None:
        """Run to the end of what is there, through deaths, with changes in the middle."""
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            hook = Dying(self.rng.choice(faults.POINTS), self.rng.randint(1, 3))
            faults.on_reach(hook)
            try:
                self.session().run(once=True)
            except (Death, PenstockError):
                assert hook.died
            faults.on_reach(None)
        session = self.session()
        failures: list[BaseException] = []

        def work() -> None:
            try:
                session.run(once=True)
            except BaseException as failure:
                failures.append(failure)

        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(self.rng.choice((0, 1, 1, 3))):
            while thread.is_alive() and not session.is_running:
                thread.join(0.005)
            self.change(session, live=True)
        thread.join()
        if failures:
            raise failures[0]
        session.run(once=True)  # what was changed when the run had ended
        _, starts = session.state()
        for name, life in self.standing.items():
            life.complete = starts[name].complete
            start = starts[name]
            assert life.complete is not None or start.waits or start.counts or start.reads

    def change(self, session: Session | None, *, live: bool) -> None:
        """Register, drop or alter a query, or set another strategy."""
        what = self.rng.choice(("register", "register", "drop", "alter", "set"))
        if what == "register" and self.spare:
            self.register(session, self.spare.pop())
        elif what == "drop" and len(self.standing) > 1:
            life = self.standing[self.rng.choice(list(self.standing))]
            if session is not None:
                session.drop(life.asked.name)
            self.leave(life, live)
        elif what == "alter" and self.spare and self.standing:
            life = self.standing[self.rng.choice(list(self.standing))]
            changed = replace(self.spare.pop(), name=life.asked.name)
            if len(changed.outputs) != len(life.asked.outputs):
                return  # a plain read could not tell whose rows they are
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

    def register(self, session: Session | None, asked: Asked) -> None:
        self.standing[asked.name] = Life(asked)
        if session is not None:
            session.register(asked.name, asked.text)

    def leave(self, life: Life, live: bool) -> None:
        self.left.append(life)
        del self.standing[life.asked.name]
        life.end = None if live else plain_read(self.folder / "state", life.asked)

    left: list[Life] = field(default_factory=list)
    retain: str = "0 ms"


def check(schedule: Schedule) -> None:
    """Compare what every query gave while it stood with the reference."""
    given, state = schedule.given, schedule.folder / "state"
    for life in schedule.standing.values():
        found = plain_read(state, life.asked)
        (wanted,) = expected([life.asked], given.rows).values()
        own = found - life.before
        if life.surely_before:
            assert not own - wanted, ("too many", life, own - wanted)
        if life.complete is None:
            continue
        due: Bag = Counter({row: n for row, n in wanted.items() if life.complete == EVER or row[0][1] >= life.complete})
        assert not due - found, ("missing", life, due - found)  # it may have been altered to the same
    for life in schedule.left:
        if life.end is not None and life.asked.name not in schedule.standing:
            assert plain_read(state, life.asked) == life.end, ("after it was dropped", life)


def schedule_of(spark: SparkSession, folder: Path, seed: int) -> Schedule:
    """Run a random schedule."""
    rng = random.Random(seed)
    given = workload(seed, queries=10)
    sharing = "none" if seed % 8 == 7 else SHARED[seed % 3]
    schedule = Schedule(spark, folder, given, rng, sharing, spare=list(given.queries))
    schedule.retain = rng.choice(("0 ms", "0 ms", "2 sec"))
    for stream in given.files:
        (folder / "data" / stream).mkdir(parents=True)
    for _ in range(rng.randint(1, 4)):
        schedule.register(None, schedule.spare.pop())
    parts = rng.randint(2, 4)
    for part in range(parts):
        given.write(folder / "data", part, parts)
        schedule.run()
        for _ in range(rng.choice((0, 1, 2)) if part + 1 < parts else 0):
            schedule.change(None, live=False)
    return schedule


@pytest.mark.parametrize("seed", [*FEW, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MANY)])
def test_schedule(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A query that stood all along has its own answer; a new one too from its time on, and nothing else before."""
    rng = random.Random(-seed)
    merge_eagerly(monkeypatch, rng)
    monkeypatch.setattr(engine, "_SETTLED", rng.choice((0, 2)))
    monkeypatch.setitem(Engine.__init__.__kwdefaults__, "step_rows", rng.choice((1, 20, 20, 1_000_000)))
    check(schedule_of(spark, tmp_path, seed))
