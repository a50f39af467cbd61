"""Folding keeps the value of every expression for every row, NULL included; and it brings alike ones together."""

from __future__ import annotations

import random

import pytest
import sqlglot

import penstock
from penstock.compiler.scalar import Scalar, conjuncts, folded
from penstock.tests.evaluate import SECOND, Environment, evaluate

TYPES = {"x": "double", "y": "double", "n": "int", "m": "bigint", "s": "string", "b": "boolean", "t": "timestamp"}
CATALOG = {"streams": {"A": {"schema": TYPES}}}
ROWS = {
    "x": (-1.0, 0.0, 1.5, 2.5, 5.0, None),
    "y": (0.0, 1.5, 2.0, None),
    "n": (-2, 0, 1, 2, 3, None),
    "m": (0, 1, 2, 5, None),
    "s": ("", "a", "ab", "b%", None),
    "b": (True, False, None),
    "t": (0, SECOND, 2 * SECOND, None),
}


def _scalar(text: str) -> Scalar:
    return penstock.compile(f"SELECT {text} AS r FROM A", catalog=CATALOG).logical.input.columns[0].expr


def _row(rng: random.Random) -> Environment:
    return {("A", name): rng.choice(values) for name, values in ROWS.items()}


class _Writer:
    """Writes random expressions."""

    def __init__(self, rng: random.Random) -> None:
        self.pick = rng.choice
        self.rng = rng

    def number(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(("x", "y", "n", "m", "0", "1", "2", "5", "2.5", "1.5", "-1", "7", "NULL", "-n"))
        a, b = self.number(depth - 1), self.number(depth - 2)
        return self.pick(
            (f"({a} + {b})", f"({a} - ({b}))", f"({a}) * ({b})", f"({a}) / ({b})", f"({a}) % ({b})", f"-({a})",
             f"CASE WHEN {self.condition(depth - 1)} THEN {a} ELSE {b} END", f"COALESCE({a}, {b})",
             f"CASE n WHEN 1 THEN {a} WHEN {b} THEN 3 END", f"ABS({a})", f"CAST({a} AS INT)"),
        )  # fmt: skip

    def comparison(self) -> str:
        a, b, c = (self.number(self.pick((0, 0, 0, 1))) for _ in range(3))
        op = self.pick(("=", "<>", "<", "<=", ">", ">=", "<", ">", "<=>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
        return self.pick(
            (f"{a} {op} {b}", f"{a} {op} {b}", f"{a} {op} {b}", f"x {op} {b}", f"n {op} 2", f"x {op} 1.5", "b",
             f"{a} BETWEEN {b} AND {c}", f"{a} NOT BETWEEN {b} AND {c}", f"{a} IN ({b}, {c})", f"n NOT IN (1, {b})",
             f"s LIKE {self.pick(('NULL', repr('a%'), repr('_')))}", f"s {op} 'a'", f"'a' {op} s", f"'a' {op} 'b'",
             f"{a} IS NULL", "s IS NOT NULL", "TRUE", "FALSE", "NULL", f"t {op} TIMESTAMP '1970-01-01 00:00:01'",
             f"t + INTERVAL 1 sec {op} t", f"(b = TRUE) {op} b"),
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        if depth <= 0:
            return self.comparison()
        parts = [f"({self.condition(depth - self.rng.randint(1, 2))})" for _ in range(self.rng.randint(2, 3))]
        parts.append(self.pick(parts))
        return self.pick(
            (" AND ".join(parts), " OR ".join(parts), f"NOT {parts[0]}", f"{parts[0]} IS TRUE",
             f"{parts[0]} IS NOT FALSE", f"{parts[0]} <=> {parts[1]}",
             f"({parts[0]} AND {parts[1]}) OR ({parts[0]} AND {parts[-1]})",
             f"({parts[0]} OR {parts[1]}) AND ({parts[-1]} OR {parts[0]})"),
        )  # fmt: skip


def _same(found: object, expected: object) -> bool:
    return found == expected and type(found) is type(expected)


@pytest.mark.parametrize("seed", range(60))
def test_the_value_stays_for_every_row(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        writer = _Writer(rng)
        text = writer.condition(rng.randint(0, 4)) if rng.random() < 0.8 else writer.number(3)
        before = _scalar(text)
        after = folded(before)
        written = sqlglot.parse_one(after.sql, dialect="databricks")
        assert after.type == before.type
        assert folded(after) == after, text
        for row in [_row(rng) for _ in range(25)]:
            expected = evaluate(before.tree, row)
            assert _same(evaluate(after.tree, row), expected), f"{text}\n{after}\n{row}"
            assert evaluate(written, row) == expected, f"{text}\n{after} is read otherwise\n{row}"
            if before.type == "boolean":
                parts = [evaluate(part.tree, row) for part in conjuncts(after)]
                assert all(part is True for part in parts) == (expected is True), f"{text}\n{row}"


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("1 + 2 * 3", "7"),
        ("1 - 3", "-2"),
        ("0.5 + 1", "1.5D"),
        ("2147483647 + 1", "2147483647 + 1"),
        ("2147483647 + 0", "2147483647"),
        ("9223372036854775807 + 1", "9223372036854775807 + 1"),
        ("1e300 * 1e300", "1e300 * 1e300"),
        ("1 / 0", "1 / 0"),
        ("n + NULL", "CAST(NULL AS STRING)"),
        ("-(-x)", "A.x"),
        ("5 < x", "A.x > 5"),
        ("y < x", "A.x > A.y"),
        ("NOT (x < 5 OR b)", "A.x >= 5 AND NOT A.b"),
        ("x BETWEEN 1 AND 5", "A.x <= 5 AND A.x >= 1"),
        ("x > 1 AND x > 5", "A.x > 5"),
        ("x > 1 OR x > 5", "A.x > 1"),
        ("x > 5 AND x >= 5", "A.x > 5"),
        ("x > 5 OR x >= 5", "A.x >= 5"),
        ("x = 1 AND x = 2", "A.x = 1 AND A.x = 2"),
        ("x > 1 OR NULL", "A.x > 1 OR NULL"),
        ("x > 1 OR TRUE", "TRUE"),
        ("x > 1 AND FALSE", "FALSE"),
        ("NULL = 1", "NULL"),
        ("NULL IS NULL", "TRUE"),
        ("n IN (2, 1, 2)", "A.n IN (1, 2)"),
        ("n IN (2)", "A.n = 2"),
        ("(b AND x > 1) OR (b AND n = 1)", "A.b AND (A.n = 1 OR A.x > 1)"),
        ("b OR (b AND x > 1)", "A.b"),
        ("NOT n IN (1, 2)", "NOT A.n IN (1, 2)"),
    ],
)
def test_the_normal_form(text: str, sql: str) -> None:
    assert folded(_scalar(text)).sql == sql
