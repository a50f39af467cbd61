"""Texts and the trees they give."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from penstock.grammar import (
    PenstockError,
    Source,
    ast,
    parse_query,
    parse_script,
    parse_statement,
    render,
    split_statements,
)
from penstock.grammar.tree import Node
from penstock.tests.golden import check_golden, read_input

GOLDEN = sorted((Path(__file__).parent / "golden" / "parse").glob("*.txt"))


def dump(value: Any, indent: str = "") -> str:
    """A tree as text: a node on a line of its own unless it has no children; defaults left out."""
    inner = indent + "  "
    if isinstance(value, tuple):
        return "".join(f"\n{inner}- {dump(item, inner + '  ')}" for item in value)
    if not isinstance(value, Node):
        return repr(value)
    shown = {
        field.name: getattr(value, field.name)
        for field in fields(value)  # type: ignore[arg-type]
        if field.compare and (field.default is MISSING or getattr(value, field.name) != field.default)
    }
    kind = type(value).__name__
    if not value.children:
        return f"{kind}({', '.join(f'{name}={item!r}' for name, item in shown.items())})"
    lines = (f"\n{inner}{name}: {dump(item, inner)}".replace(": \n", ":\n") for name, item in shown.items())
    return kind + "".join(lines)


@pytest.mark.parametrize("path", GOLDEN, ids=[path.stem for path in GOLDEN])
def test_golden(path: Path) -> None:
    try:
        statements = parse_script(Source(path.name, read_input(path)))
        actual = "\n".join(map(dump, statements))
    except PenstockError as error:
        actual = render(error)
    check_golden(path, actual)


def test_there_are_golden_files() -> None:
    assert len(GOLDEN) >= 10


def test_statements_are_cut_at_semicolons_outside_texts_names_and_comments() -> None:
    text = """SELECT ';' FROM A; -- one; two
    /* three; ' */ SELECT ";" , `;` FROM A -- it's ; there
    WHERE a = 'it''s; ' ;; ; SHOW STREAMS"""
    assert split_statements(Source("script", text)) == (
        "SELECT ';' FROM A",
        """SELECT ";" , `;` FROM A -- it's ; there
    WHERE a = 'it''s; '""",
        "SHOW STREAMS",
    )
    assert len(parse_script(Source("script", text))) == 3


@pytest.mark.parametrize("text", ["", "  \n", ";", " ; ;\n", "-- nothing", "/* nothing; */", "/**/;--x"])
def test_no_statements(text: str) -> None:
    assert parse_script(Source("script", text)) == ()
    assert split_statements(Source("script", text)) == ()
    with pytest.raises(PenstockError, match="no statement") as caught:
        parse_statement(Source("script", text))
    assert caught.value.label == "empty"


def test_one_statement_is_one() -> None:
    with pytest.raises(PenstockError) as caught:
        parse_statement(Source("script", "SHOW STREAMS; SHOW QUERIES"))
    assert caught.value.label == "too-many-statements"
    with pytest.raises(PenstockError) as caught:
        parse_query(Source("script", "SHOW STREAMS"))
    assert caught.value.label == "not-a-query"
    assert isinstance(parse_query(Source("script", "SELECT a FROM A;")), ast.Select)


def test_spans_are_the_text_of_the_node() -> None:
    text = """-- first
    CREATE STREAM S (a array<int>, ts TIMESTAMP) FROM rate OPTIONS (x = 1 ) ;
    CREATE QUERY hot AS
      SELECT (a + b) * MAX( c ), CASE WHEN d THEN 1 END AS e, A.*
      FROM A x [RANGE 5 min], B JOIN C ON x.k = (B.k)
      WHERE a > 1 AND NOT (b = 2 OR c IN (1, 2)) WINDOW 1 hour SLIDE 10 sec ;
    SELECT a FROM A JOIN B ON A.k = B.k ; SET "a" = 5 min ;"""
    source = Source("script", text)
    statements = parse_script(source)

    def texts(kind: type[ast.Syntax]) -> list[str]:
        nodes = (node for statement in statements for node in statement.find_all(kind))
        return [text[node.span.start : node.span.end] for node in nodes]

    assert [text[s.span.start : s.span.end] for s in statements] == [
        part.removeprefix("-- first").strip() for part in text.split(" ;")[:-1]
    ]
    assert texts(ast.TypeName) == ["array<int>", "TIMESTAMP"]
    assert texts(ast.Connector) == ["rate OPTIONS (x = 1 )"]
    assert texts(ast.Option) == ["x = 1"]
    assert texts(ast.SelectItem) == ["(a + b) * MAX( c )", "CASE WHEN d THEN 1 END AS e", "A.*", "a"]
    assert texts(ast.Case) == ["CASE WHEN d THEN 1 END"]
    assert texts(ast.Call) == ["MAX( c )"]
    assert texts(ast.FromItem)[:3] == ["A x [RANGE 5 min]", "B", "C"]
    assert texts(ast.TimeWindow) == ["[RANGE 5 min]", "1 hour"]
    assert texts(ast.Duration) == ["10 sec"]
    assert texts(ast.Junction) == ["a > 1 AND NOT (b = 2 OR c IN (1, 2))", "(b = 2 OR c IN (1, 2))"]
    assert texts(ast.InList) == ["c IN (1, 2)"]
    assert texts(ast.Unary) == ["NOT (b = 2 OR c IN (1, 2))"]
    assert texts(ast.Binary)[:3] == ["(a + b) * MAX( c )", "(a + b)", "x.k = (B.k)"]
    assert "(B.k)" in texts(ast.Column)
