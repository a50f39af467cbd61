"""What is said to follow does follow, for every row; and what ought to be seen is seen."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import datetime
from functools import cache

import duckdb
import pytest

import penstock
from penstock.compiler.implication import Selection, implies
from penstock.compiler.scalar import Constant

TYPES = {
    "v": "double", "w": "double", "n": "int", "m": "bigint", "f": "float", "d": "decimal(10,2)", "s": "string",
    "b": "boolean", "t": "timestamp", "e": "date",
}  # fmt: skip
ROWS: dict[str, tuple[object, ...]] = {
    "v": (None, -1.0, 0.0, 1.0, 1.5, 2.0, 3.0, math.inf, math.nan),
    "n": (None, -1, 0, 1, 2, 3, 4),
    "s": (None, "", "a", "ab", "b", "é"),
    "b": (None, True, False),
}


@cache
def _selection(condition: str, columns: tuple[tuple[str, str], ...] = tuple(TYPES.items())) -> Selection:
    """The selection of a compiled query."""
    catalog = {"streams": {"A": {"schema": {**dict(columns), "ts": "timestamp"}, "timestamp": "ts"}}}
    where = f" WHERE {condition}" if condition else ""
    compiled = penstock.compile({"q": f"SELECT A.ts FROM A{where}"}, catalog=catalog)
    (wanted,) = compiled.shared.chains[0].wanted
    ((constants, _),) = wanted.rows
    return Selection(wanted.conditions, wanted.parameters, constants)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("v > 40", ""),
        ("v > 40", "v > 40"),
        ("v > 40", "v > 30"),
        ("v > 40", "v >= 40"),
        ("v > 40", "v >= 30.5"),
        ("v > 40", "v <> 20"),
        ("v > 40", "v <> 40"),
        ("v > 40", "v IS NOT NULL"),
        ("v > 40", "v > -3"),
        ("v > -3", "v > -4"),
        ("v < 2", "v <= 2"),
        ("v <= 2", "v < 3"),
        ("v = 35", "v > 30 AND v < 40 AND v <> 1 AND v = 35"),
        ("v = 35", "v BETWEEN 30 AND 35"),
        ("v > 30 AND v < 40", "v <> 50"),
        ("v > 30 AND w > 1", "w > 0"),
        ("w > 1 AND v BETWEEN 31 AND 39", "v BETWEEN 30 AND 40"),
        ("v >= 5 AND v <= 5", "v = 5"),
        ("v > 5 AND v < 3", "w = 7"),
        ("v = 5 AND v <> 5", "w = 7"),
        ("v IS NULL AND v > 1", "w = 7"),
        ("FALSE", "w = 7"),
        ("NULL", "w = 7"),
        ("v + 1 > 3", "v + 1 > 2"),
        ("v + 1 > 3", "v + 1 IS NOT NULL"),
        ("n > 4", "n >= 5"),
        ("n > 4 AND n < 6", "n = 5"),
        ("m > 3000000000", "m > 5"),
        ("n > 5.5", "n > 4.5"),
        ("f > 5", "f > 4"),
        ("f > 5.5", "f > 4.5"),
        ("d > 5", "d > 4"),
        ("s > 'b'", "s > 'a'"),
        ("s = 'b'", "s <> 'a'"),
        ("s > '\U0001f600'", "s > '\uffff'"),
        ("t > '2026-01-02'", "t > '2026-01-01'"),
        ("e < '2026-01-02'", "e <= '2026-01-03'"),
        ("n IN (1, 2)", "n IN (1, 2, 3)"),
        ("n IN (1, 2)", "n < 3"),
        ("n IN (1, 2) AND n > 1", "n = 2"),
        ("n = 1", "n IN (1, 2)"),
        ("n = 1 OR n = 2", "n IN (1, 2)"),
        ("n > 3", "n NOT IN (1, 2)"),
        ("n NOT IN (1, 2)", "n <> 1"),
        ("n NOT IN (1, 2)", "n IS NOT NULL"),
        ("v IN (1, 2.5)", "v >= 1"),
        ("v = 1 OR v = 2", "v = 1 OR v = 2 OR v = 3"),
        ("v = 1 OR v = 2", "v >= 1"),
        ("v = 1", "v = 1 OR n = 2"),
        ("v > 3 OR n < 2", "v > 2 OR n < 2"),
        ("v > 3 OR n < 2", "n < 3 OR v > 3"),
        ("(v > 3 AND s = 'a') OR n < 2", "(v > 2 AND s = 'a') OR n < 4"),
        ("(v > 3 OR n < 2) AND (w > 3 OR m < 2)", "(w > 2 OR m < 3) AND (v > 2 OR n < 3)"),
        ("(v > 3 OR n < 2) AND v < 1", "n < 4"),
        ("v <=> 5", "v = 5"),
        ("v = 5", "v <=> 5"),
        ("v IS NULL", "v IS DISTINCT FROM 5"),
        ("v > 5", "v IS DISTINCT FROM 5"),
        ("(v > 5) IS TRUE", "v > 4"),
        ("b", "b"),
        ("b = TRUE", "b IS NOT NULL"),
        ("s LIKE 'a%' AND v > 2", "s LIKE 'a%'"),
        ("v > 5 AND ABS(w - 1) < 2", "ABS(w - 1) < 3"),
        ("n > 3 AND CASE WHEN v > 1 THEN b ELSE v < 9 END", "CASE WHEN v > 1 THEN b ELSE v < 9 END"),
    ],
)
def test_it_follows(narrow: str, wide: str) -> None:
    """Each of these is proven."""
    assert implies(_selection(narrow), _selection(wide))


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("", "v > 1"),
        ("v > 30", "v > 40"),
        ("v >= 40", "v > 40"),
        ("v > 40", "v < 50"),
        ("v > 40", "v <> 50"),
        ("v > 40", "v = 41"),
        ("v > 40", "w > 40"),
        ("v > 40", "w IS NOT NULL"),
        ("v <> 5", "v > 5"),
        ("v > 4", "v >= 5"),
        ("v > 3 AND v < 5", "v = 4"),
        ("n < 5", "n < 6.5"),
        ("f = 16777217", "f > 16777216"),
        ("v + 1 > 3", "v > 2"),
        ("n IN (1, 2, 3)", "n IN (1, 2)"),
        ("n IN (1, NULL)", "n IN (1, 2)"),
        ("v = 1 OR n = 2", "v = 1"),
        ("v > 2 OR n < 2", "v > 3 OR n < 2"),
        ("v > 3 OR n < 2", "v > 2 OR n < 1"),
        ("NOT b", "b"),
        ("v IS NULL", "v IS NOT NULL"),
        ("v IS DISTINCT FROM 5", "v <> 5"),
        ("v IS NULL", "v IS DISTINCT FROM w"),
        ("v <=> w", "v IS NOT NULL"),
        ("(v > 5) IS NOT TRUE", "v <= 5"),
        ("s LIKE 'a%'", "s LIKE 'b%'"),
        ("CASE WHEN v > 1 THEN b ELSE v < 9 END", "CASE WHEN v > 1 THEN b ELSE v < 8 END"),
        ("t > '2026-01-01'", "t > '2026-01-02'"),
        ("t > TIMESTAMP '2026-01-01 00:00:00+02:00'", "t > '2025-01-01'"),
    ],
)
def test_it_is_not_said_to_follow(narrow: str, wide: str) -> None:
    """None of these may be proven, or all that is known of them is that they differ."""
    assert not implies(_selection(narrow), _selection(wide))


@pytest.mark.parametrize("constant", [math.nan, None, True])
def test_of_odd_constants_only_the_same_is_known(constant: Constant) -> None:
    """NaN, NULL and what is no number are equal to themselves and not put in order."""
    odd = [replace(_selection(text), constants=(constant,)) for text in ("v > 5", "v >= 5", "v <=> 5", "v = 5")]
    for narrow in odd:
        assert implies(narrow, narrow)
        assert not implies(narrow, _selection("v > 1"))
        assert not any(implies(narrow, wide) or implies(_selection("v > 9"), wide) for wide in odd if wide != narrow)


def test_null_as_a_constant() -> None:
    """NULL is not distinct from NULL."""
    same, distinct = (replace(_selection(text), constants=(None,)) for text in ("v <=> 5", "v IS DISTINCT FROM 5"))
    assert not implies(same, _selection("v IS NOT NULL"))
    assert not implies(_selection("v IS NULL"), distinct)


def test_types_of_parameters_count() -> None:
    """The same text with parameters of another type is another condition."""
    whole, broken = _selection("n < 5"), _selection("n < 5.0")
    assert whole.conditions == broken.conditions
    assert not implies(whole, broken)
    assert not implies(broken, whole)


def test_types_of_columns_count() -> None:
    """A column of another type may have the same name in another catalog."""
    for type_, follows in (("int", True), ("float", False), ("int", True)):
        narrow, wide = (_selection(text, (("x", type_),)) for text in ("x = 16777217", "x > 16777216"))
        assert implies(narrow, wide) is follows


def test_many_alternatives() -> None:
    """A condition with very many alternatives still follows from itself."""
    many = _selection(" OR ".join(f"v = {number}" for number in range(100)))
    assert implies(many, many)
    assert implies(_selection("v = 7 AND n > 1"), many)
    assert not implies(many, _selection("v > 1"))


def test_moments_are_constants() -> None:
    """Times are put in order as times."""
    assert _selection("t > '2026-01-02'").constants == (datetime(2026, 1, 2),)


class _Writer:
    """Writes random conditions, alike often enough to imply each other."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def test(self) -> str:
        pick = self.rng.choice
        op = pick(("<", "<=", ">", ">=", "=", "<>", "<", ">", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
        number, value = pick((0, 1, 2, 3)), pick(("-1", "0", "1", "1.5", "2", "3"))
        return pick(
            (f"n {op} {number}", f"n {op} {number}", f"v {op} {value}", f"v {op} {value}", f"v {op} {value}",
             f"s {op} '{pick(('', 'a', 'ab', 'b'))}'", f"n IN ({number}, {pick((0, 1, 2))}, 3)", f"v IN (1.5, {value})",
             f"n NOT IN ({number}, 1)", f"{pick(('n', 'v', 's', 'b'))} IS {pick(('', 'NOT '))}NULL", "b", "NOT b",
             f"n + 1 {op} {number}", f"n {op} {pick(('0.5', '1.5'))}", f"n IN ({number}, NULL)", f"(b = TRUE) {op} b",
             f"(v > {value}) IS {pick(('', 'NOT '))}TRUE", f"n {op} v"),
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        if depth == 0:
            return self.test()
        parts = [f"({self.condition(self.rng.randrange(depth))})" for _ in range(self.rng.randint(1, 3))]
        return self.rng.choice((" AND ", " AND ", " OR ")).join(parts)


COLUMNS = tuple((name, TYPES[name]) for name in ROWS)


def _met(conditions: list[str]) -> list[frozenset[int]]:
    """The rows that meet each condition, of all the rows there are, by DuckDB, whose order of doubles is Spark's."""
    with duckdb.connect() as connection:
        for (name, values), kind in zip(ROWS.items(), ("DOUBLE", "INTEGER", "VARCHAR", "BOOLEAN"), strict=True):
            connection.execute(f"CREATE TABLE of_{name} ({name} {kind})")
            connection.executemany(f"INSERT INTO of_{name} VALUES (?)", [[value] for value in values])
        connection.execute(f"CREATE TABLE A AS SELECT * FROM {', '.join(f'of_{name}' for name in ROWS)}")
        found = [connection.execute(f"SELECT rowid FROM A WHERE {text}").fetchall() for text in conditions]
        return [frozenset(number for (number,) in rows) for rows in found]


@pytest.mark.parametrize("seed", range(8))
def test_what_follows_holds_for_every_row(seed: int) -> None:
    """No row meets a selection and not what it is said to imply; and much of what is so is seen."""
    rng = random.Random(seed)
    texts = [_Writer(rng).condition(rng.choice((0, 0, 1, 1, 2))) for _ in range(120)]
    selections = [_selection(text, COLUMNS) for text in texts]
    met = _met(texts)
    proven = so = 0
    for narrow, own, text in zip(selections, met, texts, strict=True):
        for wide, other, wider in zip(selections, met, texts, strict=True):
            follows = implies(narrow, wide)
            assert not follows or own <= other, f"{text}\ndoes not imply\n{wider}"
            proven += follows and bool(own)
            so += bool(own) and own <= other
    assert proven > max(3 * len(texts), so // 3), f"{proven} of {so}"
