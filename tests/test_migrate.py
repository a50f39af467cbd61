"""Registering, altering and dropping queries: what each way does, and what it refuses."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.grammar.errors import PenstockError
from penstock.project import find_project
from penstock.runtime import engine
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests.streams import START, write_file
from penstock.watch import Watcher

JOIN = "SELECT A.k, A.v AS x, B.v AS y FROM Heat A, Wet B WHERE A.k = B.k"
HOT = f"{JOIN} AND A.v > 2.0 WINDOW 20 sec"


class Bench:
    """A session over files of rows that tests write one after the other."""

    def __init__(self, spark: SparkSession, folder: Path, **stream: Any) -> None:
        self.spark, self.folder, self.files = spark, folder, 0
        self.stream = stream
        for name in ("Heat", "Wet", "Load"):
            (folder / "data" / name).mkdir(parents=True)
        self.session = self.another()

    def another(self, **settings: str) -> Session:
        """A new session over the same folder."""
        schema = {"k": "int", "v": "double", "n": "int", "s": "string", "seen": "timestamp", "ts": "timestamp"}
        streams = {
            name: {
                "schema": schema,
                "timestamp": "ts",
                "source": {"format": "parquet", "path": str(self.folder / "data" / name)},
                **self.stream,
            }
            for name in ("Heat", "Wet", "Load")
        }
        return Session(catalog={"streams": streams}, state=self.folder / "state", spark=self.spark, settings=settings)

    def feed(self, *rows: tuple[str, float, int, float], run: bool = True) -> None:
        """Write rows of stream, second, key and value, each stream's into one file, and take them."""
        for name in sorted({row[0] for row in rows}):
            own = [
                {"k": k, "v": v, "n": int(v), "s": "a", "seen": None, "ts": START + timedelta(seconds=at)}
                for stream, at, k, v in rows
                if stream == name
            ]
            write_file(self.folder / "data" / name, self.files, own, "Heat")
        self.files += 1
        if run:
            self.session.run(once=True)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The results of a query, without their times."""
        return sorted(tuple(row)[1:] for row in self.session.results(query).collect())

    def complete(self, query: str) -> str | None:
        """Since when a query is complete."""
        return self.session.query(query).complete_from

    def kept(self) -> dict[str, int]:
        """Rows kept by stream."""
        return {row["stream"]: row["rows"] for row in self.session.execute("SHOW STATE")}


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    return Bench(spark, tmp_path)


def at(seconds: float) -> str:
    """A time as SHOW QUERIES gives it."""
    return (START + timedelta(seconds=seconds)).isoformat(sep=" ", timespec="microseconds")


def version(session: Session) -> int:
    return session.state()[0].plan


def test_the_same_again(bench: Bench) -> None:
    """The same query again is no change, however it is written; another one under its name is refused."""
    bench.session.register("hot", HOT)
    bench.feed(("Heat", 1, 1, 3.0), ("Wet", 2, 1, 5.0))
    before = version(bench.session)
    bench.session.register("hot", HOT.replace("A.", "Aa.").replace("Heat A", "Heat Aa").lower())
    bench.session.execute(f"CREATE QUERY hot AS {HOT}")
    bench.session.run(once=True)
    assert version(bench.session) == before
    with pytest.raises(PenstockError, match="already"):
        bench.session.register("HOT", f"{JOIN} WINDOW 1 sec")
    with pytest.raises(PenstockError, match="already"):
        bench.session.execute(f"CREATE QUERY Hot AS {JOIN} WINDOW 1 sec")


@pytest.mark.parametrize(
    "statement", ["CREATE QUERY b AS SELECT nothing FROM Heat", "ALTER QUERY hot AS SELECT", "DROP QUERY cold",
                  "ALTER QUERY hot SET WINDOW 0 sec", "DROP STREAM Heat", "SET sharing = 'x'",
                  "CREATE QUERY b AS SELECT COUNT(*) FROM Heat", "SELECT A.k FROM Heat A"],
)  # fmt: skip
def test_mistakes_change_nothing(bench: Bench, statement: str) -> None:
    """A statement that is wrong changes nothing of what runs."""
    bench.session.register("hot", HOT)
    bench.session.start()
    try:
        before = bench.session.program
        with pytest.raises(PenstockError):
            bench.session.execute(statement)
        assert bench.session.program is before and version(bench.session) == 1
    finally:
        bench.session.stop()


def test_while_it_runs(bench: Bench) -> None:
    """Registered, altered and dropped while it runs, from another thread than the one that makes steps."""
    with bench.session as session:
        session.start()
        hot = session.register("hot", HOT)
        assert hot.status == "running" and hot.complete_from == "the start"
        session.execute(f"CREATE QUERY all AS {JOIN} WINDOW 1 min")
        rows = session.execute("ALTER QUERY hot SET WINDOW 2 min")
        assert {row["stage"] for row in rows} == {"extend", "re-tag", "route", "merge"}
        session.drop("hot")
        assert hot.status == "dropped" and session.queries == ("all",)
        assert version(session) == 5
        session.drop("all")
        assert session.is_running and not session.execute("SHOW STREAMS")


def test_warm_start(bench: Bench) -> None:
    """A query whose rows others keep is complete at once; one that wants more, when the rows it needs are there."""
    bench.session.register("all", f"{JOIN} WINDOW 20 sec")
    bench.feed(("Heat", 0, 1, 3.0), ("Heat", 10, 1, 9.0), ("Wet", 10, 2, 0.0))
    bench.session.register("warm", f"{JOIN} AND A.v > 2.5 WINDOW 15 sec")
    bench.session.register("longer", f"{JOIN} AND A.v > 2.5 WINDOW 60 sec")
    bench.feed(("Wet", 14, 1, 7.0))
    assert bench.rows("warm") == [(1, 3.0, 7.0), (1, 9.0, 7.0)]
    assert bench.complete("all") == "the start"
    assert bench.complete("warm") == at(10 + 1e-6)
    assert bench.complete("longer") == at(10 - 20 + 60 + 1e-6)


def test_cold_start(bench: Bench) -> None:
    """Rows that nobody wanted are gone: what can be given is given, and the time from which on it is all is said."""
    bench.session.register("hot", f"{JOIN} AND A.v > 5.0 WINDOW 20 sec")
    bench.feed(("Heat", 0, 1, 3.0), ("Heat", 1, 1, 9.0), ("Wet", 1, 2, 0.0))
    bench.session.register("all", f"{JOIN} WINDOW 20 sec")
    bench.feed(("Wet", 2, 1, 7.0), ("Heat", 3, 1, 1.0))
    assert bench.rows("all") == [(1, 1.0, 7.0), (1, 9.0, 7.0)]
    assert bench.complete("all") == at(21 + 1e-6)


def test_retained_rows(spark: SparkSession, tmp_path: Path) -> None:
    """A stream that retains its rows has them for a query that comes later, with columns that nobody read before."""
    bench = Bench(spark, tmp_path, retain="30 sec")
    bench.session.register("hot", "SELECT A.k FROM Heat A WHERE A.v > 5.0")
    bench.session.register("damp", "SELECT A.k FROM Wet A WHERE A.v > 5.0")
    bench.feed(("Heat", 0, 1, 3.0), ("Heat", 1, 1, 9.0), ("Wet", 1, 2, 0.0))
    bench.session.register("all", "SELECT A.n, B.v FROM Heat A, Wet B WHERE A.k = B.k WINDOW 20 sec")
    bench.feed(("Wet", 2, 1, 7.0))
    assert bench.rows("all") == [(3, 7.0), (9, 7.0)]
    assert bench.complete("all") == at(1 + 1e-6)


def test_columns_not_kept(bench: Bench) -> None:
    """A row that lacks a column is never used for a query that wants it."""
    bench.session.register("all", f"{JOIN} WINDOW 20 sec")
    bench.feed(("Heat", 0, 1, 3.0), ("Wet", 0, 2, 0.0))
    bench.session.register("more", "SELECT A.s, A.n FROM Heat A, Wet B WHERE A.k = B.k WINDOW 20 sec")
    bench.feed(("Wet", 2, 1, 7.0), ("Heat", 3, 1, 1.0))
    assert bench.rows("more") == [("a", 1)]
    assert bench.rows("all") == [(1, 1.0, 7.0), (1, 3.0, 7.0)]
    assert bench.complete("more") == at(20 + 1e-6)


def test_rows_are_released_at_once(bench: Bench) -> None:
    """The rows that only a query that leaves has wanted are gone with it."""
    bench.session.register("long", f"{JOIN} WINDOW 1 hour")
    bench.session.register("short", f"{JOIN} WINDOW 10 sec")
    bench.feed(*((stream, second, 1, 3.0) for stream in ("Heat", "Wet") for second in range(5)))
    bench.feed(*((stream, second, 1, 3.0) for stream in ("Heat", "Wet") for second in range(60, 63)))
    assert bench.kept() == {"Heat": 8, "Wet": 8}
    bench.session.drop("long")
    with bench.session as session:
        session.start()
        assert bench.kept() == {"Heat": 3, "Wet": 3}


def test_unwanted_rows_are_released(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a selection that has left go when the plan has settled, though others of their age stay."""
    monkeypatch.setattr(engine, "_SETTLED", 1)
    bench.session.register("many", f"{JOIN} AND A.v > 1.0 WINDOW 1 hour")
    bench.session.register("few", f"{JOIN} AND A.v > 8.0 WINDOW 1 hour")
    bench.feed(*(("Heat", second, 1, second % 10) for second in range(100)), ("Wet", 99, 2, 1.0))
    assert bench.kept()["Heat"] == 80
    bench.session.drop("many")
    for second in (100, 101, 102):
        bench.feed(("Wet", second, 2, 1.0))
    assert bench.kept()["Heat"] == 10


