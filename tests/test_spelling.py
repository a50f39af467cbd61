"""However a query is spelled, the same question gives the same logical plan."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.catalog import load_catalog
from penstock.grammar.parser import parse_query
from penstock.grammar.printer import to_sql
from penstock.grammar.source import Source

ROOT = Path(__file__).parent.parent
CATALOG = load_catalog(ROOT / "catalog")
EXAMPLES = sorted((ROOT / "queries").glob("*.cql"))


def _plan(text: str) -> penstock.CompiledQuery:
    return penstock.compile(text, catalog=CATALOG)


JOIN = "SELECT A.ts, B.Value FROM Temperature A, Humidity B WHERE "
COUNTED = "SELECT LocationId, COUNT(*) AS n FROM Load GROUP BY LocationId "

# A query, and the same query spelled otherwise.
SAME = [
    # Case, space, comments, quotes
    ("SELECT A.Value FROM Temperature A WHERE A.Value > 30", "select a.value from TEMPERATURE A where a.VALUE > 30"),
    ("SELECT Value FROM Humidity", "SELECT\n\tValue\r\nFROM   Humidity\n"),
    ("SELECT Value FROM Humidity", "-- why\nSELECT /* what */ Value FROM Humidity -- where\n;"),
    ("SELECT Value FROM Humidity", 'SELECT "Value" FROM `Humidity`'),
    ("SELECT upper('a') AS u FROM Load", "SELECT UPPER('a') AS u FROM Load"),
    ("SELECT ts FROM Load WHERE Watts IS NOT NULL", "SELECT ts FROM Load WHERE Watts is not null"),
    # Names
    ("SELECT Value FROM Humidity", "SELECT Humidity.Value FROM Humidity"),
    ("SELECT Value AS v FROM Humidity H", "SELECT H.Value v FROM Humidity AS H"),
    ("SELECT * FROM Load", "SELECT LocationId, Watts, ts FROM Load"),
    ("SELECT A.*, B.Value AS h FROM Load A, Humidity B WINDOW 1 min",
     "SELECT A.LocationId, Watts, A.ts, B.Value AS h FROM Load A, Humidity B WINDOW 1 min"),
    # Parentheses
    ("SELECT Value + 1 AS x FROM Humidity", "SELECT ((Value) + (1)) AS x FROM Humidity"),
    ("SELECT ts FROM Load WHERE Watts > 1 AND LocationId = 2",
     "SELECT ts FROM Load WHERE ((Watts > 1) AND (LocationId = 2))"),
    ("SELECT ts FROM Load WHERE Watts > 1 AND Watts < 9 AND LocationId = 2",
     "SELECT ts FROM Load WHERE Watts > 1 AND (Watts < 9 AND (LocationId = 2))"),
    ("SELECT Watts - 1 - 2 AS x FROM Load", "SELECT (Watts - 1) - 2 AS x FROM Load"),
    ("SELECT Watts + 2 * 3 AS x FROM Load", "SELECT Watts + (2 * 3) AS x FROM Load"),
    # The order and the number of conditions
    (JOIN + "A.LocationId = B.LocationId AND A.Value > 30 AND B.Value < 5 WINDOW 1 min",
     JOIN + "B.Value < 5 AND A.Value > 30 AND A.LocationId = B.LocationId WINDOW 1 min"),
    (JOIN + "A.LocationId = B.LocationId WINDOW 1 min", JOIN + "B.LocationId = A.LocationId WINDOW 1 min"),
    (JOIN + "A.LocationId = B.LocationId WINDOW 1 min",
     JOIN + "A.LocationId = B.LocationId AND B.LocationId = A.LocationId WINDOW 1 min"),
    ("SELECT ts FROM Load WHERE Watts > 1", "SELECT ts FROM Load WHERE Watts > 1 AND Watts > 1"),
    (JOIN + "A.LocationId = B.LocationId AND A.Value > 30 WINDOW 1 min",
     "SELECT A.ts, B.Value FROM Temperature A JOIN Humidity B ON A.LocationId = B.LocationId WHERE A.Value > 30 "
     "WINDOW 1 min"),
    (JOIN + "A.LocationId = B.LocationId WINDOW 1 min",
     "SELECT A.ts, B.Value FROM Temperature A INNER JOIN Humidity B ON A.LocationId = B.LocationId WINDOW 1 min"),
    ("SELECT A.ts FROM Load A, Humidity B WINDOW 1 min", "SELECT A.ts FROM Load A CROSS JOIN Humidity B WINDOW 1 min"),
    ("SELECT A.ts FROM Load A, Humidity B, Temperature C WHERE A.ts = B.ts AND B.ts = C.ts WINDOW 1 min",
     "SELECT A.ts FROM Load A, Humidity B, Temperature C WHERE A.ts = C.ts AND C.ts = B.ts WINDOW 1 min"),
    # Operators of two spellings
    ("SELECT ts FROM Load WHERE Watts <> 1", "SELECT ts FROM Load WHERE Watts != 1"),
    ("SELECT ts FROM Load WHERE Watts = 1", "SELECT ts FROM Load WHERE Watts == 1"),
    ("SELECT ts FROM Load WHERE Watts <=> 1", "SELECT ts FROM Load WHERE Watts IS NOT DISTINCT FROM 1"),
    ("SELECT pow(Watts, 2) AS p FROM Load", "SELECT power(Watts, 2) AS p FROM Load"),
    ("SELECT Watts AS x FROM Load", "SELECT +Watts AS x FROM Load"),
    ("SELECT ts FROM Load WHERE ts > '2026-01-31'", "SELECT ts FROM Load WHERE ts > TIMESTAMP '2026-01-31'"),
    # Windows
    ("SELECT A.ts FROM Load A, Humidity B WINDOW 60 sec", "SELECT A.ts FROM Load A, Humidity B WINDOW 1 minute"),
    ("SELECT A.ts FROM Load A, Humidity B WINDOW 1.5 min", "SELECT A.ts FROM Load A, Humidity B WINDOW 90000ms"),
    ("SELECT A.ts FROM Load A, Humidity B WINDOW 1 min",
     "SELECT A.ts FROM Load A [RANGE 1 min], Humidity [RANGE 60 s] B"),
    ("SELECT ts FROM Load WINDOW 100 ROWS", "SELECT ts FROM Load [rows 1e2]"),
    (COUNTED + "WINDOW 1 min", COUNTED + "WINDOW 1 min SLIDE 1 sec"),
    # Groups
    (COUNTED + "WINDOW 1 min", "SELECT LocationId, COUNT(*) AS n FROM Load GROUP BY 1 WINDOW 1 min"),
    ("SELECT Watts + 1 AS w, COUNT(*) AS n FROM Load GROUP BY Watts + 1 WINDOW 1 min",
     "SELECT Watts + 1 AS w, COUNT(*) AS n FROM Load GROUP BY w WINDOW 1 min"),
    (COUNTED + "HAVING COUNT(*) > 3 WINDOW 1 min", COUNTED + "HAVING (count(*)) > 3 WINDOW 1 min"),
    (COUNTED + "WINDOW 1 min",
     "SELECT LocationId, COUNT(*) AS n FROM Load GROUP BY LocationId, load.locationid WINDOW 1 min"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_plan(one: str, other: str) -> None:
    first, second = _plan(one), _plan(other)
    assert _lower(first) == _lower(second)


def _lower(query: penstock.CompiledQuery) -> str:
    """The plan as text; an alias keeps the case in which the query spells it."""
    return query.explain().lower()


@pytest.mark.parametrize(("one", "other"), [pair for pair in SAME if pair[0].lower() != pair[1].lower()])
def test_the_same_value(one: str, other: str) -> None:
    assert _plan(one).logical == _plan(other).logical


# Queries that look alike and are not.
DIFFERENT = [
    ("SELECT ts FROM Load WHERE Watts > 1 AND (LocationId = 1 OR LocationId = 2)",
     "SELECT ts FROM Load WHERE Watts > 1 AND LocationId = 1 OR LocationId = 2"),
    ("SELECT Watts - (1 - 2) AS x FROM Load", "SELECT Watts - 1 - 2 AS x FROM Load"),
    ("SELECT ts FROM Load WHERE NOT (Watts > 1 AND Watts < 2)",
     "SELECT ts FROM Load WHERE NOT Watts > 1 AND Watts < 2"),
    ("SELECT 'a' AS x FROM Load", "SELECT 'A' AS x FROM Load"),
    ("SELECT ts FROM Load WINDOW 1 min", "SELECT ts FROM Load WINDOW 1 ROWS"),
    ("SELECT Watts, ts FROM Load", "SELECT ts, Watts FROM Load"),
    ("SELECT Watts / 2 AS x FROM Load", "SELECT Watts / 2 AS y FROM Load"),
    ("SELECT COUNT(Watts) AS n FROM Load WINDOW 1 min", "SELECT COUNT(*) AS n FROM Load WINDOW 1 min"),
    ("SELECT ts FROM Load WHERE Watts = 1", "SELECT ts FROM Load WHERE Watts <=> 1"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_another_plan(one: str, other: str) -> None:
    assert _plan(one).logical != _plan(other).logical
    assert _plan(one).explain() != _plan(other).explain()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_in_other_spellings(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    expected = _plan(text)
    spaced, commented = code.replace(" ", "\n\t"), code.replace("\n", " /* ; */ -- '\n")
    for spelling in (code.upper(), code.lower(), spaced, commented, f"{code} ;"):
        assert _lower(_plan(spelling)) == _lower(expected)
    assert _plan(to_sql(parse_query(Source("printed", text)))) == expected
