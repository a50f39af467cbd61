"""Scalars: the Spark SQL they are written as means what the syntax tree says."""

from __future__ import annotations

import random

import pytest
import sqlglot
from sqlglot import exp

import penstock
from penstock.compiler.scalar import ColumnRef, Scalar, column, translate
from penstock.grammar import ast
from penstock.grammar.parser import parse_query
from penstock.grammar.source import Source

TYPES = {"x": "double", "n": "int", "s": "string", "b": "boolean", "t": "timestamp"}


def _leaf(node: ast.Expr) -> Scalar | None:
    return column(ColumnRef("A", node.name), TYPES[node.name]) if isinstance(node, ast.Column) else None


def _scalar(text: str) -> Scalar:
    body = parse_query(Source("q", f"SELECT {text} FROM A"))
    assert isinstance(body, ast.Select)
    return translate(body.items[0].expr, _leaf)


def _shape(tree: object) -> object:
    """A sqlglot tree without parentheses, with chains of AND and OR flat."""
    if isinstance(tree, exp.Paren):
        return _shape(tree.this)
    if isinstance(tree, exp.And | exp.Or):
        kind = type(tree)
        parts: list[object] = []
        for side in (tree.left, tree.right):
            shape = _shape(side)
            parts += shape[1] if isinstance(shape, tuple) and shape[0] == kind.__name__ else [shape]  # type: ignore
        return (kind.__name__, parts)
    if isinstance(tree, exp.Literal):
        return ("Literal", tree.this.rstrip("D"))
    if isinstance(tree, exp.Cast) and tree.to.is_type("double") and tree.this.is_number:
        return _shape(tree.this)  # 2.5D is read as a cast
    if isinstance(tree, exp.Expr):
        args = {k: _shape(v) for k, v in sorted(tree.args.items()) if v not in (None, False, True, [])}
        return (type(tree).__name__, tuple(args.items()))
    return [_shape(item) for item in tree] if isinstance(tree, list) else tree


def _number(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["x", "n", "A.x", "5", "2.5", "-n"])
    a, b = _number(rng, depth - 1), _number(rng, depth - 1)
    forms = [f"{a} + {b}", f"({a}) - ({b})", f"({a}) * ({b})", f"({a} + 1) % ({b})", f"{a} / ({b})", f"-({a})"]
    return rng.choice([*forms, f"CASE WHEN {_condition(rng, 0)} THEN {a} ELSE {b} END", f"CAST({a} AS BIGINT)"])


def _condition(rng: random.Random, depth: int) -> str:
    if depth == 0:
        forms = ["x > 1", "b", "s LIKE 'a%'", "s RLIKE 'a'", "n IN (1, 2)", "n NOT IN (1)", "x BETWEEN 1 AND 2"]
        return rng.choice([*forms, "s IS NULL", "b IS NOT TRUE", "t > '2026-01-01'", "x IS DISTINCT FROM 1", "TRUE"])
    a, b = _condition(rng, depth - 1), _condition(rng, depth - 1)
    number = f"({_number(rng, depth - 1)}) < {_number(rng, depth - 1)}"
    forms = [f"{a} AND {b}", f"{a} OR {b}", f"({a} OR {b}) AND {a}", f"NOT ({a})", f"NOT ({a} OR {b})"]
    return rng.choice([*forms, f"({a}) = ({b})", f"({a}) IS NULL", f"NOT {a} AND ({b} OR {a} OR b)", number])


@pytest.mark.parametrize("seed", range(400))
def test_the_text_for_spark_means_the_same(seed: int) -> None:
    rng = random.Random(seed)
    scalar = _scalar(_condition(rng, 3) if seed % 2 else _number(rng, 3))
    assert _shape(sqlglot.parse_one(scalar.sql, dialect="databricks")) == _shape(scalar.tree), scalar.sql


@pytest.mark.parametrize(
    ("text", "sql", "type_"),
    [
        ("NOT (x > 1 OR x < 0)", "NOT (A.x > 1 OR A.x < 0)", "boolean"),
        ("(x > 1 OR b) AND b", "(A.x > 1 OR A.b) AND A.b", "boolean"),
        ("x - (n - 1)", "A.x - (A.n - 1)", "double"),
        ("TRY_CAST(s AS INT)", "TRY_CAST(A.s AS INT)", "int"),
        ("n / 2", "A.n / 2", "double"),
        ("n + 1", "A.n + 1", "int"),
        ("n * 3000000000", "A.n * 3000000000", "bigint"),
        ("1.5", "1.5D", "double"),
        ("t + INTERVAL '-1.5' sec", "A.t + INTERVAL '-1.5' SECOND", "timestamp"),
        ("t - t", "A.t - A.t", "interval"),
        ("s || 'it''s'", "A.s || 'it\\'s'", "string"),
        ("CASE WHEN b THEN 1 END", "CASE WHEN A.b THEN 1 END", "int"),
    ],
)
def test_sql_and_type(text: str, sql: str, type_: str) -> None:
    scalar = _scalar(text)
    assert (scalar.sql, scalar.type) == (sql, type_)


def test_equal_by_text_and_columns_known() -> None:
    assert _scalar("x+1") == _scalar("A.x  +  1")
    assert _scalar("x + n").columns == {ColumnRef("A", "x"), ColumnRef("A", "n")}


@pytest.mark.parametrize("text", ["x + s", "NOT x", "x AND b", "x = s", "t = 'noon'", "b LIKE 'x'", "t * 2"])
def test_types_that_do_not_fit_are_refused(text: str) -> None:
    with pytest.raises(penstock.PenstockError):
        _scalar(text)
