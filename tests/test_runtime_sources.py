"""What streams are read from and results written to: formats, bad and late rows, mistakes said in one sentence."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.grammar.errors import PenstockError
from penstock.runtime import faults
from penstock.runtime.engine import Engine
from penstock.runtime.lock import Lock
from penstock.runtime.log import Log, State
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests.streams import START

SCHEMA = {"k": "int", "v": "double", "ts": "timestamp"}
HEADER = "k,v,ts\n"
ALL = "SELECT A.k, A.v FROM S A"


def put(folder: Path, name: str, text: str) -> None:
    """A file that Spark takes after those that were put before it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f".{name}").write_text(text, encoding="utf-8")
    moment = 1_700_000_000 + len(list(folder.iterdir()))
    os.utime(folder / f".{name}", (moment, moment))
    (folder / f".{name}").rename(folder / name)


def at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")


def session_of(
    spark: SparkSession, folder: Path, format: str, queries: dict[str, str] | None = None, **stream: Any
) -> Session:
    """A session over one stream S, read one file at a time from a folder `data`."""
    options = {"maxFilesPerTrigger": 1, **({"header": "true"} if format == "csv" else {})}
    source = {"format": format, "path": str(folder / "data"), "options": options}
    entry = {"schema": SCHEMA, "timestamp": "ts", "lateness": "5 sec", "source": source, **stream}
    if entry["source"] is None:
        del entry["source"]
    session = Session(catalog={"streams": {"S": entry}}, state=folder / "state", spark=spark)
    for name, text in (queries or {"all": ALL}).items():
        session.register(name, text)
    return session


def rows_of(session: Session, name: str = "all") -> list[tuple[Any, ...]]:
    return sorted((tuple(row)[1:] for row in session.results(name).collect()), key=str)


def aside(folder: Path) -> list[tuple[str, Any]]:
    """The reasons for which rows were set aside, and their k."""
    files = sorted((folder / "state" / "rejected" / "S").rglob("*.json"))
    found = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return sorted(((row["_reason"], row.get("k")) for row in found), key=str)


def counts(session: Session) -> tuple[int, int, int]:
    (row,) = session.execute("SHOW STREAMS")
    return row["rows"], row["late"], row["unreadable"]


def test_csv(spark: SparkSession, tmp_path: Path) -> None:
    """Columns are found by the names in the header; what does not convert is set aside with the reason."""
    lines = [f"1.5,1,{at(1)}", f"x,2,{at(1)}", f",3,{at(1)}", f"2.5,4.5,{at(1)}", "2.5,5,", "2.5,6,soon"]
    put(tmp_path / "data", "a.csv", "v,k,ts\n" + "\n".join(lines) + "\n")
    put(tmp_path / "data", "b.csv", f"v,k,ts\n7,7,{at(2)}\n8\n")
    session = session_of(spark, tmp_path, "csv")
    session.run(once=True)
    assert rows_of(session) == [(1, 1.5), (3, None), (7, 7.0)]
    assert aside(tmp_path) == [
        ("k is no int", "4.5"),
        ("the line cannot be read", None),
        ("ts is no timestamp", "6"),
        ("ts, the event time, is missing", "5"),
        ("v is no double", "2"),
    ]
    assert counts(session) == (8, 0, 5)


def test_json(spark: SparkSession, tmp_path: Path) -> None:
    """Lines that are no JSON, values of the wrong kind and rows without a time are set aside."""
    good = [{"k": 1, "v": 1, "ts": at(1)}, {"v": 2.5, "ts": at(1), "more": [1]}, {"k": "3", "v": None, "ts": at(1)}]
    bad = [{"k": "x", "v": 1, "ts": at(1)}, {"k": 5, "v": 1}]
    lines = [*map(json.dumps, [*good, *bad]), '{"k": 6, "v"', "[]"]
    put(tmp_path / "data", "a.json", "\n".join(lines) + "\n")
    session = session_of(spark, tmp_path, "json")
    session.run(once=True)
    assert rows_of(session) == [(1, 1.0), (3, None), (None, 2.5)]
    assert [reason for reason, _ in aside(tmp_path)] == [
        "k is no int",
        "the line cannot be read",
        "ts, the event time, is missing",
    ]
    assert counts(session) == (6, 0, 3)


def test_parquet_of_other_types(spark: SparkSession, tmp_path: Path) -> None:
    """Files with other types than the catalog says are converted, time zones and precisions included."""
    (tmp_path / "data").mkdir()
    times = pa.array([START.replace(tzinfo=None), None], pa.timestamp("ms"))
    table = pa.table({"TS": times, "k": pa.array([2**40, 1], pa.int64()), "v": pa.array([3, 4], pa.int32())})
    pq.write_table(table, tmp_path / "data" / "a.parquet")
    pq.write_table(table.set_column(1, "k", pa.array([7, 8], pa.int64())), tmp_path / "data" / "b.parquet")
    session = session_of(spark, tmp_path, "parquet")
    session.run(once=True)
    assert [tuple(row) for row in session.results("all").collect()] == [(START.replace(tzinfo=None), 7, 3.0)]
    assert [reason for reason, _ in aside(tmp_path)] == [
        "k is no int",
        "ts, the event time, is missing",
        "ts, the event time, is missing",
    ]


