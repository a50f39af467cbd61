"""Whatever of the language the queries use: every result of every query, once, as far as it is due."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from penstock.runtime import probe, tallies
from penstock.runtime.engine import Engine
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests import hammad_example, towne_example
from penstock.tests.duck import Bag, differences, plain_read, session_read
from penstock.tests.language_questions import Data, Question
from penstock.tests.language_reference import answers
from penstock.tests.language_workloads import KINDS, LanguageWorkload, workload
from penstock.tests.test_runtime_exact import far_away, merge_eagerly, run, settings_of

__all__ = ["far_away"]  # a fixture of every test here too

FEW = (1, 4)
MANY = tuple(seed for seed in range(400) if seed not in FEW)
A_KIND = tuple((kind, 0) for kind in KINDS)
MORE_OF_A_KIND = tuple((kind, seed) for seed in range(1, 12) for kind in KINDS)


def check(session: Session, queries: Iterable[Question], folder: Path, wanted: dict[str, Bag]) -> None:
    """Compare the files of results, and what the session reads, with what there must be."""
    queries = list(queries)
    for found in (
        {asked.name: plain_read(folder / "state", asked) for asked in queries},
        {asked.name: session_read(session, asked) for asked in queries[:3]},
    ):
        wrong = differences({name: wanted[name] for name in found}, found)
        assert not wrong, [wrong, *(f"{asked.name}: {asked.text}" for asked in queries)]


def run_and_check(
    spark: SparkSession, folder: Path, patch: pytest.MonkeyPatch, given: LanguageWorkload, seed: int
) -> None:
    """Run a workload one, three or all files at a time, in one run or several, and drain it or not."""
    rng = random.Random(seed)
    merge_eagerly(patch, rng)
    patch.setattr(tallies, "_FEW_INSTANTS", rng.choice((0, 8)))
    patch.setattr(probe, "_SPREAD", rng.choice((0, 4)))
    patch.setattr(probe, "_SMALL_RELATION", rng.choice((0, 200_000)))
    patch.setitem(Engine.__init__.__kwdefaults__, "step_rows", rng.choice((1, 20, 1_000_000)))
    files, parts = rng.choice((1, 1, 3, 100)), rng.choice((1, 1, 2, 3))
    session = run(spark, given, folder, files, settings_of(seed), parts)
    drained = rng.random() < 1 / 3
    if drained:
        if rng.random() < 0.5:  # what is due before is there already
            check(session, given.queries, folder, answers(given.queries, given.data))
        session.run(drain=True)
    check(session, given.queries, folder, answers(given.queries, given.data, drained=drained))


@pytest.mark.parametrize("seed", [*FEW, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MANY)])
def test_random(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A random workload of everything."""
    run_and_check(spark, tmp_path, monkeypatch, workload(seed), seed)


@pytest.mark.parametrize(
    ("kind", "seed"), [*A_KIND, *(pytest.param(*one, marks=pytest.mark.slow) for one in MORE_OF_A_KIND)]
)
def test_kind(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, seed: int) -> None:
    """A random workload of one kind of queries, and of those that they read."""
    run_and_check(
        spark, tmp_path, monkeypatch, workload(1_000 + seed, kinds={kind}, queries=4), seed + KINDS.index(kind)
    )


def run_example(spark: SparkSession, folder: Path, data: Data, queries: list[Question]) -> Session:
    """Run an example to the end of its rows."""
    data.write(folder / "data")
    session = Session(catalog=data.catalog(folder / "data"), state=folder / "state", spark=spark)
    for asked in queries:
        session.register(asked.name, asked.text)
    session.run(once=True)
    return session


def test_towne(spark: SparkSession, tmp_path: Path) -> None:
    """The worked example of star-streaming joins: 15 results, as important as 43 together."""
    asked = towne_example.QUESTION
    session = run_example(spark, tmp_path, towne_example.DATA, [asked])
    check(session, [asked], tmp_path, {asked.name: towne_example.RESULTS})


def test_hammad(spark: SparkSession, tmp_path: Path) -> None:
    """The queries as printed, at the end of the rows and when every window is closed."""
    queries = [hammad_example.HOW_MANY, hammad_example.HIGHEST]
    session = run_example(spark, tmp_path, hammad_example.DATA, queries)
    check(session, queries, tmp_path, hammad_example.results(drained=False))
    session.run(drain=True)
    check(session, queries, tmp_path, hammad_example.results(drained=True))
