"""What random workloads do not reach: relations that change, sinks of all kinds, orders that follow measurements."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock import learning
from penstock.grammar.errors import PenstockError
from penstock.runtime import statistics
from penstock.runtime.engine import Engine, Migration
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests.duck import differences, expected, session_read
from penstock.tests.streams import SECOND, START, Asked, Workload, random_row

Rows = list[tuple[Any, ...]]
AB = "FROM A x, B y WHERE x.k = y.k"


def catalog_of(folder: Path, **relations: dict[str, Any]) -> dict[str, Any]:
    """Two streams A and B of (k, v, ts) in folders of their names, and relations."""
    stream = {"schema": {"k": "int", "v": "double", "ts": "timestamp"}, "lateness": "0 sec"}
    streams = {
        name: {
            **stream,
            "source": {"format": "parquet", "path": str(folder / name), "options": {"maxFilesPerTrigger": 1}},
        }
        for name in ("A", "B")
    }
    return {"streams": streams, "relations": relations}


def put(folder: Path, stream: str, number: int, rows: Rows) -> None:
    """A file of rows (k, v, second)."""
    (folder / stream).mkdir(exist_ok=True)
    columns = {
        "k": pa.array([row[0] for row in rows], pa.int32()),
        "v": pa.array([float(row[1]) for row in rows], pa.float64()),
        "ts": pa.array([START + timedelta(seconds=row[2]) for row in rows], pa.timestamp("us", tz="UTC")),
    }
    unfinished = folder / stream / f".f{number:03}.parquet"
    pq.write_table(pa.table(columns), unfinished)
    os.utime(unfinished, (1_700_000_000 + number, 1_700_000_000 + number))  # Spark takes files in this order
    unfinished.rename(unfinished.with_name(unfinished.name[1:]))


def session_of(spark: SparkSession, folder: Path, queries: dict[str, str], **relations: dict[str, Any]) -> Session:
    for stream in ("A", "B"):
        (folder / stream).mkdir(exist_ok=True)
    session = Session(catalog=catalog_of(folder, **relations), state=folder / "state", spark=spark)
    for name, text in queries.items():
        session.register(name, text)
    return session


def found(session: Session, query: str) -> Counter[tuple[Any, ...]]:
    """Results as seconds and values."""
    rows = session.results(query).selectExpr("unix_seconds(_ts) AS at", "*").drop("_ts").collect()
    return Counter((row[0] - int(START.timestamp()), *row[1:]) for row in rows)


def kinds(folder: Path) -> dict[str, Any]:
    return {
        "schema": {"k": "int", "label": "string"},
        "source": {"format": "csv", "path": str(folder / "kinds*.csv"), "options": {"header": "true"}},
    }


def test_a_relation_that_changes(spark: SparkSession, tmp_path: Path) -> None:
    """New rows find it as it is when they are worked on; rows that are no rows of it are set aside and counted."""
    (tmp_path / "kinds.csv").write_text("k,label\n1,one\nx,bad\n")
    session = session_of(spark, tmp_path, {"q": "SELECT x.v, K.label FROM A x, K WHERE x.k = K.k"}, K=kinds(tmp_path))
    shown: list[Any] = []
    session.on_step = lambda _: shown.append(session.execute("SHOW RELATIONS")[0])
    put(tmp_path, "A", 0, [(1, 1, 1), (2, 2, 2)])
    session.run(once=True)
    assert found(session, "q") == Counter([(1, 1.0, "one")])
    assert shown == [{"relation": "K", "rows": 1, "unreadable": 1}]
    (bad,) = (tmp_path / "state" / "rejected" / "K").glob("*.json")
    assert json.loads(bad.read_text()) == {"_reason": "k is no int", "k": "x", "label": "bad"}
    (tmp_path / "kinds2.csv").write_text("k,label\n1,uno\n2,two\n")
    put(tmp_path, "A", 1, [(1, 3, 3), (2, 4, 4)])
    session.run(once=True)
    assert found(session, "q") == Counter([(1, 1.0, "one"), (3, 3.0, "one"), (3, 3.0, "uno"), (4, 4.0, "two")])


def test_a_relation_that_changes_while_it_runs(spark: SparkSession, tmp_path: Path) -> None:
    """The next step sees it."""
    (tmp_path / "kinds.csv").write_text("k,label\n1,one\n")
    session = session_of(spark, tmp_path, {"q": "SELECT x.v, K.label FROM A x, K WHERE x.k = K.k"}, K=kinds(tmp_path))
    for number in range(3):
        put(tmp_path, "A", number, [(1, number, number)])
    steps = iter(range(10))
    session.on_step = lambda _: (tmp_path / "kinds.csv").write_text(f"k,label\n1,now{next(steps)}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Engine.__init__.__kwdefaults__, "step_rows", 1)
        session.run(once=True)
    assert found(session, "q") == Counter([(0, 0.0, "one"), (1, 1.0, "now0"), (2, 2.0, "now1")])


def facts(folder: Path) -> dict[str, Any]:
    """Key 1 holds from 0 to 5, key 2 from 10 on."""
    rows = [(1, 0, 5), (2, 10, 1000)]
    columns = {
        "k": pa.array([row[0] for row in rows], pa.int32()),
        **{
            name: pa.array([START + timedelta(seconds=row[place]) for row in rows], pa.timestamp("us", tz="UTC"))
            for place, name in ((1, "since"), (2, "until"))
        },
    }
    pq.write_table(pa.table(columns), folder / "facts.parquet")
    return {
        "schema": {"k": "int", "since": "timestamp", "until": "timestamp"},
        "valid": ["since", "until"],
        "source": {"format": "parquet", "path": str(folder / "facts.parquet")},
    }


@pytest.mark.parametrize(("prefilter", "kept"), [("true", 1), ("false", 6)])
def test_prefiltering(spark: SparkSession, tmp_path: Path, prefilter: str, kept: int) -> None:
    """Rows that no fact holds for are not kept, and those whose fact ends are released; the answer is the same.

    A row that the selection does not accept is not kept, whatever holds for it.
    """
    text = "SELECT x.v, y.v AS w FROM A x, B y, F WHERE x.k = F.k AND y.k = F.k AND x.v < 7 WINDOW 1 min"
    session = session_of(spark, tmp_path, {}, F=facts(tmp_path))
    session.execute(f"SET prefilter = {prefilter}")
    session.register("star", text)
    put(tmp_path, "A", 0, [(1, 1, 1), (1, 2, 4), (1, 3, 6), (2, 4, 9), (2, 5, 12), (3, 6, 12), (2, 7, 12)])
    put(tmp_path, "B", 0, [(1, 10, 2), (1, 20, 5), (2, 30, 13)])
    session.run(once=True)
    assert found(session, "star") == Counter([(2, 1.0, 10.0), (4, 2.0, 10.0), (13, 5.0, 30.0)])
    rows = {row["stream"]: row["rows"] for row in session.execute("SHOW STATE")}
    assert rows["A"] == kept


def test_a_fact_that_is_looked_for_later(spark: SparkSession, tmp_path: Path) -> None:
    """Rows that came before a star-streaming join was registered serve it, though it is not known what they match."""
    session = session_of(spark, tmp_path, {"near": f"SELECT x.v {AB} WINDOW 1 min"}, F=facts(tmp_path))
    put(tmp_path, "A", 0, [(1, 1, 1), (2, 2, 2), (2, 3, 11)])
    put(tmp_path, "B", 0, [(3, 0, 11)])
    session.run(once=True)
    session.register("star", "SELECT x.v, y.k FROM A x, B y, F WHERE x.k = F.k AND y.k = F.k WINDOW 1 min")
    put(tmp_path, "B", 1, [(1, 10, 12), (2, 20, 12)])
    session.run(once=True)
    assert found(session, "star") == Counter([(12, 3.0, 2)])


def test_sinks(spark: SparkSession, tmp_path: Path) -> None:
    """Files of every format, and what is no file: a database, and nothing at all."""
    url = f"jdbc:derby:{tmp_path}/db;create=true"
    sinks = {
        **{name: f"{name} '{tmp_path}/{name}'" for name in ("parquet", "json", "csv", "orc")},
        "jdbc": f"jdbc OPTIONS (url = '{url}', dbtable = 'hot', driver = 'org.apache.derby.jdbc.EmbeddedDriver')",
        "noop": "noop",
    }
    texts = {name: f"INSERT INTO {sink} SELECT x.k, x.v FROM A x WHERE x.v > 1" for name, sink in sinks.items()}
    texts["sums"] = (
        f"INSERT INTO json '{tmp_path}/sums' SELECT x.k, SUM(x.v) AS s FROM A x GROUP BY x.k WINDOW 2 sec SLIDE 2 sec"
    )
    texts["over"] = "SELECT p.v FROM parquet_ p WHERE p.k = 1"
    texts["parquet_"] = texts.pop("parquet")
    session = session_of(spark, tmp_path, {name: texts[name] for name in sorted(texts, key="over".__eq__)})
    put(tmp_path, "A", 0, [(1, 1, 1), (1, 2, 2), (2, 3, 3)])
    session.run(once=True)
    put(tmp_path, "A", 1, [(1, 4, 5)])
    session.run(drain=True)
    wanted = Counter([(1, 2.0), (2, 3.0), (1, 4.0)])
    for name in ("parquet", "json", "orc"):
        read = spark.read.format(name).load(f"{tmp_path}/{name}").selectExpr("CAST(k AS INT)", "v", "_ts")
        assert Counter((row[0], row[1]) for row in read.collect()) == wanted, name
    lines = [line.split(",") for file in (tmp_path / "csv").glob("*.csv") for line in file.read_text().splitlines()]
    assert Counter((int(k), float(v)) for _, k, v in lines) == wanted
    table = spark.read.format("jdbc").options(url=url, dbtable="hot").load()
    assert Counter((row["k"], row["v"]) for row in table.collect()) == wanted
    sums = [json.loads(line) for f in (tmp_path / "sums").glob("*.json") for line in f.read_text().splitlines()]
    assert Counter((row["k"], row["s"]) for row in sums) == Counter([(1, 3.0), (2, 3.0), (1, 4.0)])
    assert found(session, "over") == Counter([(2, 2.0), (5, 4.0)])


def test_a_query_that_others_read_is_altered(spark: SparkSession, tmp_path: Path) -> None:
    """Its stream begins anew: what the old query gave is no row of it any more."""
    queries = {
        "hot": "SELECT x.k, x.v FROM A x WHERE x.v > 1",
        "pairs": "SELECT h.k FROM hot h, B y WHERE h.k = y.k WINDOW 1 min",
    }
    session = session_of(spark, tmp_path, queries)
    put(tmp_path, "A", 0, [(1, 5, 1)])
    put(tmp_path, "B", 0, [(7, 0, 1)])
    session.run(once=True)
    session.alter("hot", "SELECT x.k, x.v FROM A x WHERE x.v > 7")
    put(tmp_path, "A", 1, [(2, 5, 2), (3, 9, 2)])
    put(tmp_path, "B", 1, [(1, 0, 3), (2, 0, 3), (3, 0, 3)])
    session.run(once=True)
    assert found(session, "pairs") == Counter([(3, 3)])


def test_rows_after_the_end(spark: SparkSession, tmp_path: Path) -> None:
    """Draining closes the windows: rows that would belong into one are late, later ones are not."""
    session = session_of(spark, tmp_path, {"n": "SELECT COUNT(*) AS n FROM A x WINDOW 4 sec SLIDE 2 sec"})
    put(tmp_path, "A", 0, [(1, 1, 1), (1, 2, 2)])
    session.run(once=True)
    assert found(session, "n") == Counter()  # a row may still come at 2
    session.run(drain=True)
    assert found(session, "n") == Counter([(2, 2), (4, 2)])
    put(tmp_path, "A", 1, [(1, 3, 3), (1, 4, 60), (1, 5, 70)])
    session.run(once=True)
    assert found(session, "n") == Counter([(2, 2), (4, 2), (60, 1), (62, 1)])
    (row,) = session.execute("SHOW STREAMS")
    assert (row["rows"], row["late"]) == (5, 1)


def test_counting_begins_while_it_runs(spark: SparkSession, tmp_path: Path) -> None:
    """Rows are counted from when somebody asks; what is the last row is known when enough have come."""
    session = session_of(spark, tmp_path, {"all": "SELECT x.v FROM A x"})
    put(tmp_path, "A", 0, [(1, 1, 1), (1, 2, 2)])
    session.run(once=True)
    session.register("last", "SELECT x.v FROM A x WINDOW 2 ROWS")
    for number, second in enumerate((3, 4, 5, 6, 7), 1):
        put(tmp_path, "A", number, [(1, second, second)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Engine.__init__.__kwdefaults__, "step_rows", 1)
        session.run(once=True)
    complete = session.query("last").complete_from
    assert complete is not None
    begin = int(complete[17:19])
    assert 3 < begin < 7
    assert found(session, "last") == Counter((second, float(second)) for second in range(begin, 7))


def test_orders_follow_measurements(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A join of three streams whose rates are not what the catalog says gets other orders, and the same results."""
    monkeypatch.setattr(learning, "LEARNED", 3)
    monkeypatch.setattr(statistics, "_FEWEST_ROWS", 2)
    monkeypatch.setattr(statistics, "_FEW_ROWS", 1)
    monkeypatch.setitem(Engine.__init__.__kwdefaults__, "step_rows", 1)
    rng = random.Random(3)
    rates = {"Heat": 2, "Wet": 8, "Load": 1}
    files = {
        stream: [
            [
                random_row(rng, stream, START + timedelta(seconds=number, milliseconds=100 * part))
                for part in range(rate)
            ]
            for number in range(6)
        ]
        for stream, rate in rates.items()
    }
    inputs = tuple((stream, stream[0], 2 * SECOND) for stream in rates)
    asked = [Asked("q", inputs, ("H.k = W.k", "H.n = L.n"), (("H.v", "v"), ("W.v", "w")), True)]
    given = Workload(0, asked, files)
    given.write(tmp_path / "data")
    catalog = given.catalog(tmp_path / "data")
    for stream, rate in (("Heat", 2), ("Wet", 1), ("Load", 1000)):
        catalog["streams"][stream]["statistics"] = {"rate": rate, "distinct": {"k": 5, "n": 5}}
    session = Session(catalog=catalog, state=tmp_path / "state", spark=spark)
    session.register("q", asked[0].text)
    migrations: list[Migration] = []
    session.on_migration = migrations.append
    before = session.compiled.shared.joins[0].orders
    session.run(once=True)
    assert {stage.kind for migration in migrations for stage in migration.stages} == {"order"}
    assert session.compiled.shared.joins[0].orders != before
    wanted = expected(asked, given.rows)
    assert wanted["q"].total() > 5
    assert not differences(wanted, {"q": session_read(session, asked[0])})