def test_late_rows(spark: SparkSession, tmp_path: Path) -> None:
    """A row further behind than the lateness is set aside and counted; one exactly at the watermark is not."""
    put(tmp_path / "data", "a.csv", HEADER + f"1,1,{at(10)}\n2,1,{at(1)}\n")
    put(tmp_path / "data", "b.csv", HEADER + f"3,1,{at(5)}\n4,1,{at(4.999999)}\n5,1,{at(20)}\n")
    session = session_of(spark, tmp_path, "csv")
    session.run(once=True)
    put(tmp_path / "data", "c.csv", HEADER + f"6,1,{at(14)}\n7,1,{at(16)}\n")
    session.run(once=True)
    assert [k for k, _ in rows_of(session)] == [1, 2, 3, 5, 7]
    assert aside(tmp_path) == [("it is behind the watermark", "4"), ("it is behind the watermark", "6")]
    assert counts(session) == (7, 2, 0)


MISTAKES = {
    "no path": ({"source": {"format": "parquet", "path": "/nowhere/at/all"}}, "nothing at '/nowhere/at/all'"),
    "unknown format": ({"source": {"format": "parket", "path": "/tmp"}}, "no format 'parket'"),
    "no source": ({"source": None}, "the stream S has no source"),
    "missing column": ({"schema": {**SCHEMA, "w": "double"}}, "the source of S has no column w"),
    "bad option": (
        {"source": {"format": "csv", "path": "/tmp", "options": {"maxFilesPerTrigger": "x"}}},
        "S cannot be",
    ),
}


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(spark: SparkSession, tmp_path: Path, mistake: str, format: str) -> None:
    """A source that cannot be read gives one sentence and what to do about it."""
    stream, message = MISTAKES[mistake]
    (tmp_path / "data").mkdir()
    if format == "csv":
        put(tmp_path / "data", "a.csv", HEADER + f"1,1,{at(1)}\n")
    else:
        columns = {"k": pa.array([1], pa.int32()), "v": pa.array([1.0]), "ts": pa.array([START])}
        pq.write_table(pa.table(columns), tmp_path / "data" / "a.parquet")
    with pytest.raises(PenstockError) as caught:
        session_of(spark, tmp_path, format, {"q": "SELECT A.* FROM S A"}, **stream).run(once=True)
    assert message in caught.value.message
    assert "\n" not in caught.value.message and "Traceback" not in caught.value.message
    assert caught.value.hint


def test_busy_state(spark: SparkSession, tmp_path: Path) -> None:
    """Two runs cannot share a state folder; the error names the other one."""
    put(tmp_path / "data", "a.csv", HEADER)
    lock = Lock(tmp_path / "state")
    lock.acquire()
    with pytest.raises(PenstockError, match=f"in use by process {os.getpid()} on "):
        session_of(spark, tmp_path, "csv").run(once=True)
    lock.release()
    session_of(spark, tmp_path, "csv").run(once=True)