def test_streams_come_and_go(bench: Bench) -> None:
    """A stream is read when the first query wants it, left with the last one, and taken up where it was left."""
    bench.session.register("warm", "SELECT A.k, A.v FROM Heat A")
    bench.feed(("Heat", 0, 1, 3.0), ("Load", 0, 1, 1.0))
    bench.session.register("busy", "SELECT A.k, A.v FROM Load A")
    bench.session.drop("warm")
    bench.feed(("Heat", 1, 1, 4.0), ("Load", 1, 1, 2.0))
    assert bench.rows("busy") == [(1, 1.0), (1, 2.0)]
    assert [row["stream"] for row in bench.session.execute("SHOW STREAMS")] == ["Load"]
    bench.session.register("again", "SELECT A.k, A.v FROM Heat A")
    bench.feed(("Heat", 2, 1, 5.0))
    assert bench.rows("again") == [(1, 4.0), (1, 5.0)]
    assert bench.complete("again") == at(1e-6)


def test_altered_columns(bench: Bench) -> None:
    """Results of before stay when a query is altered, as far as their columns fit."""
    bench.session.register("q", "SELECT A.k AS a, A.v AS b FROM Heat A")
    bench.session.register("p", "SELECT A.s AS a FROM Wet A")
    bench.feed(("Heat", 0, 1, 3.0), ("Wet", 0, 1, 3.0))
    bench.session.alter("q", "SELECT A.s AS a, A.k AS c FROM Heat A")
    bench.feed(("Heat", 1, 2, 4.0))
    assert bench.rows("q") == [("1", None), ("a", 2)]
    assert bench.rows("p") == [("a",)]