def test_what_others_read_stays(spark: SparkSession, tmp_path: Path) -> None:
    """A query that others read is not dropped, and not made to read them."""
    session = session_of(
        spark, tmp_path, {"one": "SELECT x.k, x.v FROM A x WHERE x.v > 1", "two": "SELECT p.k FROM one p"}
    )
    with pytest.raises(PenstockError, match="called 'one'"):
        session.drop("one")
    with pytest.raises(PenstockError, match="read its own results"):
        session.alter("one", "SELECT q.k FROM two q")
    assert session.queries == ("one", "two")


def test_a_time_window_with_a_selection_beside_one_of_rows(spark: SparkSession, tmp_path: Path) -> None:
    """Rows of one reach or another are joined with the last rows."""
    queries = {
        "all": "SELECT x.v FROM A x [RANGE 2 sec], B y [ROWS 1] WHERE x.k = y.k",
        "hot": "SELECT x.v FROM A x [RANGE 20 sec], B y [ROWS 1] WHERE x.k = y.k AND x.v > 3",
    }
    session = session_of(spark, tmp_path, queries)
    put(tmp_path, "A", 0, [(1, 2, 1), (1, 4, 2), (1, 3, 4)])
    put(tmp_path, "B", 0, [(1, 0, 1), (1, 0, 5), (1, 0, 9)])
    session.run(drain=True)
    assert found(session, "all") == Counter([(1, 2.0), (2, 4.0), (4, 3.0), (5, 3.0)])
    assert found(session, "hot") == Counter([(2, 4.0), (5, 4.0), (9, 4.0)])
