"""CREATE, INSERT INTO and SET: what they do to a program; DROP, ALTER and the like: why they do not belong in one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

import penstock
from penstock.catalog import Catalog, Column, Relation, SourceSpec, Statistics, Stream, load_catalog
from penstock.compiler.logical import Sink
from penstock.compiler.program import Program, Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.source import Source

CATALOG = load_catalog(Path(__file__).parent.parent / "catalog")
SECOND = 1_000_000


def _read(*texts: str, catalog: Catalog = CATALOG) -> Program:
    scripts = [Script(f"s{i}", Source(f"s{i}.cql", text)) for i, text in enumerate(texts)]
    return read_program(scripts, catalog, Settings())


def _errors(*texts: str) -> tuple[penstock.PenstockError, ...]:
    with pytest.raises(penstock.PenstockError) as caught:
        _read(*texts)
    return caught.value.errors


def _under(error: penstock.PenstockError) -> str:
    assert error.source is not None and error.span is not None
    return error.source.text[error.span.start : error.span.end]


# CREATE STREAM and CREATE RELATION


def test_a_stream_with_every_clause() -> None:
    program = _read(
        "CREATE STREAM S (k INT, v DECIMAL(9, 2), at TIMESTAMP, ts TIMESTAMP) TIMESTAMP BY TS LATENESS 5 sec "
        "RETAIN 1 h IDLE 1 min STATISTICS (rate = 100, distinct(K) = 500) FROM kafka OPTIONS (b.c = 1, a = true)",
        catalog=Catalog(),
    )
    columns = (Column("k", "int"), Column("v", "decimal(9,2)"), Column("at", "timestamp"), Column("ts", "timestamp"))
    assert program.catalog == Catalog(
        (
            Stream(
                "S",
                columns,
                timestamp="ts",
                lateness=5 * SECOND,
                retain=3600 * SECOND,
                idle_timeout=60 * SECOND,
                source=SourceSpec("kafka", None, (("a", "true"), ("b.c", "1"))),
                statistics=Statistics(100.0, None, (("k", 500),)),
            ),
        )
    )


def test_a_relation_with_every_clause() -> None:
    program = _read(
        "CREATE RELATION R (k INT, a TIMESTAMP, b TIMESTAMP) STATISTICS (rows = 1e3) VALID FROM a TO B FROM csv 'r'",
        catalog=Catalog(),
    )
    columns = (Column("k", "int"), Column("a", "timestamp"), Column("b", "timestamp"))
    relation = Relation("R", columns, SourceSpec("csv", "r"), ("a", "b"), Statistics(rows=1000))
    assert program.catalog == Catalog(relations=(relation,))


def test_a_stream_with_nothing_but_columns() -> None:
    stream = _read("CREATE STREAM S (x INT, at TIMESTAMP) FROM rate").catalog.stream("s")
    assert (stream.timestamp, stream.lateness, stream.retain, stream.idle_timeout) == ("at", 0, 0, None)
    assert not stream.statistics.known


def test_a_statement_gives_what_yaml_gives() -> None:
    statement = (
        "CREATE STREAM Load (LocationId INT, Watts DOUBLE, ts TIMESTAMP) TIMESTAMP BY ts LATENESS 5 sec "
        "STATISTICS (rate = 100, distinct(LocationId) = 500) FROM parquet 'data/load'"
    )
    assert _read(statement, catalog=CATALOG.without("Load")).catalog == CATALOG


def test_definitions_serve_every_query_wherever_they_stand() -> None:
    texts = {"q": "SELECT x FROM S", "d": "CREATE STREAM S (x INT, ts TIMESTAMP) FROM rate"}
    assert list(penstock.compile(texts)) == ["q"]


# A statement, the text under the carets, a part of the message.
WRONG = [
    ("CREATE STREAM Load (ts TIMESTAMP) FROM rate", "CREATE STREAM Load (ts TIMESTAMP) FROM rate", "defined twice"),
    ("CREATE STREAM Racks (ts TIMESTAMP) FROM rate", "CREATE STREAM Racks (ts TIMESTAMP) FROM rate", "defined already"),
    ("CREATE RELATION Load (x INT) FROM rate", "CREATE RELATION Load (x INT) FROM rate", "defined already"),
    ("CREATE STREAM S (x INTT, ts TIMESTAMP) FROM rate", "INTT", "unknown type 'INTT'"),
    ("CREATE STREAM S (x DECIMAL(99), ts TIMESTAMP) FROM rate", "DECIMAL(99)", "99"),
    ("CREATE STREAM S (x INT, X BIGINT, ts TIMESTAMP) FROM rate", "X BIGINT", "two columns named 'x' and 'X'"),
    ("CREATE STREAM S (_x INT, ts TIMESTAMP) FROM rate", "_x INT", "starts with '_'"),
    ('CREATE STREAM S (" " INT, ts TIMESTAMP) FROM rate', '" " INT', "no name"),
    ('CREATE STREAM "a b" (ts TIMESTAMP) FROM rate', 'CREATE STREAM "a b"', "cannot be the name"),
    ("CREATE STREAM S (x INT) FROM rate", "CREATE STREAM S", "no column of type timestamp"),
    ("CREATE STREAM S (a TIMESTAMP, b TIMESTAMP) FROM rate", "CREATE STREAM S", "several columns of type timestamp"),
    ("CREATE STREAM S (x INT, ts TIMESTAMP) TIMESTAMP BY x FROM rate", "x", "of type int, not timestamp"),
    ("CREATE STREAM S (x INT, ts TIMESTAMP) TIMESTAMP BY y FROM rate", "y", "no column 'y'"),
    ("CREATE STREAM S (ts TIMESTAMP) IDLE 0 sec FROM rate", "0 sec", "not positive"),
    ("CREATE STREAM S (ts TIMESTAMP) LATENESS 5 secnds FROM rate", "secnds", "unknown unit"),
    ("CREATE STREAM S (ts TIMESTAMP) IDLE 1 s IDLE 2 s FROM rate", "IDLE", "given twice"),
    ("CREATE STREAM S (ts TIMESTAMP) FROM parquet", "parquet", "needs a path"),
    ("CREATE STREAM S (ts TIMESTAMP) FROM csv ''", "csv ''", "needs a path"),
    ("CREATE STREAM S (ts TIMESTAMP) FROM csv 'x' OPTIONS (path = 'y')", "csv 'x' OPTIONS (path = 'y')", "twice"),
    ("CREATE STREAM S (ts TIMESTAMP) FROM rate OPTIONS (a = 1, a = 2)", "rate OPTIONS (a = 1, a = 2)", "given twice"),
    ("CREATE STREAM S (ts TIMESTAMP) STATISTICS (rows = 5) FROM rate", "rows = 5", "unknown statistic 'rows'"),
    ("CREATE STREAM S (ts TIMESTAMP) STATISTICS (rate = 0) FROM rate", "rate = 0", "not positive"),
    ("CREATE STREAM S (ts TIMESTAMP) STATISTICS (rate = 1e999) FROM rate", "rate = 1e999", "rate"),
    ("CREATE STREAM S (ts TIMESTAMP) STATISTICS (rate = 1, rate = 2) FROM rate", "rate = 2", "given twice"),
    ("CREATE STREAM S (ts TIMESTAMP) STATISTICS (distinct(x) = 5) FROM rate", "distinct(x) = 5", "no column 'x'"),
    ("CREATE STREAM S (ts TIMESTAMP) STATISTICS (distinct(ts) = 0) FROM rate", "distinct(ts) = 0", "fewer than one"),
    ("CREATE STREAM S (ts TIMESTAMP) STATISTICS (distinct(ts) = 1e999) FROM rate", "distinct(ts) = 1e999", "whole"),
    ("CREATE RELATION R (x INT) STATISTICS (rate = 5) FROM rate", "rate = 5", "unknown statistic 'rate'"),
    ("CREATE RELATION R (x INT) STATISTICS (rows = 1.5) FROM rate", "rows = 1.5", "whole number"),
    ("CREATE RELATION R (a TIMESTAMP) VALID FROM a TO A FROM rate", "A", "the same column"),
    ("CREATE RELATION R (a TIMESTAMP) VALID FROM a TO b FROM rate", "b", "no column 'b'"),
    ('CREATE STREAM S (x INT, ts TIMESTAMP) TIMESTAMP BY "y""z" FROM rate', "CREATE STREAM S", "no column"),
    ("CREATE RELATION R (a TIMESTAMP, b INT) VALID FROM a TO b FROM rate", "b", "not timestamp"),
    ("SET speed = 3", "SET speed = 3", "unknown setting 'speed'"),
    ("SET sharing = slic", "SET sharing = slic", "sharing cannot be 'slic'"),
    ("SET objective = 'money'", "SET objective = 'money'", "objective cannot be 'money'"),
    ("SET reevaluate = 5", "SET reevaluate = 5", "'5' is not a duration"),
    ("SET reevaluate = 0 sec", "SET reevaluate = 0 sec", "longer than zero"),
    ("SET reevaluate = -1", "SET reevaluate = -1", "'-1' is not a duration"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "under", "message"), WRONG)
def test_a_wrong_definition(text: str, under: str, message: str) -> None:
    (error,) = _errors(f"SELECT ts FROM Load;\n{text};")
    assert _under(error) == under
    assert message in error.message
    assert error.hint


def test_the_other_place_of_a_definition_is_named() -> None:
    (error,) = _errors("CREATE STREAM S (ts TIMESTAMP) FROM rate", "\nCREATE STREAM s (ts TIMESTAMP) FROM rate")
    assert error.source is not None and error.source.name == "s1.cql"
    assert "s0.cql:1:1" in (error.hint or "")


def test_all_the_mistakes_of_a_definition_at_once() -> None:
    errors = _errors("CREATE STREAM S (x INTT, _y INT, z STRUCT<a>, ts TIMESTAMP) FROM rate")
    assert [_under(error) for error in errors][:2] == ["INTT", "_y INT"]
    assert len(errors) == 3


# Queries


def test_bare_queries_are_called_as_their_file() -> None:
    one, two = "SELECT ts FROM Load", "SELECT Watts FROM Load"
    assert list(_read(one).queries) == ["s0"]
    assert list(_read(f"{one}; {two}").queries) == ["s0_1", "s0_2"]
    assert list(_read(f"{one}; CREATE QUERY mine AS {two}").queries) == ["s0", "mine"]


def test_insert_into_names_a_sink() -> None:
    text = "INSERT INTO json 'out/hot' OPTIONS (mode = append, a = 1) SELECT ts FROM Load"
    sink = Sink("json", "out/hot", (("a", "1"), ("mode", "append")))
    assert penstock.compile(text, catalog=CATALOG).logical.sink == sink
    created = penstock.compile({"q": f"CREATE QUERY mine AS {text}"}, catalog=CATALOG)
    assert created["mine"].logical.sink == sink
    path = "INSERT INTO json OPTIONS (path = 'out/hot', a = 1, mode = append) SELECT ts FROM Load"
    assert penstock.compile(path, catalog=CATALOG).logical.sink == sink
    assert penstock.compile("INSERT INTO console SELECT ts FROM Load", catalog=CATALOG).logical.sink == Sink("console")
    assert penstock.compile("SELECT ts FROM Load", catalog=CATALOG).logical.sink is None


def test_a_query_reads_another_wherever_it_stands() -> None:
    texts = {"b": "SELECT n FROM a", "a": "SELECT COUNT(*) AS n FROM Load WINDOW 1 min"}
    result = penstock.compile(texts, catalog=CATALOG)
    assert list(result) == ["b", "a"]
    assert "Query a" in result["b"].explain()


def test_a_chain_of_queries_may_be_long() -> None:
    texts = {f"q{i}": f"SELECT * FROM q{i + 1}" for i in range(1000)} | {"q1000": "SELECT ts FROM Load"}
    assert len(penstock.compile(texts, catalog=CATALOG)) == 1001


def test_a_long_circle_is_found() -> None:
    texts = {f"q{i}": f"SELECT * FROM q{(i + 1) % 1000}" for i in range(1000)}
    with pytest.raises(penstock.PenstockErrors, match="cannot read its own results: q0 → q1 → q2"):
        penstock.compile(texts, catalog=CATALOG)


# Settings


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("SET reevaluate = 5 sec", Settings(reevaluate=5 * SECOND)),
        ("SET Reevaluate = '1.5min'", Settings(reevaluate=90 * SECOND)),
        ("SET sharing = PULL-UP", None),
        ("SET sharing = 'Pull-Up'", Settings(sharing="pull-up")),
        ("SET objective = cpu; SET objective = auto", Settings(objective="auto")),
        ("SET sharing = none; SET objective = cpu", Settings(sharing="none", objective="cpu")),
    ],
)
def test_settings(text: str, settings: Settings | None) -> None:
    if settings is None:  # a name with a dash needs quotes
        assert len(_errors(text)) == 1
    else:
        assert _read(text).settings == settings


def test_a_setting_counts_for_the_whole_program() -> None:
    texts = {"q": "SELECT COUNT(*) FROM Load WINDOW 1 min", "s": "SET reevaluate = 10 sec"}
    assert "Aggregate every 10 sec" in penstock.compile(texts, catalog=CATALOG)["q"].explain()
    assert penstock.compile(texts, catalog=CATALOG).settings.shown()["reevaluate"] == "10 sec"


# Statements for a session

SESSION = (
    "DROP QUERY hot",
    "DROP STREAM IF EXISTS Load",
    "DROP RELATION Racks",
    "ALTER QUERY hot SET WINDOW 1 min",
    "ALTER QUERY hot AS SELECT ts FROM Load",
    "SHOW QUERIES",
    "DESCRIBE Load",
    "EXPLAIN SELECT ts FROM Load",
)


@pytest.mark.parametrize("text", SESSION)
def test_a_statement_for_a_session_is_refused(text: str) -> None:
    (error,) = _errors(f"SELECT ts FROM Load; {text}")
    assert _under(error) == text
    assert "running session" in error.message
    assert "edit its text" in (error.hint or "")


def test_every_statement_is_read_before_errors_are_shown() -> None:
    texts = ("DROP QUERY a; SET x = 1", "SELECT FROM Load", "CREATE STREAM S (x INT) FROM rate")
    assert _places(_errors(*texts)) == [("s0.cql", 1), ("s0.cql", 1), ("s1.cql", 1), ("s2.cql", 1)]


def _places(errors: Iterable[penstock.PenstockError]) -> list[tuple[str, int]]:
    return [(e.source.name, e.source.position(e.span.start)[0]) for e in errors if e.source and e.span]
