"""Whatever the queries, rows, files, strategy and interruptions: every result of every query, once."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.compiler.settings import OBJECTIVES, SHARING
from penstock.runtime import propagate, results
from penstock.runtime.engine import Engine
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests.duck import differences, expected, plain_read, session_read
from penstock.tests.streams import Workload, workload

FEW = (*range(40), 181, 221, 228)
MANY = tuple(seed for seed in range(400) if seed not in FEW)


@pytest.fixture(autouse=True)
def far_away() -> Iterator[None]:
    """Python in another time zone than Spark, which must make no difference."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


def merge_eagerly(patch: pytest.MonkeyPatch, rng: random.Random) -> None:
    """Half the time, let little be enough to be merged."""
    if rng.random() < 0.5:
        patch.setattr(propagate, "_FAN_IN", 2)
        patch.setattr(propagate, "_SPANS", rng.choice((0.01, 1)))
        patch.setattr(propagate, "_WASTE", 0.0)
        patch.setattr(results, "_MERGE", 2)


def run(
    spark: SparkSession, given: Workload, folder: Path, files: int, settings: dict[str, str], parts: int
) -> Session:
    """Run a workload to its end, in so many runs with more files each time."""
    for stream in given.files:
        (folder / "data" / stream).mkdir(parents=True)
    for part in range(parts):
        given.write(folder / "data", part, parts)
        catalog = given.catalog(folder / "data", files)
        session = Session(catalog=catalog, state=folder / "state", spark=spark, settings=settings)
        for asked in given.queries:
            session.register(asked.name, asked.text)
        session.run(once=True)
    return session


def check(session: Session, given: Workload, folder: Path) -> None:
    """Compare everything with the reference."""
    wanted = expected(given.queries, given.rows)
    for found in (
        {asked.name: plain_read(folder / "state", asked) for asked in given.queries},
        {asked.name: session_read(session, asked) for asked in given.queries[:3]},
    ):
        assert not differences({name: wanted[name] for name in found}, found), [str(q.text) for q in given.queries]


def settings_of(seed: int) -> dict[str, str]:
    """Every strategy and objective in turn."""
    return {"sharing": SHARING[seed % 4], "objective": OBJECTIVES[seed // 4 % 3]}


@pytest.mark.parametrize("seed", [*FEW, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MANY)])
def test_random(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A random workload, taken one, three or all files at a time, in one run or several, with or without merging."""
    rng = random.Random(seed)
    merge_eagerly(monkeypatch, rng)
    monkeypatch.setitem(Engine.__init__.__kwdefaults__, "step_rows", rng.choice((1, 20, 1_000_000)))
    given = workload(seed)
    session = run(spark, given, tmp_path, rng.choice((1, 1, 3, 100)), settings_of(seed), rng.choice((1, 1, 2, 3)))
    check(session, given, tmp_path)
