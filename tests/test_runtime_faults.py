"""A run that dies at any point of the protocol and is started again: no result lost, none twice."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from penstock.grammar.errors import PenstockError
from penstock.runtime import faults, propagate, results
from penstock.runtime.engine import Engine
from penstock.runtime.faults import POINTS
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests.duck import Bag, differences, expected, plain_read
from penstock.tests.streams import SECOND, Asked, Workload, arrivals

JOINED = (("Heat", "A", 3 * SECOND), ("Wet", "B", 3 * SECOND))
QUERIES = [
    Asked("near", JOINED, ("A.k = B.k",), (("A.v", "x"), ("B.v", "y")), True),
    Asked("hot", JOINED, ("A.k = B.k", "A.v > 2.0"), (("A.v", "x"),), True),
    Asked("alone", (("Heat", "A", None),), ("A.v > 1.5",), (("A.v", "x"), ("A.ts", "t")), False),
]
OF_OTHERS = ("rows-counted", "partials-written")
"""Points that these queries never reach; random schedules of all kinds of queries die there too."""


class Death(Exception):
    """The run dies."""


class Dying:
    """Dies when a point is reached for the nth time and at every point from then on: a dead process goes no further."""

    def __init__(self, point: str, occurrence: int) -> None:
        self.point, self.left, self.died = point, occurrence, False
        self._lock = threading.Lock()

    def __call__(self, point: str) -> None:
        with self._lock:
            self.left -= point == self.point
            self.died |= self.left == 0
            if self.died:
                raise Death(point)


class AtOnce:
    """Background work done when it is asked for, so that a run goes the same way every time."""

    def submit(self, work: Any, *args: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(work(*args))
        except Death as death:
            done.set_exception(death)
        return done

    def shutdown(self, wait: bool = True) -> None:
        pass


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small steps, and little is enough to be merged; nothing dies after the test."""
    for name, value in (("_FAN_IN", 2), ("_SPANS", 0.01), ("_WASTE", 0.0)):
        monkeypatch.setattr(propagate, name, value)
    monkeypatch.setattr(results, "_MERGE", 2)
    monkeypatch.setattr("penstock.runtime.background.ThreadPoolExecutor", lambda *_, **__: AtOnce())
    monkeypatch.setitem(Engine.__init__.__kwdefaults__, "step_rows", 8)
    yield
    faults.on_reach(None)


def small(seed: int) -> Workload:
    """A few queries over two streams in files of eight rows."""
    rng = random.Random(seed)
    rows = {stream: arrivals(rng, stream, 32) for stream in ("Heat", "Wet")}
    return Workload(seed, QUERIES, {stream: [own[i : i + 8] for i in range(0, 32, 8)] for stream, own in rows.items()})


def live(spark: SparkSession, given: Workload, folder: Path, hook: Dying | None, sharing: str) -> None:
    """Run once, to the end or to its death."""
    faults.on_reach(hook)
    catalog = given.catalog(folder / "data")
    session = Session(catalog=catalog, state=folder / "state", spark=spark, settings={"sharing": sharing})
    for asked in given.queries:
        session.register(asked.name, asked.text)
    try:
        session.run(once=True)
    except (Death, PenstockError):
        assert hook is not None and hook.died
    finally:
        faults.on_reach(None)


def shown(folder: Path, given: Workload) -> dict[str, Bag]:
    return {asked.name: plain_read(folder / "state", asked) for asked in given.queries}


@pytest.mark.parametrize("occurrence", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
@pytest.mark.parametrize("point", [point for point in POINTS if point not in OF_OTHERS])
def test_death(spark: SparkSession, tmp_path: Path, point: str, occurrence: int) -> None:
    """It dies, dies again on the way back, and then ends."""
    given = small(POINTS.index(point))
    sharing = ("push-down", "slice", "none")[occurrence - 1]
    given.write(tmp_path / "data")
    wanted = expected(given.queries, given.rows)
    for hook in (Dying(point, occurrence), Dying(point, 1)):
        live(spark, given, tmp_path, hook, sharing)
        assert hook.died or point == "plan-committed"  # then the plan is in force, and is not committed again
        found = shown(tmp_path, given)
        assert not any(found[name] - wanted[name] for name in wanted), "a row is there twice"
    live(spark, given, tmp_path, None, sharing)
    assert not differences(wanted, shown(tmp_path, given))