def test_registered_queries_stand(bench: Bench) -> None:
    """What was registered stands in the next session too, until it is dropped."""
    bench.session.register("hot", HOT)
    bench.session.register("gone", f"{JOIN} WINDOW 1 sec")
    bench.feed(("Heat", 1, 1, 3.0), ("Wet", 2, 1, 5.0))
    bench.session = bench.another()
    assert set(bench.session.queries) == {"hot", "gone"}
    bench.session.drop("gone")
    bench.session.register("hot", f"{JOIN} AND A.v > 2.0 WINDOW 3 sec")  # a program that was edited and runs again
    bench.feed(("Wet", 3, 1, 6.0))
    assert bench.rows("hot") == [(1, 3.0, 5.0), (1, 3.0, 6.0)]
    assert bench.another().queries == ("hot",)


@pytest.mark.parametrize(
    ("before", "after"),
    [("slice", "pull-up"), ("pull-up", "push-down"), ("push-down", "slice"), ("none", "slice"), ("slice", "none")],
)
def test_other_strategy(bench: Bench, before: str, after: str) -> None:
    """Another strategy or objective takes over the rows that are there."""
    session = bench.session = bench.another(sharing=before)
    session.register("hot", f"{JOIN} AND A.v > 5.0 WINDOW 1 hour")
    session.register("all", f"{JOIN} WINDOW 10 sec")
    bench.feed(("Heat", 0, 1, 3.0), ("Heat", 1, 1, 9.0), ("Wet", 1, 2, 0.0))
    session.execute(f"SET sharing = '{after}'")
    session.execute("SET objective = cpu")
    bench.feed(("Wet", 9, 1, 7.0), ("Wet", 100, 1, 8.0))
    assert bench.rows("all") == [(1, 3.0, 7.0), (1, 9.0, 7.0)]
    assert bench.rows("hot") == [(1, 9.0, 7.0), (1, 9.0, 8.0)]
    assert bench.complete("hot") == "the start"


def test_handover(bench: Bench) -> None:
    """Between plans that share and that do not, results come from the one until the other has all rows, each once."""
    session = bench.session = bench.another(sharing="none")
    session.register("a", f"{JOIN} AND A.v > 5.0 WINDOW 10 sec")
    session.register("b", f"{JOIN} WINDOW 10 sec")
    pairs = [(stream, second, 1, second + 0.5) for second in range(60) for stream in ("Heat", "Wet")]
    bench.feed(*pairs[:20])
    session.execute("SET sharing = 'slice'")
    bench.feed(*pairs[20:30])
    with pytest.raises(PenstockError, match="a short while ago"):
        session.execute("SET sharing = 'none'")
        session.run(once=True)
    session = bench.session = bench.another(sharing="slice")
    session.execute("SET objective = cpu")
    assert len(session.state()[0].chains) == 6
    bench.feed(*pairs[30:60])
    bench.feed(*pairs[60:])
    assert len(session.state()[0].chains) == 2
    times = range(60)
    met = [(h, w) for h in times for w in times if abs(h - w) < 10]
    assert bench.rows("b") == sorted((1, h + 0.5, w + 0.5) for h, w in met)
    assert bench.rows("a") == sorted((1, h + 0.5, w + 0.5) for h, w in met if h + 0.5 > 5)
    assert bench.complete("a") == "the start"


