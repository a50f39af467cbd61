"""Printing a tree and parsing it again gives the same tree."""

from __future__ import annotations

import random

import pytest

from penstock.grammar import Source, ast, parse_statement, to_sql
from penstock.grammar.tree import Node
from penstock.grammar.words import KEYWORDS
from penstock.tests.generate import random_statement

COUNT = 2_000


def parse(text: str) -> ast.Statement:
    return parse_statement(Source("query", text))


def test_random_statements_survive_printing() -> None:
    seen: set[type[Node]] = set()
    for seed in range(COUNT):
        text = random_statement(random.Random(seed))
        tree = parse(text)
        printed = to_sql(tree)
        assert parse(printed) == tree, f"seed {seed}\n{text}\n{printed}"
        assert to_sql(parse(printed)) == printed, f"seed {seed}\n{text}"
        seen.update(type(node) for node in tree.walk())
    bases = {ast.Syntax, ast.Expr, ast.Statement}
    kinds = {kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.Syntax)}
    assert kinds - bases == seen


@pytest.mark.parametrize("word", sorted(KEYWORDS))
def test_every_keyword_is_a_name_in_quotes(word: str) -> None:
    text = f'SELECT "{word}", A."{word}" AS "{word}", "{word}"(1) FROM "{word}" "{word}" WHERE "{word}" = 1'
    tree = parse(text)
    assert parse(to_sql(tree)) == tree
    for text in (
        f'CREATE STREAM "{word}" ("{word}" INT) TIMESTAMP BY "{word}" FROM "{word}" OPTIONS ("{word}" = "{word}")',
        f'CREATE RELATION "{word}" ("{word}" struct<"{word}": int>) VALID FROM "{word}" TO "{word}" FROM "{word}"',
        f'SET "{word}" = "{word}"',
        f'EXPLAIN QUERY "{word}"',
        f'DROP QUERY IF EXISTS "{word}"',
    ):
        tree = parse(text)
        assert parse(to_sql(tree)) == tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + (b + c)", "a + (b + c)"),
        ("((a + b)) + c", "a + b + c"),
        ("(a + b) * c", "(a + b) * c"),
        ("a * b + c", "a * b + c"),
        ("a - (b * c)", "a - b * c"),
        ("- (-a)", "- -a"),
        ("-(a + b)", "-(a + b)"),
        ("(-a) * b", "-a * b"),
        ("not (a = b)", "NOT a = b"),
        ("(not a) = b", "(NOT a) = b"),
        ("(a = b) = c", "(a = b) = c"),
        ("(a is null) = (b in (1))", "(a IS NULL) = (b IN (1))"),
        ("(a between 1 and 2) between (b = 1) and 3", "(a BETWEEN 1 AND 2) BETWEEN (b = 1) AND 3"),
        ("a or b and c", "a OR b AND c"),
        ("(a or b) and c", "(a OR b) AND c"),
        ("a and (b and (c and d))", "a AND b AND c AND d"),
        ("not (a and b)", "NOT (a AND b)"),
        ("not a and b", "NOT a AND b"),
        ("a == b", "a = b"),
        ("a != b", "a <> b"),
        ("a is not distinct from b", "a <=> b"),
        ("interval '-90' s", "INTERVAL '-90' sec"),
        ("interval 60 min", "INTERVAL 1 h"),
        ("left(a, 2)", "left(a, 2)"),
        ('"cast"(a)', '"cast"(a)'),
        ("rows", '"rows"'),
        ('"plain"', "plain"),
        ("'it''s'", "'it''s'"),
    ],
)
def test_canonical_expressions(text: str, expected: str) -> None:
    tree = parse(f"SELECT {text} FROM A")
    assert to_sql(tree) == f"SELECT {expected} FROM A"
    assert parse(to_sql(tree)) == tree
