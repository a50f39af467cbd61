"""Whatever the text, compiling it gives plans or errors with a place in that text."""

from __future__ import annotations

import random
import re
import traceback
from pathlib import Path

import pytest

import penstock
from penstock.catalog import load_catalog
from penstock.compiler.functions import AGGREGATES, CHANGES_BY_ITSELF, SCALARS
from penstock.grammar.errors import render
from penstock.grammar.words import KEYWORDS
from penstock.tests.generate import mutate, random_statement
from penstock.tests.golden import read_input

ROOT = Path(__file__).parent.parent
COUNT = 12_000
CATALOG = load_catalog(ROOT / "catalog")
TEXTS = [
    *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "queries").glob("*.cql"))),
    *(read_input(path) for path in sorted((ROOT / "tests" / "golden").glob("*/*.txt"))),
    "SELECT DISTINCT A.Value > 30 AS hot, B.* FROM Temperature A [ROWS 10], Racks B WHERE A.ts BETWEEN since AND until",
    "SELECT UPPER(Owner), SUM(A.Value) / COUNT(*) m FROM Load A, Racks R GROUP BY 1 HAVING COUNT(*) > 3 WINDOW 1 min",
    "CREATE QUERY up AS SELECT * FROM Load WHERE Watts IN (1, 2.5, NULL); SELECT MAX(up._ts) FROM up WINDOW 9 ROWS",
    "SELECT CASE LocationId WHEN 1 THEN 'a' END c, ts + INTERVAL 5 min d, -Value FROM Humidity WHERE ts < '2026-01-01'",
    "SELECT CAST(Watts AS DECIMAL(9, 2)) v, EXTRACT(HOUR FROM ts) h, date_trunc('hour', ts), if(TRUE, 1, 2) FROM Load",
]  # fmt: skip
EXPRESSIONS = (
    "A.Value", "B.Value", "Value", "A.LocationId", "LocationId", "A.ts", "ts", "_ts", "_query", "Watts", "Owner",
    "since", "Temperature", "Humidity", "Load", "Racks", "hot", "COUNT(*)", "COUNT(DISTINCT A.Value)", "MAX(A.Value)",
    "30", "1", "0", "2.5", "-1", "9223372036854775808", "1e400", "'hot'", "'2026-01-31'", "TRUE", "NULL", "A", "B", "R",
    "DATE '2026-01-31'", "TIMESTAMP '2026-01-31 12:00:00'", "INTERVAL 5 min", "INTERVAL '-1.5' sec", "(A.Value > 1)",
    "(A.ts - B.ts)", "(A.Value || 'x')", "(A.Value IN (1, NULL))", "CAST(NULL AS array<int>)", "(NOT TRUE)",
    "CAST(NULL AS struct<x: int>)", "CAST('x' AS binary)", "CAST(A.Value AS DECIMAL(38, 38))", "(-A.Value)",
    "CASE WHEN A.Value > 1 THEN 1 ELSE 'x' END", "CASE A.Value WHEN NULL THEN A.ts END", "EXTRACT(HOUR FROM A.ts)",
    "TRY_CAST('x' AS map<string, date>)", "(A.Value BETWEEN B.Value AND 3)", "(Owner LIKE 'a!%' ESCAPE '!')",
)  # fmt: skip
WORDS = (
    "A.*", "*", "1 min", "0 sec", "WINDOW 1 min", "WINDOW 10 ROWS", "SLIDE 10 sec", "[RANGE 5 min]", "[ROWS 7]",
    "GROUP BY", "HAVING", "DISTINCT", "AND", "OR", "NOT", "=", "<=>", "<", "+", "-", "/", "%", "||", "(", ")", ",",
    "IS NULL", "IN (1, 2)", "LIKE", "BETWEEN 1 AND 2", "FROM", "AS", "INSERT INTO json 'out'", "SET sharing =",
    "CREATE QUERY", "CREATE STREAM", "CREATE RELATION", "TIMESTAMP BY", "STATISTICS (rate = 1e999)", "JOIN", "ON",
)  # fmt: skip
FUNCTIONS = (*SCALARS, *AGGREGATES, *CHANGES_BY_ITSELF, "reflect", "java_method", "cont", "")
_PIECE = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\w+(?:\.\w+)?|\s+|.""", re.DOTALL)
_NAME = re.compile(r"\w+(?:\.\w+)?")


def _pieces(text: str) -> list[str]:
    return _PIECE.findall(text)


def _names(pieces: list[str], rng: random.Random, most: int) -> list[int]:
    """Where a few of the names and numbers are that are no keywords."""
    places = [i for i, piece in enumerate(pieces) if _NAME.fullmatch(piece) and piece.lower() not in KEYWORDS]
    return rng.sample(places, min(len(places), rng.randint(1, most)))


def _renamed(text: str, rng: random.Random) -> str:
    """Some names and numbers replaced by others, so that the text often still parses."""
    pieces = _pieces(text)
    for place in _names(pieces, rng, 3):
        pieces[place] = rng.choice(EXPRESSIONS if rng.random() < 0.9 else WORDS)
    return "".join(pieces)


def _wrapped(text: str, rng: random.Random) -> str:
    """A name or number made the argument of a function."""
    pieces = _pieces(text)
    for place in _names(pieces, rng, 2):
        name = rng.choice(FUNCTIONS)
        function = SCALARS.get(name) or AGGREGATES.get(name)
        more = function.least - 1 if function and rng.random() < 0.8 else rng.randrange(3)
        pieces[place] = f"{name}({', '.join([pieces[place], *rng.choices(EXPRESSIONS, k=more)])})"
    return "".join(pieces)


def _spliced(text: str, rng: random.Random) -> str:
    """The beginning of one text and the end of another."""
    first, second = _pieces(text), _pieces(rng.choice(TEXTS))
    return "".join(first[: rng.randint(0, len(first))] + second[rng.randint(0, len(second)) :])


def fuzzed(seed: int) -> str:
    """The text of a seed."""
    rng = random.Random(seed)
    text = random_statement(rng) if rng.random() < 0.1 else rng.choice(TEXTS)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice((_renamed, _renamed, _wrapped, _wrapped, _wrapped, _spliced, mutate))(text, rng)
    return text


def test_no_text_breaks_the_compiler() -> None:
    compiled = refused = 0
    for seed in range(COUNT):
        text = fuzzed(seed)
        try:
            penstock.compile({"fuzz": text}, catalog=CATALOG).explain()
            compiled += 1
        except penstock.PenstockError as caught:
            for error in caught.errors:
                source, span = error.source, error.span
                if source is None or span is None or source.text != text:
                    pytest.fail(f"seed {seed}\n{text}\n{render(error)}")
                end = len(text) + 1  # an error at the end of a text is shown right behind it
                assert 0 <= span.start < span.end <= end, f"seed {seed}\n{text}\n{render(error)}"
                assert error.message and error.hint and render(error), f"seed {seed}\n{text}\n{render(error)}"
            refused += 1
        except Exception:
            pytest.fail(f"seed {seed}\n{text}\n{traceback.format_exc()}")
    assert min(compiled, refused) > COUNT // 20