def test_further_query_makes_no_code(bench: Bench, spark: SparkSession) -> None:
    """One more query of a known template and window runs through the code that Spark has made already."""
    metrics = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics  # type: ignore[union-attr]
    for number in range(3):
        bench.session.register(f"q{number}", f"{JOIN} AND A.v > {number + 0.5} WINDOW 1 hour")

    def compiled_in_a_step() -> int:
        before = metrics.METRIC_COMPILATION_TIME().getCount()
        second = bench.files
        bench.feed(*((stream, second, 1, float(v)) for stream in ("Heat", "Wet") for v in range(4)))
        return int(metrics.METRIC_COMPILATION_TIME().getCount() - before)

    for _ in range(3):
        compiled_in_a_step()
    assert compiled_in_a_step() == 0
    bench.session.register("further", f"{JOIN} AND A.v > 0.25 WINDOW 1 hour")
    assert compiled_in_a_step() == 0
    assert len(bench.rows("further")) > len(bench.rows("q2"))


def test_preview(bench: Bench) -> None:
    """EXPLAIN of a change says what it would do, and does nothing."""
    bench.session.register("all", f"{JOIN} WINDOW 20 sec")
    bench.feed(("Heat", 0, 1, 3.0), ("Wet", 10, 2, 0.0))
    lines = [row["plan"].strip() for row in bench.session.execute(f"EXPLAIN CREATE QUERY hot AS {HOT}")]
    assert lines[0] == "The migration adds hot:"
    assert f"hot: complete from {at(10 + 1e-6)}" in lines
    assert any(line.startswith("predicted state: 40,000 rows before, 40,000 after") for line in lines)
    longer = bench.session.execute("EXPLAIN ALTER QUERY all SET WINDOW 1 min")
    assert f"all: complete from {at(50 + 1e-6)}" in [row["plan"].strip() for row in longer][-1]
    dropping = bench.session.execute("EXPLAIN DROP QUERY all")
    assert dropping[0]["plan"] == "The migration drops all:"
    assert bench.session.queries == ("all",) and version(bench.session) == 1


def test_files_that_change(spark: SparkSession, tmp_path: Path) -> None:
    """Files that appear, change or go while it runs; one with a mistake is told of and changes nothing."""
    bench = Bench(spark, tmp_path)
    queries = tmp_path / "queries"
    queries.mkdir()
    (tmp_path / "penstock.yml").write_text("state: state\n", encoding="utf-8")
    (queries / "streams.cql").write_text(
        f"CREATE STREAM S (k INT, v DOUBLE, ts TIMESTAMP) TIMESTAMP BY ts FROM parquet '{tmp_path}/data/Heat';",
        encoding="utf-8",
    )
    (queries / "all.cql").write_text("SELECT k, v FROM S", encoding="utf-8")
    said: list[str] = []
    with Session(tmp_path, spark=spark) as session:
        session.start()
        session.register("own", "SELECT v FROM S WHERE v > 1")
        watcher = Watcher(session, find_project(tmp_path), said.append)

        def look() -> list[str]:
            for _ in range(2):
                watcher.look()
            return sorted(session.queries)

        (queries / "hot.cql").write_text("SELECT k FROM S WHERE v > 5", encoding="utf-8")
        assert look() == ["all", "hot", "own"]
        (queries / "hot.cql").write_text("SELECT k FROM S WHERE v > 50", encoding="utf-8")
        look()
        assert "50" in session.compiled["hot"].explain()
        (queries / "hot.cql").write_text("SELECT k FROM", encoding="utf-8")
        assert look() == ["all", "hot", "own"] and "50" in session.compiled["hot"].explain()
        assert len(said) == 1 and "hot.cql:1:" in said[0]
        (queries / "hot.cql").unlink()
        assert look() == ["all", "own"]
        assert not bench.files


def test_moment_of_registration(bench: Bench) -> None:
    """The handle says when its results are complete, and that is a time."""
    bench.session.register("all", f"{JOIN} WINDOW 20 sec")
    bench.feed(("Heat", 0, 1, 3.0), ("Wet", 10, 2, 0.0))
    handle = bench.session.register("later", f"{JOIN} WINDOW 10 sec")
    bench.session.run(once=True)
    assert handle.complete_from is not None
    assert datetime.fromisoformat(handle.complete_from) > START
