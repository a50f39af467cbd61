"""Mistakes that binding finds: what is said, where the carets stand, what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.catalog import load_catalog

CATALOG = load_catalog(Path(__file__).parent.parent / "catalog")
TAGS = "CREATE STREAM Tags (k INT, tags MAP<STRING, INT>, list ARRAY<INT>, ts TIMESTAMP) FROM rate; "

# The name of a mistake, a query, the text under the carets, a part of the message, a part of the hint.
MISTAKES = [
    # Names
    ("unknown-stream", "SELECT * FROM Temprature", "Temprature", "no stream, relation or query", "mean Temperature?"),
    ("unknown-stream-listed", "SELECT * FROM Zoo", "Zoo", "called 'Zoo'", "Humidity, Load, Racks, Temperature."),
    ("unknown-stream-alias", "SELECT * FROM Humidty H", "Humidty H", "called 'Humidty'", "Did you mean Humidity?"),
    ("unknown-in-join", "SELECT A.Value FROM Temperature A, Lod B WINDOW 1 min", "Lod B", "'Lod'", "mean Load?"),
    ("unknown-column", "SELECT Valu FROM Temperature", "Valu", "unknown column 'Valu'", "Did you mean Value?"),
    ("unknown-qualified", "SELECT A.Valu FROM Temperature A", "A.Valu", "Temperature has no column 'Valu'", "Value?"),
    ("unknown-in-where", "SELECT ts FROM Load WHERE Wats > 1", "Wats", "unknown column 'Wats'", "Did you mean Watts?"),
    ("unknown-in-group", "SELECT COUNT(*) FROM Load GROUP BY Place WINDOW 1 min", "Place", "'Place'", "LocationId"),
    ("unknown-in-having", "SELECT COUNT(*) FROM Load HAVING MAX(Wat) > 1 WINDOW 1 min", "Wat", "'Wat'", "Watts?"),
    ("unknown-listed", "SELECT Owner FROM Load", "Owner", "unknown column 'Owner'", "LocationId, ts, Watts"),
    ("name-for-text", 'SELECT ts FROM Racks, Load WHERE Owner = "ann"', '"ann"', "'ann'", "single quotes"),
    ("output-in-where", "SELECT Value * 2 AS v2 FROM Humidity WHERE v2 > 1", "v2", "'v2'", "Value * 2"),
    ("output-in-having", "SELECT COUNT(*) AS n FROM Load HAVING n > 1 WINDOW 1 min", "n", "'n'", "COUNT(*)"),
    ("unknown-alias", "SELECT X.Value FROM Temperature A", "X.Value", "nothing in FROM is called 'X'", "There is A."),
    ("name-beside-alias", "SELECT Load.Watts FROM Load L", "Load.Watts", "nothing in FROM", "called L in this query"),
    ("unknown-alias-star", "SELECT X.* FROM Temperature A", "X.*", "nothing in FROM is called 'X'", "There is A."),
    ("ambiguous", "SELECT Value FROM Temperature A, Humidity B WINDOW 1 min", "Value", "A.Value or B.Value", "A.Value"),
    ("ambiguous-in-on", "SELECT A.ts FROM Load A JOIN Racks R ON LocationId = 1", "LocationId", "could be", "Write A."),
    ("two-aliases", "SELECT 1 AS x FROM Load A, Humidity a WINDOW 1 min", "Humidity a", "two items of FROM", "a2"),
    ("same-stream-twice", "SELECT 1 AS x FROM Load, Load WINDOW 1 min", "Load", "two items of FROM", "Load AS Load2"),
    ("hidden-ts", "SELECT A._ts FROM Load A", "A._ts", "Load has no column '_ts'", "Did you mean ts?"),
    # Functions
    ("unknown-function", "SELECT uper('x') FROM Load", "uper('x')", "the function UPER is not known", "mean upper?"),
    ("unknown-aggregate", "SELECT cuont(*) FROM Load WINDOW 1 min", "cuont(*)", "CUONT is not known", "mean count?"),
    ("java", "SELECT reflect('java.Runtime') FROM Load", "reflect('java.Runtime')", "not known", ""),
    ("now", "SELECT ts FROM Load WHERE ts > now()", "now()", "something else each time", "event time"),
    ("rand", "SELECT ts FROM Load WHERE rand() < 0.1", "rand()", "something else each time", "hash(A.LocationId)"),
    ("too-few", "SELECT upper() FROM Load", "upper()", "UPPER takes 1 argument, found 0", "arguments"),
    ("too-many", "SELECT left('abc', 1, 2) FROM Load", "left('abc', 1, 2)", "LEFT takes 2 arguments, found 3", ""),
    ("at-least", "SELECT greatest(Watts) FROM Load", "greatest(Watts)", "at least 2 arguments, found 1", ""),
    ("range-of-arguments", "SELECT round(1, 2, 3) FROM Load", "round(1, 2, 3)", "ROUND takes 1 to 2 arguments", ""),
    ("sum-of-two", "SELECT SUM(Watts, 1) FROM Load WINDOW 1 min", "SUM(Watts, 1)", "SUM takes 1 argument", ""),
    ("star-argument", "SELECT upper(*) FROM Load", "*", "* cannot stand here", "COUNT(*)"),
    ("sum-star", "SELECT SUM(*) FROM Load WINDOW 1 min", "*", "* cannot stand here", "COUNT(*)"),
    ("distinct-scalar", "SELECT abs(DISTINCT Watts) FROM Load", "abs(DISTINCT Watts)", "DISTINCT goes with COUNT", ""),
    ("distinct-sum", "SELECT SUM(DISTINCT Watts) FROM Load WINDOW 1 min", "SUM(DISTINCT Watts)", "SUM(DISTINCT", ""),
    ("round-by-column", "SELECT round(Watts, LocationId) FROM Load", "LocationId", "plain number", "ROUND(A.Value, 2)"),
    # Types
    ("number-and-text", "SELECT ts FROM Load WHERE Watts > 'x'", "Watts > 'x'", "compare a number with a text", "CAST"),
    ("time-with-number", "SELECT ts FROM Load WHERE ts > 3", "ts > 3", "compare a time with a number", "CAST"),
    ("no-time", "SELECT ts FROM Load WHERE ts > 'noon'", "'noon'", "'noon' is not a timestamp", "2026-01-31 12:00:00"),
    ("no-date", "SELECT DATE '2026-02-30' AS d FROM Load", "DATE '2026-02-30'", "is not a date", "2026-01-31"),
    ("in-list", "SELECT ts FROM Load WHERE Watts IN (1, 'x', 2)", "'x'", "compare a number with a text", "CAST"),
    ("between", "SELECT ts FROM Load WHERE Watts BETWEEN 1 AND 'x'", "'x'", "compare a number with a text", "CAST"),
    ("like", "SELECT ts FROM Load WHERE Watts LIKE 'a%'", "Watts", "expected a text, found a number", "AS STRING"),
    ("sum-of-text", "SELECT Watts + 'x' AS s FROM Load", "'x'", "found a text", "AS DOUBLE"),
    ("time-plus-number", "SELECT ts + 5 AS t FROM Load", "ts + 5", "cannot compute a time + a number", "INTERVAL"),
    ("minus-time", "SELECT -ts AS t FROM Load", "ts", "found a time", "CAST"),
    ("number-is-no-condition", "SELECT ts FROM Load WHERE Watts", "Watts", "of type double", "Compare it"),
    ("condition-in-and", "SELECT ts FROM Load WHERE Watts > 1 AND 3", "3", "of type int", "Compare it"),
    ("condition-in-or", "SELECT ts FROM Load WHERE Watts > 1 OR Watts", "Watts", "expected a condition", "Compare"),
    ("condition-in-on", "SELECT A.ts FROM Load A JOIN Racks R ON R.Owner", "R.Owner", "of type string", "Compare"),
    ("condition-in-having", "SELECT 1 AS x FROM Load HAVING COUNT(*) WINDOW 1 min", "COUNT(*)", "of type bigint", ""),
    ("not-number", "SELECT ts FROM Load WHERE NOT Watts", "Watts", "expected a condition", "Compare it"),
    ("when-number", "SELECT CASE WHEN Watts THEN 1 END AS x FROM Load", "Watts", "expected a condition", ""),
    ("case-of-kinds", "SELECT CASE WHEN Watts > 1 THEN 1 ELSE 'x' END AS c FROM Load", "'x'", "CASE chooses", "CAST"),
    ("case-operand", "SELECT CASE Watts WHEN 'x' THEN 1 END AS c FROM Load", "'x'", "compare a number", "CAST"),
    ("coalesce", "SELECT COALESCE(Watts, 'x') AS c FROM Load", "'x'", "COALESCE chooses between a number and", "CAST"),
    ("if-number", "SELECT if(Watts, 1, 2) AS c FROM Load", "Watts", "IF takes a condition here", "Compare it"),
    ("argument-kind", "SELECT sqrt(ts) FROM Load", "ts", "SQRT takes a number here, found timestamp", "CAST"),
    ("argument-text", "SELECT upper(Watts) FROM Load", "Watts", "UPPER takes a text here", "AS STRING"),
    ("argument-time", "SELECT year('2026-01-31') FROM Load", "'2026-01-31'", "YEAR takes a time here", "TIMESTAMP '"),
    ("sum-of-times", "SELECT SUM(ts) FROM Load WINDOW 1 min", "ts", "SUM takes a number here, found timestamp", "CAST"),
    ("unknown-type", "SELECT CAST(Watts AS intt) AS i FROM Load", "intt", "unknown type 'intt'", "Did you mean int?"),
    ("bad-cast", "SELECT CAST(ts AS BOOLEAN) AS b FROM Load", "CAST(ts AS BOOLEAN)", "cannot cast timestamp", "type"),
    ("extract", "SELECT EXTRACT(HOUR FROM Watts) AS h FROM Load", "Watts", "expected a time", "CAST"),
    ("too-large", "SELECT 99999999999999999999 AS n FROM Load", "99999999999999999999", "64 bits", "decimal point"),
    ("maps-compared", TAGS + "SELECT k FROM Tags WHERE tags = tags", "tags = tags", "compare a map with a map", ""),
    ("group-by-map", TAGS + "SELECT COUNT(*) FROM Tags GROUP BY tags WINDOW 1 min", "tags", "no groups", "element_at"),
    ("max-of-map", TAGS + "SELECT MAX(tags) FROM Tags WINDOW 1 min", "tags", "something that can be compared", ""),
    ("wrong-key", TAGS + "SELECT element_at(tags, 1) FROM Tags", "1", "ELEMENT_AT takes a text here", "CAST"),
    ("wrong-element", TAGS + "SELECT array_contains(list, 'x') FROM Tags", "'x'", "takes a number here", "CAST"),
    # Aggregates
    ("aggregate-in-where", "SELECT ts FROM Load WHERE COUNT(*) > 1 WINDOW 1 min", "COUNT(*) > 1", "in WHERE", "HAVING"),
    (
        "aggregate-in-on",
        "SELECT A.ts FROM Load A JOIN Racks R ON MAX(A.Watts) > 1 WINDOW 1 min",
        "MAX(A.Watts) > 1",
        "an aggregate cannot stand in WHERE or ON",
        "HAVING",
    ),
    ("nested", "SELECT MAX(COUNT(*)) FROM Load WINDOW 1 min", "MAX(COUNT(*))", "inside an aggregate", "CREATE QUERY"),
    ("nested-in-having", "SELECT 1 AS x FROM Load HAVING MAX(SUM(Watts)) > 1 WINDOW 1 min", "MAX(SUM(Watts))", "", ""),
    ("not-grouped", "SELECT ts, COUNT(*) FROM Load WINDOW 1 min", "ts", "neither grouped nor", "GROUP BY Load.ts"),
    ("not-grouped-in-sum", "SELECT Watts + COUNT(*) AS x FROM Load WINDOW 1 min", "Watts", "neither", "MAX(Load"),
    ("star-grouped", "SELECT * FROM Load GROUP BY LocationId WINDOW 1 min", "*", "Load.Watts is neither", "GROUP BY"),
    (
        "not-grouped-in-having",
        "SELECT LocationId FROM Load GROUP BY LocationId HAVING Watts > 1 WINDOW 1 min",
        "Watts",
        "neither grouped nor aggregated",
        "MAX(Load.Watts)",
    ),
    ("having-alone", "SELECT ts FROM Load HAVING Watts > 1 WINDOW 1 min", "Watts > 1", "HAVING is a", "Use WHERE"),
    ("group-by-aggregate", "SELECT COUNT(*) AS n FROM Load GROUP BY n WINDOW 1 min", "n", "cannot be an aggregate", ""),
    ("group-by-number", "SELECT COUNT(*) FROM Load GROUP BY 2 WINDOW 1 min", "2", "no output column 2", "from 1 to 1"),
    ("group-by-star", "SELECT COUNT(*), * FROM Load GROUP BY 2, LocationId, Watts, ts WINDOW 1 min", "2", "or *", ""),
    ("distinct-count", "SELECT DISTINCT COUNT(*) FROM Load WINDOW 1 min", "COUNT(*)", "SELECT DISTINCT", "Take"),
    ("distinct-groups", "SELECT DISTINCT ts FROM Load GROUP BY ts WINDOW 1 min", "ts", "SELECT DISTINCT", "Take"),
    # Windows
    ("unbounded-count", "SELECT COUNT(*) FROM Load", "Load", "every row of Load for ever", "Add  WINDOW 1 hour"),
    ("unbounded-distinct", "SELECT DISTINCT ts FROM Load", "Load", "every row of Load for ever", "Load [RANGE 1 hour]"),
    ("unbounded-side", "SELECT A.ts FROM Load A [ROWS 5], Humidity B", "Humidity B", "a join of streams", "WINDOW"),
    ("slide-alone", "SELECT ts FROM Load WINDOW 1 min SLIDE 1 sec", "1 sec", "this query has none", "Take SLIDE out"),
    ("slide-rows-alone", "SELECT ts FROM Load WINDOW 9 ROWS SLIDE 1 sec", "1 sec", "SLIDE says when", "an aggregate"),
    ("zero-window", "SELECT ts FROM Load WINDOW 0 min", "0 min", "no length", "longer than zero"),
    ("zero-range", "SELECT ts FROM Load [RANGE 0 sec]", "0 sec", "no length", "longer than zero"),
    ("zero-slide", "SELECT COUNT(*) FROM Load WINDOW 1 min SLIDE 0 sec", "0 sec", "a slide of no length", "10 sec"),
    ("no-rows", "SELECT ts FROM Load WINDOW 0 ROWS", "0", "a window of 0 rows", "from 1 to"),
    ("half-a-row", "SELECT ts FROM Load [ROWS 1.5]", "1.5", "a window of 1.5 rows", "whole number"),
    ("endless-window", "SELECT ts FROM Load WINDOW 90000 days", "90000 days", "a hundred years", "shorter"),
    ("unknown-unit", "SELECT ts FROM Load WINDOW 3 minuts", "minuts", "unknown unit", "Did you mean minutes?"),
    ("window-on-relation", "SELECT Owner FROM Load, Racks [ROWS 5]", "[ROWS 5]", "Racks is a relation", "take it out"),
    ("no-stream", "SELECT * FROM Racks", "Racks", "at least one stream", "name a stream"),
    ("no-stream-in-join", "SELECT A.Owner FROM Racks A, Racks B", "Racks A", "at least one stream", "name a stream"),
    # Output columns
    ("same-name", "SELECT ts AS x, Watts AS X FROM Load", "Watts AS X", "two output columns are called 'X'", "AS"),
    ("same-column", "SELECT A.ts, A.ts FROM Load A", "A.ts", "two output columns are called 'ts'", "AS"),
    ("same-aggregate", "SELECT MAX(ts), MAX(ts) FROM Load WINDOW 1 min", "MAX(ts)", "called 'MAX(ts)'", "AS"),
    ("reserved-ts", "SELECT Watts AS _ts FROM Load", "Watts AS _ts", "cannot be called '_ts'", "another name"),
    ("reserved-query", "SELECT Watts AS _Query FROM Load", "Watts AS _Query", "cannot be called '_Query'", "another"),
    # Queries over queries
    ("itself", "SELECT * FROM query", "query", "cannot read its own results: query → query", "Break the circle"),
    ("stream-name", "CREATE QUERY Load AS SELECT ts FROM Humidity", "SELECT ts FROM Humidity", "of a stream", "name"),
    ("sink-without-path", "INSERT INTO parquet SELECT * FROM Load", "parquet", "need a path", "INSERT INTO parquet '"),
    (
        "option-twice",
        "INSERT INTO json 'x' OPTIONS (a = 1, A = 2) SELECT * FROM Load",
        "json 'x' OPTIONS (a = 1, A = 2)",
        "given twice",
        "Leave one out",
    ),
]  # fmt: skip


def _errors(queries: str | dict[str, str]) -> tuple[penstock.PenstockError, ...]:
    with pytest.raises(penstock.PenstockError) as caught:
        penstock.compile(queries, catalog=CATALOG)
    return caught.value.errors


def _under(error: penstock.PenstockError) -> str:
    assert error.source is not None and error.span is not None
    return error.source.text[error.span.start : error.span.end]


@pytest.mark.parametrize(("text", "under", "message", "hint"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
def test_mistake(text: str, under: str, message: str, hint: str) -> None:
    (error,) = _errors(text)
    assert _under(error) == under
    assert message in error.message
    assert hint in (error.hint or "")
    assert error.hint, "every mistake comes with what to do about it"
    assert error.label


def test_the_mistakes_have_names_of_their_own() -> None:
    assert len({mistake[0] for mistake in MISTAKES}) == len(MISTAKES) >= 45


# Queries with several mistakes, and what stands under the carets of each, from top to bottom.
SEVERAL = [
    ("SELECT Valu, nosuch(1), X.ts FROM Load WHERE Wats > 1 AND ts", ["Valu", "nosuch(1)", "X.ts", "Wats", "ts"]),
    ("SELECT A.Valu FROM Temperature A, Humidity B", ["A.Valu", "Temperature A", "Humidity B"]),
    ("SELECT * FROM Lod, Humidty WINDOW 1 min", ["Lod", "Humidty"]),
    ("SELECT ts, COUNT(*) FROM Load HAVING Watts > 1 AND MAX(x) > 1 WINDOW 1 min", ["ts", "Watts", "x"]),
    ("SELECT COUNT(*) FROM Load WHERE COUNT(*) > 1 AND Watts > 'x'", ["Load", "COUNT(*) > 1", "Watts > 'x'"]),
    ("SELECT ts AS _ts, Watts AS _query FROM Load", ["ts AS _ts", "Watts AS _query"]),
    ("SELECT a FROM Load; SELECT b FROM Load", ["a", "b"]),
    ("CREATE QUERY a AS SELECT x FROM Load; CREATE QUERY b AS SELECT * FROM a", ["x", "a"]),
    ("CREATE QUERY a AS SELECT * FROM b; CREATE QUERY b AS SELECT * FROM a", ["b", "a"]),
]


@pytest.mark.parametrize(("text", "under"), SEVERAL)
def test_all_the_mistakes_are_found_at_once(text: str, under: list[str]) -> None:
    errors = _errors({"q": text})
    assert [_under(error) for error in errors] == under
    assert all(error.hint for error in errors)


def test_the_mistakes_of_many_queries_come_query_by_query() -> None:
    errors = _errors({"b": "SELECT x FROM Load", "a": "SELECT ts, y FROM Load", "fine": "SELECT ts FROM Load"})
    assert [(error.source.name if error.source else "", _under(error)) for error in errors] == [
        ("<a>", "y"),
        ("<b>", "x"),
    ]


def test_a_circle_is_shown_as_a_whole() -> None:
    texts = {"a": "SELECT * FROM b", "b": "SELECT * FROM c", "c": "SELECT * FROM a"}
    assert any("a → b → c → a" in error.message for error in _errors(texts))


def test_two_queries_of_one_name() -> None:
    (error,) = _errors({"q": "SELECT ts FROM Load", "Q": "SELECT ts FROM Humidity"})
    assert "two queries called 'Q'" in error.message
    assert "The other one is in <q>, line 1" in (error.hint or "")


def test_nothing_is_known_without_a_catalog() -> None:
    with pytest.raises(penstock.PenstockError, match="The catalog is empty") as caught:
        penstock.compile("SELECT * FROM Temperature")
    assert _under(caught.value) == "Temperature"


def test_a_name_of_another_catalog_is_unknown() -> None:
    other = {"streams": {"Other": {"schema": {"x": "int", "ts": "timestamp"}}}}
    with pytest.raises(penstock.PenstockError, match="There is Other"):
        penstock.compile("SELECT * FROM Temperature", catalog=other)


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("-- nothing", 0), ("SELECT ts FROM Load; SELECT 1 AS x FROM Load", 2)]
)
def test_one_text_holds_one_query(text: str, count: int) -> None:
    (error,) = _errors(text)
    assert error.message == f"expected one query, found {count}"
    assert error.span is not None and 0 <= error.span.start <= len(text)