OTHERS = {
    "another constant": "SELECT A.k, A.v FROM S A WHERE A.v > 2",
    "another constant shown": "SELECT A.k, A.v + 2 AS v FROM S A WHERE A.v > 1",
    "another column": "SELECT A.k, A.ts AS v FROM S A WHERE A.v > 1",
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("dies", [False, True])
def test_state_of_other_queries(spark: SparkSession, tmp_path: Path, other: str, dies: bool) -> None:
    """A state folder goes on with other queries: what was read for those of before is still theirs to answer."""

    def die(point: str) -> None:
        if point == "chunk-noted" and dies:
            raise RuntimeError

    put(tmp_path / "data", "a.csv", HEADER + f"1,1.5,{at(1)}\n2,3,{at(1)}\n")
    queries = {"q": "SELECT A.k, A.v + 1 AS v FROM S A WHERE A.v > 1"}
    faults.on_reach(die)
    try:
        session_of(spark, tmp_path, "csv", queries).run(once=True)
    except PenstockError:
        assert dies
    faults.on_reach(None)
    session = session_of(spark, tmp_path, "csv", {"q": OTHERS[other], "r": queries["q"]})
    put(tmp_path / "data", "b.csv", HEADER + f"3,4,{at(2)}\n")
    session.run(once=True)
    text = {"another column": "v"}.get(other, "CAST(v AS double)")
    last = session.results("q").selectExpr("k", text).where("k = 3").count()
    assert last == 1
    assert (3, 5.0) in rows_of(session, "r")
    if not dies:
        session = session_of(spark, tmp_path, "csv", queries)
        assert rows_of(session, "q")[:2] == [(1, 2.5), (2, 4.0)]


def read_sink(folder: Path, format: str) -> list[tuple[int, float]]:
    """What a plain read of a sink's folder gives."""
    files = [file for file in sorted(folder.rglob(f"*.{format}")) if file.relative_to(folder).parts[0][0] not in "_."]
    rows: list[dict[str, Any]] = []
    for file in files:
        if format == "parquet":
            rows += pq.ParquetFile(file).read().to_pylist()
        elif format == "csv":
            rows += csv.DictReader(file.read_text(encoding="utf-8").splitlines())
        else:
            rows += [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return sorted((int(row["k"]), float(row["v"])) for row in rows)


@pytest.mark.parametrize("format", ["json", "csv", "parquet"])
def test_sinks(spark: SparkSession, tmp_path: Path, format: str) -> None:
    """INSERT INTO writes every result once, also if the run dies after it wrote and does the step again."""
    for number in range(3):
        put(tmp_path / "data", f"{number}.csv", HEADER + f"{number},0.5,{at(number)}\n{number},1.5,{at(number)}\n")
    options = " OPTIONS (header = true)" if format == "csv" else ""
    text = f"INSERT INTO {format} '{tmp_path / 'out'}'{options} SELECT A.k, A.v FROM S A WHERE A.v > "
    queries = {"low": text + "0", "high": text + "1"}
    wanted = sorted((number, v) for number in range(3) for v in (0.5, 1.5, 1.5))
    session = session_of(spark, tmp_path, "csv", queries)
    for _ in range(2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Log, "commit", _fails)
            with pytest.raises(RuntimeError):
                session.run(once=True)
        assert not Counter(read_sink(tmp_path / "out", format)) - Counter(wanted)
    session.run(once=True)
    assert read_sink(tmp_path / "out", format) == wanted


_commit = Log.commit


def _fails(log: Log, state: State) -> None:
    """The plan is committed, and no step after it."""
    if state.step:
        raise RuntimeError("the disk is full")
    _commit(log, state)


@pytest.fixture
def two(tmp_path: Path) -> dict[str, Any]:
    """A catalog of two streams, of which the second may be idle."""
    for stream in ("S", "T"):
        (tmp_path / stream).mkdir()
    options = {"header": "true", "maxFilesPerTrigger": 1}
    return {
        "streams": {
            name: {
                "schema": SCHEMA,
                "timestamp": "ts",
                "lateness": "1 sec",
                "source": {"format": "csv", "path": str(tmp_path / name), "options": options},
                **({"idle_timeout": "1 ms"} if name == "T" else {}),
            }
            for name in ("S", "T")
        }
    }


def test_idle_stream(spark: SparkSession, tmp_path: Path, two: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream without rows for longer than its timeout holds the others back no more; what it brings then is late."""
    monkeypatch.setitem(Engine.__init__.__kwdefaults__, "step_rows", 1)
    session = Session(catalog=two, state=tmp_path / "state", spark=spark)
    session.register("near", "SELECT A.ts AS a, B.ts AS b FROM S A, T B WHERE A.k = B.k WINDOW 2 sec")
    put(tmp_path / "T", "a.csv", HEADER + f"1,1,{at(1)}\n")
    for number in range(4):
        put(tmp_path / "S", f"{number}.csv", HEADER + f"1,1,{at(10 * number)}\n1,1,{at(10 * number + 1)}\n")
    session.run(once=True)
    assert {row["stream"]: row["rows"] for row in session.execute("SHOW STATE")}["S"] == 2
    put(tmp_path / "T", "b.csv", HEADER + f"1,1,{at(30)}\n1,1,{at(10)}\n")
    session.run(once=True)
    assert [(a.second, b.second) for a, b in rows_of(session, "near")] == [(0, 1), (1, 1), (30, 30), (31, 30)]
    assert {row["stream"]: row["late"] for row in session.execute("SHOW STREAMS")} == {"S": 0, "T": 1}


def test_command_line(tmp_path: Path) -> None:
    """A project run and its results shown from the shell: exit codes, results on stdout, plain lines on stderr."""
    put(tmp_path / "data", "a.csv", HEADER + f"1,1.5,{at(1)}\n2,x,{at(1)}\n")
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "all.cql").write_text(
        "CREATE STREAM S (k INT, v DOUBLE, ts TIMESTAMP) TIMESTAMP BY ts FROM csv 'data' OPTIONS (header = true);\n"
        "CREATE QUERY every AS SELECT k, v FROM S;\n"
    )
    (tmp_path / "penstock.yml").write_text("state: state\nspark: {spark.driver.memory: 1g}\n")

    def shell(*args: str) -> tuple[int, str, str]:
        command = [str(Path(sys.executable).parent / "penstock"), *args]
        zone = {**os.environ, "TZ": "America/New_York"}
        done = subprocess.run(command, cwd=tmp_path, env=zone, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    code, out, err = shell("run", "--once")
    assert (code, out) == (0, "")
    lines = err.splitlines()
    assert any(line.startswith("step 1: ") and "S +2, results +1" in line for line in lines), err
    assert any("1 row set aside" in line for line in lines), err
    assert "\x1b" not in err and "Traceback" not in err
    code, out, err = shell("results", "every", "-f", "csv")
    assert (code, out.splitlines()) == (0, ["_ts,k,v", "2026-01-01 00:00:01,1,1.5"]), err
    code, out, err = shell("results", "nothing")
    assert (code, out) == (1, "") and "no query called 'nothing'" in err
