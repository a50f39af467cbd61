"""Attaching to a run: statements that change it, and its results as they come, through a real socket."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source
from penstock.place import Batch, Place
from penstock.runtime.engine import Engine
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests.test_kept import CATALOG, said


class Bench:
    """A project that runs, and somebody who attaches to it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        for part in ("catalog", "queries", "data/Heat"):
            (folder / part).mkdir(parents=True)
        (folder / "penstock.yml").touch()
        (folder / "catalog" / "streams.yml").write_text(CATALOG)
        (folder / "queries" / "all.cql").write_text("SELECT k, v FROM Heat\n")
        self.folder = folder
        self.place = Place(folder, spark)
        assert said(self.place, "CREATE QUERY early AS SELECT v FROM Heat WHERE v > 0")
        self.session = Session(folder, spark=spark)
        self.session.start()

    def feed(self, *values: float) -> None:
        """A file of readings."""
        folder = self.folder / "data" / "Heat"
        number = len(list(folder.iterdir()))
        rows = [{"k": number, "v": value, "ts": f"2026-01-01 00:00:{value:06.3f}"} for value in values]
        unfinished = folder / f".{number}"
        unfinished.write_text("".join(json.dumps(row) + "\n" for row in rows))
        unfinished.rename(folder / f"{number}.json")

    def select(self, text: str) -> Iterator[Batch]:
        return self.place.select(Source("<repl>", text))


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(spark, tmp_path)
    yield made
    made.session.stop()


def first(batches: Iterator[Batch], count: int) -> list[list[Any]]:
    """So many rows, as they come."""
    rows: list[list[Any]] = []
    while len(rows) < count:
        rows += next(batches).rows
    return rows


def test_a_run_is_changed_and_followed(bench: Bench) -> None:
    """What was kept begins with the run; queries come and go from elsewhere; every result is given once."""
    place, session = bench.place, bench.session
    assert place.other_process == os.getpid()
    assert not (bench.folder / ".penstock" / "registered.json").exists() and "early" in session.queries
    assert said(place, "CREATE QUERY hot AS SELECT v FROM Heat WHERE v > 3").startswith("hot runs, complete from ")
    hot, everything = place.tail("hot"), place.tail("ALL")
    assert next(hot).columns == ["_ts", "v"] and next(everything).columns == ["_ts", "k", "v"]
    bench.feed(2.0, 4.0, 5.0)
    assert first(hot, 2) == [["2026-01-01 00:00:04", 4.0], ["2026-01-01 00:00:05", 5.0]]
    bench.feed(6.0)
    assert first(hot, 1) == [["2026-01-01 00:00:06", 6.0]]
    assert [row[2] for row in first(everything, 4)] == [2.0, 4.0, 5.0, 6.0]
    assert said(place, "ALTER QUERY hot AS SELECT v FROM Heat WHERE v > 7").startswith("hot runs")
    looked = bench.select("SELECT k + 100 AS far FROM Heat")
    assert next(looked).columns == ["_ts", "far"]
    assert any(name.startswith("select_") for name in place.names().queries)
    bench.feed(7.0, 8.0)
    assert [row[1] for row in first(looked, 2)] == [102, 102]
    assert first(hot, 1) == [["2026-01-01 00:00:08", 8.0]]
    looked.close()
    assert said(place, "DROP QUERY hot").startswith("hot is dropped")
    assert [batch.said for batch in hot] == ["hot was dropped"]
    with pytest.raises(PenstockError, match=r"<repl>:1:8: error: unknown column 'w'"):
        next(bench.select("SELECT w FROM Heat"))
    with pytest.raises(PenstockError, match=f"process {os.getpid()} runs this project already"):
        place.start()
    (early,) = [batch.rows for batch in place.results("early", 2) if batch.rows]
    assert [row[1] for row in early] == [7.0, 8.0]
    session.stop()
    rest = list(everything)
    assert rest[-1].said == "the run has ended" and [row[2] for batch in rest for row in batch.rows] == [7.0, 8.0]
    assert place.other_process is None
    assert sorted(place.names().queries) == ["all", "early"]  # a session here, with what stood at the end


def test_a_run_begun_from_here(bench: Bench, spark: SparkSession) -> None:
    """The same place begins a run of its own when the other one has ended, and says what that fails of."""
    bench.session.stop()
    place = bench.place
    assert place.steps is None and not place.stop()
    place.start()
    with pytest.raises(PenstockError, match="a run goes on here already"):
        place.start()
    (bench.folder / "queries" / "all.cql").unlink()  # it is watched
    everything = place.tail("all")
    assert [batch.said for batch in everything if batch.said] == ["all was dropped"]
    early = place.tail("early")
    next(early)
    bench.feed(9.0)
    assert [row[1] for row in first(early, 1)] == [9.0] and place.steps
    assert Place(bench.folder).other_process == os.getpid()  # and others can attach to it
    assert place.stop() and place.steps is None
    assert [batch.said for batch in early if batch.said] == ["the run has ended"]


def test_a_run_that_fails(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the run here has failed of is said once, and statements go on."""
    bench.session.stop()
    place = bench.place

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "chunk")

    monkeypatch.setattr(Engine, "_step", full)
    place.start()
    early = place.tail("early")
    next(early)
    bench.feed(1.0)
    assert [batch.said for batch in early] == ["the run has ended"]
    with pytest.raises(PenstockError, match="the disk is full"):
        place.look_after_the_run()
    place.look_after_the_run()
    assert "early" in place.names().queries
