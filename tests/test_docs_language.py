"""docs/language.md against the code: all of the language is on the page, and its examples give what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lark import Lark

import penstock
from penstock.catalog.types import CHARACTERS, DECIMAL, NESTED, SIMPLE
from penstock.compiler.functions import SCALARS
from penstock.compiler.scalar import Scalar
from penstock.compiler.settings import Settings
from penstock.grammar.durations import MICROSECONDS
from penstock.grammar.parser import split_statements
from penstock.grammar.source import Source
from penstock.runtime.session import SparkSession

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
GRAMMAR = (ROOT / "grammar" / "penstock.lark").read_text(encoding="utf-8")
CATALOG = {"streams": {"T": {"schema": {"ts": "timestamp"}}}}
NO_KEYWORDS = {"ALIAS", "IDENT", "QUOTED", "STRING", "NUMBER", "STAR", "LPAR", "RPAR", "LSQB", "RSQB", "MORETHAN"}


def _tables(first: str) -> list[list[str]]:
    """The rows of the tables whose first column is called so."""
    tables = re.findall(rf"^\| {first} \|.*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.M)
    lines = [line for table in tables for line in table.splitlines()]
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def _code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


FUNCTIONS = [(example, row[1]) for row in _tables("function") for example in _code(row[0])]
OPERATORS = [(row[1].strip("`"), row[2]) for first in ("operator", "expression") for row in _tables(first)]
EXAMPLES = [*OPERATORS, *FUNCTIONS]


def _statements() -> list[str]:
    """Every statement of the page, and its expressions as statements."""
    blocks = re.findall(r"^```sql\n(.*?)^```$", TEXT, re.M | re.S)
    found = [statement for block in blocks for statement in split_statements(Source("page", block))]
    return [*found, *(f"SELECT {example} AS x FROM T" for example, _ in EXAMPLES)]


def _scalar(text: str) -> Scalar:
    """An expression, compiled."""
    plan = penstock.compile(f"SELECT {text} AS x FROM T", catalog=CATALOG).logical
    (named,) = plan.input.columns  # type: ignore[attr-defined]
    expr: Scalar = named.expr
    return expr


def test_every_keyword_is_on_the_page() -> None:
    keywords = set(re.findall(r"^([A-Z_]+)(?:\.\d)?: /", GRAMMAR, re.M)) - NO_KEYWORDS
    assert keywords > {"SELECT", "RETAIN", "TRY_CAST"}
    assert sorted(word for word in keywords if not re.search(rf"\b{word}\b", TEXT)) == []


def test_every_rule_of_the_grammar_has_an_example() -> None:
    parser = Lark(GRAMMAR, start="statement", parser="lalr", maybe_placeholders=True)
    used = {tree.data for text in _statements() for tree in parser.parse(text).iter_subtrees()}
    rules = {rule.alias or str(rule.origin.name) for rule in parser.rules if not rule.options.expand1 or rule.alias}
    assert sorted(rule for rule in rules if not rule.startswith("_") and rule not in used) == []


def test_every_unit_and_type_is_on_the_page() -> None:
    units = {unit for row in _tables("unit") for unit in _code(row[1])}
    assert units == set(MICROSECONDS)
    spelled = {word for row in _tables("type") for cell in (row[0], row[2]) for word in re.findall(r"`(\w+)", cell)}
    assert spelled == {*SIMPLE, *DECIMAL, *CHARACTERS, *NESTED}


def test_literals_have_the_types_that_the_page_says() -> None:
    rows = [(literal, row[1].strip("`")) for row in _tables("literal") if row[1] for literal in _code(row[0])]
    assert [(literal, _scalar(literal).type) for literal, _ in rows] == rows


def test_every_setting_is_on_the_page() -> None:
    rows = {row[0].strip("`"): row for row in _tables("setting")}
    assert {name: row[2].strip("`") for name, row in rows.items()} == Settings().shown()
    for name, row in rows.items():
        for value in _code(row[1]):
            assert Settings().with_text(name, value).shown()[name] == value


def test_every_function_is_on_the_page() -> None:
    assert sorted({example.partition("(")[0] for example, _ in FUNCTIONS}) == sorted(SCALARS)


@pytest.fixture(scope="module")
def values(spark: SparkSession) -> dict[str, str | None]:
    """What each example gives, as text."""
    sql = {example: _scalar(example).sql for example, _ in EXAMPLES}
    names = {example: f"x{number}" for number, example in enumerate(sql)}
    columns = ", ".join(f"CAST({sql[example]} AS STRING) AS {name}" for example, name in names.items())
    row = spark.sql(f"SELECT {columns}").first()
    assert row is not None
    return {example: row[name] for example, name in names.items()}


def test_examples_give_what_the_page_says(values: dict[str, str | None]) -> None:
    shown = {example: [f"`{value}`" if value is not None else "`NULL`"] for example, value in values.items()}
    wrong = {example: (said, shown[example]) for example, said in EXAMPLES if said not in shown[example]}
    assert wrong == {}
