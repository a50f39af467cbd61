"""Parts of the runtime that need no Spark: reaches, dead rows, what is merged, tables of constants."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path

import pytest

import penstock
from penstock.compiler.physical import KeepChain, Route
from penstock.compiler.shared import Chain
from penstock.grammar.errors import PenstockError
from penstock.runtime.chunks import Batch, Chunk, read_chunks
from penstock.runtime.columns import literal
from penstock.runtime.log import State, StreamState
from penstock.runtime.propagate import _FAN_IN, due
from penstock.runtime.reach import constant_reach, frontier, reach_sql
from penstock.runtime.route import Target, is_uniform
from penstock.runtime.session import SparkSession
from penstock.runtime.storage import Storage, _HadoopFiles, _LocalFiles
from penstock.tests.streams import SCHEMAS, SECOND

CATALOG = {"streams": {name: {"schema": schema, "timestamp": "ts"} for name, schema in SCHEMAS.items()}}
JOIN = "SELECT A.v FROM Heat A, Wet B WHERE A.k = B.k"


def heat_chain(*texts: str, sharing: str = "slice") -> Chain:
    """The chain of Heat for some queries."""
    queries = {f"q{number}": text for number, text in enumerate(texts)}
    plan = penstock.compile(queries, catalog=CATALOG, sharing=sharing).physical
    return next(op.chain for op in plan.of_kind(KeepChain) if op.chain.stream == "Heat")


FRONTIERS = {
    "the looser and longer makes the other superfluous": (
        (f"{JOIN} AND A.v > 5 WINDOW 10 sec", f"{JOIN} AND A.v > 7 WINDOW 1 sec"),
        [((5,), 10)],
    ),
    "the tighter and longer does not": (
        (f"{JOIN} AND A.v > 5 WINDOW 1 sec", f"{JOIN} AND A.v > 7 WINDOW 10 sec"),
        [((7,), 10), ((5,), 1)],
    ),
    "for < it is the other way round": (
        (f"{JOIN} AND A.v < 5 WINDOW 10 sec", f"{JOIN} AND A.v < 7 WINDOW 1 sec"),
        [((5,), 10), ((7,), 1)],
    ),
    "equalities do not cover one another": (
        (f"{JOIN} AND A.n = 5 WINDOW 10 sec", f"{JOIN} AND A.n = 7 WINDOW 1 sec"),
        [((5,), 10), ((7,), 1)],
    ),
    "the same constant counts once": (
        (f"{JOIN} AND A.n = 5 WINDOW 10 sec", f"{JOIN} AND A.n = 5 WINDOW 1 sec"),
        [((5,), 10)],
    ),
}


@pytest.mark.parametrize("case", FRONTIERS)
def test_frontier(case: str) -> None:
    """Only constants that make a difference are asked for, the longest reach first."""
    texts, wanted = FRONTIERS[case]
    (only,) = heat_chain(*texts).wanted
    assert [(constants, reach // SECOND) for constants, reach in frontier(only)] == wanted


def test_reach() -> None:
    """A row that every query takes has a fixed reach; else it depends on the row, and nobody may want it."""
    assert constant_reach(heat_chain(f"{JOIN} WINDOW 3 sec")) == 3 * SECOND
    chain = heat_chain(f"{JOIN} AND A.v > 5 WINDOW 3 sec", "SELECT A.s FROM Heat A WHERE A.s = 'it''s'")
    assert constant_reach(chain) is None
    text = reach_sql(chain)
    assert text.startswith("GREATEST(CASE WHEN ") and "array(3000000L, " in text and "array(0L, " in text
    assert "'it\\'s'" in text


DEAD = [
    (Chunk("c", 0, 10, 100, 5), 0, 0),
    (Chunk("c", 0, 10, 100, 5), 10, 50),
    (Chunk("c", 0, 10, 100, 5), 15, 100),
    (Chunk("c", 0, 10, 100, 50, ((5, 20),)), 15, 80),
    (Chunk("c", 0, 10, 100, 50, ((5, 20),)), 55, 90),
    (Chunk("c", 7, 7, 4, 5), 11, 0),
    (Chunk("c", 7, 7, 4, 5), 13, 4),
]


@pytest.mark.parametrize(("chunk", "horizon", "dead"), DEAD)
def test_dead_rows(chunk: Chunk, horizon: int, dead: float) -> None:
    """Rows die when the horizon has passed their reach; a chunk is dead with its last row."""
    assert chunk.dead_rows(horizon) == dead
    assert chunk.is_dead(horizon) == (dead == chunk.rows)


def test_due() -> None:
    """Neighbours of about one size are merged, within one reach of a partitioned chain, and wasteful chunks renewed."""
    chain = heat_chain(f"{JOIN} WINDOW 120 sec")
    alike = tuple(Chunk(f"c{i}", i * SECOND, (i + 1) * SECOND, 100, 120 * SECOND) for i in range(_FAN_IN))
    merge = due(chain, alike[::-1], None)
    assert merge is not None and merge.chunks == alike
    assert due(chain, alike[:-1], None) is None
    assert due(chain, (*alike[:-1], Chunk("big", 3, 4, 10_000, 120 * SECOND)), None) is None
    far = tuple(Chunk(f"c{i}", 20 * i * SECOND, 20 * i * SECOND, 100, 120 * SECOND) for i in range(_FAN_IN))
    assert due(chain, far, None) is None
    short = heat_chain(f"{JOIN} WINDOW 30 sec")
    merge = due(short, alike, None)
    assert merge is not None and merge.chunks == alike[:4]  # more would span more than a seventh of the window
    old = Chunk("old", 0, 10 * SECOND, 100, 120 * SECOND)
    merge = due(chain, (old, *far[1:4]), 126 * SECOND)
    assert merge is not None and merge.chunks == (old,) and merge.horizon == 126 * SECOND


def test_due_keeps_reaches_apart() -> None:
    """Chunks of another reach are never merged with."""
    chain = heat_chain(f"{JOIN} AND A.v > 5 WINDOW 120 sec", f"{JOIN} WINDOW 60 sec", sharing="push-down")
    assert chain.partitioned
    mixed = tuple(Chunk(f"c{i}", i, i + 1, 100, (60 + 60 * (i % 2)) * SECOND) for i in range(2 * _FAN_IN))
    merge = due(chain, mixed, None)
    assert merge is not None and len({chunk.reach for chunk in merge.chunks}) == 1
    assert due(chain, mixed[:-2], None) is None


def test_uniform() -> None:
    """Whether all the streams of every query have the same window."""
    for windows, uniform in (("[RANGE 1 sec]", True), ("[RANGE 2 sec]", False)):
        text = f"SELECT A.v FROM Heat A [RANGE 1 sec], Wet B {windows} WHERE A.k = B.k"
        plan = penstock.compile({"q": text, "p": f"{JOIN} WINDOW 3 sec"}, catalog=CATALOG).physical
        routes = plan.of_kind(Route)
        assert is_uniform([Target(route.shape, route.members) for route in routes]) is uniform


@pytest.mark.parametrize("files", [_LocalFiles, _HadoopFiles])
def test_files(spark: SparkSession, tmp_path: Path, files: type) -> None:
    """Python's way with local files does what Hadoop's does."""
    own = files(spark) if files is _HadoopFiles else files()
    root = f"file:{tmp_path}/a b"
    assert own.names(root) == [] and not own.exists(f"{root}/x")
    own.write(f"{root}/x/é.json", "one")
    own.write(f"{root}/x/é.json", "zwei ü")
    assert own.read(f"{root}/x/é.json") == "zwei ü"
    own.write(f"{root}/y/z", "")
    assert own.names(root) == ["x", "y"] and own.names(f"{root}/x") == ["é.json"]
    own.move(f"{root}/x", f"{root}/y")
    assert own.names(root) == ["y"] and own.names(f"{root}/y") == ["é.json"]
    own.move(f"{root}/y/é.json", f"{root}/new/e")
    assert own.read(f"{root}/new/e") == "zwei ü"
    own.delete(f"{root}/new/e")
    own.delete(f"{root}/y")
    own.delete(f"{root}/never")
    assert own.names(root) == ["new"]
    assert Storage(spark, root).path("log", "1") == f"{root}/log/1"


def test_local_files_keep_permissions(spark: SparkSession, tmp_path: Path) -> None:
    """What Spark writes can be read by those whom the user's mask lets read it."""
    spark.range(1).coalesce(1).write.parquet(str(tmp_path / "rows"))
    (file,) = (tmp_path / "rows").glob("*.parquet")
    assert file.stat().st_mode & 0o777 == 0o644


def test_folder_with_special_characters(spark: SparkSession, tmp_path: Path) -> None:
    """Chunks are found whatever the folder of the state is called."""
    folder = tmp_path / "a{b,c}[d]*?^ e"
    spark.range(3).write.parquet(f"file:{folder}/one")
    spark.range(4).write.parquet(f"file:{folder}/two")
    chunks = [Chunk(f"file:{folder}/{name}", 0, 0, 0, 0) for name in ("one", "two")]
    assert read_chunks(spark, "id bigint", chunks).count() == 7


LITERALS = [
    (True, "TRUE"),
    (3, "3"),
    (-1.5, "-1.5D"),
    (1e300, "CAST(1e+300 AS DOUBLE)"),
    ("it's a\\b", "'it\\'s a\\\\b'"),
    (date(2026, 1, 31), "DATE '2026-01-31'"),
    (datetime(2026, 1, 31, 12, 0, 0, 5), "TIMESTAMP '2026-01-31 12:00:00.000005'"),
]


@pytest.mark.parametrize(("value", "text"), LITERALS)
def test_literals(value: object, text: str) -> None:
    """Constants as Spark reads them."""
    assert literal(value) == text


def test_notes_are_read_as_written() -> None:
    """What is noted of a batch and of a step is what is read again, several chunks of one chain included."""
    chunks = (Chunk("a", 1, 2, 3, 4, ((1, 2),)), Chunk("b", 1, 2, 3, 5))
    batch = Batch("S", 7, 10, 1, 2, 1, None, tuple(("chain", chunk) for chunk in chunks))
    assert Batch.of(batch.to_data()) == batch
    state = State(
        step=3,
        plan=2,
        starts="starts",
        streams={"S": StreamState(7, 1, None, 5)},
        chains={"chain": chunks},
        columns={"chain": {"v": 9}},
        trimmed={"chain": 4},
        retained={"chain": (5, 6)},
        groups=({"k": ("K", "int")},),
        results=("s1-0",),
        counts={"": 5, "q": 2},
    )
    assert State.of(json.loads(json.dumps(state.to_data()))) == state


def test_other_format() -> None:
    """A state that another version has written is refused."""
    with pytest.raises(PenstockError, match="format 1"):
        State.of({**State().to_data(), "format": 1})
