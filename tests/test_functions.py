"""Every function of the list can be called, is written for Spark and has a type."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot

import penstock
from penstock.catalog import parse_type
from penstock.compiler.functions import AGGREGATES, CHANGES_BY_ITSELF, MANY, SCALARS, Function

ROOT = Path(__file__).parent.parent
COLUMNS = {
    "i": "int", "l": "bigint", "f": "float", "d": "double", "c": "decimal(10,2)", "s": "string", "b": "boolean",
    "t": "timestamp", "day": "date", "bin": "binary", "list": "array<int>", "tags": "map<string,double>",
}  # fmt: skip
CATALOG = {"streams": {"T": {"schema": COLUMNS, "timestamp": "t"}}}
# A column for each kind of argument.
ARGUMENT = {
    "any": "s", "array": "list", "bigint": "l", "binary": "bin", "condition": "b", "fraction": "d", "int": "i",
    "map": "tags", "number": "c", "ordered": "d", "text": "s", "time": "day", "timestamp": "t",
}  # fmt: skip
# Where the kinds do not say enough: a literal, or the same kind twice.
CALLS = {
    "array_contains": "array_contains(list, i)", "bround": "bround(c, 1)", "date_format": "date_format(day, 'yyyy')",
    "element_at": "element_at(list, i)", "round": "round(c, 1)", "to_date": "to_date(s, 'yyyy')",
    "to_timestamp": "to_timestamp(s, 'yyyy')", "to_unix_timestamp": "to_unix_timestamp(s, 'yyyy')",
    "unix_timestamp": "unix_timestamp(s, 'yyyy')",
}  # fmt: skip


def _scalar(text: str) -> tuple[str, str]:
    """The Spark SQL and the type of an expression."""
    plan = penstock.compile(f"SELECT {text} AS x FROM T", catalog=CATALOG).logical
    (named,) = plan.input.columns  # type: ignore[attr-defined]
    return named.expr.sql, named.expr.type


def _aggregate(text: str) -> tuple[str, str]:
    plan = penstock.compile(f"SELECT {text} AS x FROM T WINDOW 1 min", catalog=CATALOG).logical
    (named,) = plan.input.input.aggregates  # type: ignore[attr-defined]
    return named.expr.sql, named.expr.type


def _arguments(function: Function, count: int) -> list[str]:
    return [ARGUMENT[function.kinds_of(number)[0]] for number in range(count)]


def _counts(function: Function) -> set[int]:
    return {function.least, function.least + 1 if function.most == MANY else function.most}


def _check(sql: str, type_: str) -> None:
    assert parse_type(type_) == type_
    assert sqlglot.parse_one(sql, dialect="spark")


@pytest.mark.parametrize("name", SCALARS)
def test_a_function_is_translated_and_typed(name: str) -> None:
    function = SCALARS[name]
    for count in _counts(function):
        text = CALLS[name] if name in CALLS and count > 1 else f"{name}({', '.join(_arguments(function, count))})"
        _check(*_scalar(text))


@pytest.mark.parametrize("name", AGGREGATES)
def test_an_aggregate_is_translated_and_typed(name: str) -> None:
    function = AGGREGATES[name]
    for count in _counts(function):
        _check(*_aggregate(f"{name}({', '.join(_arguments(function, count))})"))


@pytest.mark.parametrize("name", SCALARS)
def test_a_function_takes_null(name: str) -> None:
    count = SCALARS[name].least
    _scalar(f"{name}({', '.join(['NULL'] * count)})")


@pytest.mark.parametrize("name", [*SCALARS, *AGGREGATES])
def test_too_many_and_too_few_arguments_are_refused(name: str) -> None:
    function = SCALARS.get(name) or AGGREGATES[name]
    counts = {function.least - 1} | ({function.most + 1} if function.most != MANY else set())
    for count in counts:
        with pytest.raises(penstock.PenstockError, match=f"{name.upper()} takes"):
            (_scalar if name in SCALARS else _aggregate)(f"{name}({', '.join(_arguments(function, count))})")


@pytest.mark.parametrize("name", [n for n, f in SCALARS.items() if not {"any", "ordered"} & set(f.kinds_of(0))])
def test_an_argument_of_the_wrong_kind_is_refused(name: str) -> None:
    function = SCALARS[name]
    wrong = "list" if "array" not in function.kinds_of(0) else "i"
    with pytest.raises(penstock.PenstockError, match=f"{name.upper()} takes .* here, found "):
        _scalar(f"{name}({', '.join([wrong, *_arguments(function, function.least)[1:]])})")


def test_patterns_stay_as_they_are_written() -> None:
    for text in (
        "date_format(t, 'E y')",
        "to_date(s, 'yyyy-MM-dd HH:mm:ss')",
        "unix_timestamp(s, 'yyyy-MM-dd HH:mm:ss')",
    ):
        assert _scalar(text)[0].partition("(")[2].endswith(text.partition(", ")[2])


@pytest.mark.parametrize("text", ["array_contains(list, NULL)", "array_contains(NULL, 1)", "element_at(list, NULL)"])
def test_what_is_looked_for_among_nothing_is_null(text: str) -> None:
    """Spark would ask for its type."""
    assert _scalar(text)[0] == "NULL"


def test_null_alone_is_a_text() -> None:
    assert _scalar("NULL") == ("CAST(NULL AS STRING)", "string")
    assert _aggregate("MAX(NULL)")[1] == "string"


def test_a_place_of_zero_is_null() -> None:
    """Spark would fail on it."""
    assert _scalar("split_part(s, '-', i)")[0] == "SPLIT_PART(T.s, '-', NULLIF(T.i, 0))"
    assert _scalar("element_at(list, 2)")[0] == "ELEMENT_AT(T.list, 2)"
    assert _scalar("element_at(tags, s)")[0] == "ELEMENT_AT(T.tags, T.s)"


# What Spark 4 says these are.
TYPES = [
    ("abs(c)", "decimal(10,2)"), ("ceil(d)", "bigint"), ("floor(c)", "decimal(9,0)"), ("round(i)", "int"),
    ("round(d, 1)", "double"), ("round(c)", "decimal(9,0)"), ("round(c, 1)", "decimal(10,1)"), ("sqrt(i)", "double"),
    ("round(c, -1)", "decimal(9,0)"), ("mod(i, l)", "bigint"), ("mod(c, i)", "decimal(10,2)"), ("pmod(i, 3)", "int"),
    ("greatest(i, l)", "bigint"), ("greatest(i, d)", "double"), ("greatest(i, c)", "decimal(12,2)"),
    ("coalesce(f, i)", "double"), ("coalesce(day, t)", "timestamp"), ("coalesce(NULL, s)", "string"),
    ("if(b, 1, 2)", "int"), ("if(b, i, d)", "double"), ("nvl2(s, 1, 2.5)", "double"), ("nullif(i, 2.5)", "int"),
    ("nanvl(f, f)", "float"), ("element_at(list, 1)", "int"), ("element_at(tags, 'x')", "double"),
    ("date_trunc('hour', t)", "timestamp"), ("datediff(t, day)", "int"), ("concat(s, i, b, t)", "string"),
    ("i + l", "bigint"), ("i / 2", "double"), ("f + i", "double"), ("c + c", "decimal(11,2)"),
    ("c + 1", "decimal(11,2)"), ("c * c", "decimal(21,4)"), ("c / c", "decimal(23,13)"), ("c % c", "decimal(10,2)"),
    ("c * l", "decimal(31,2)"), ("c * d", "double"), ("t + (t - t)", "timestamp"),
    ("CASE WHEN b THEN i ELSE c END", "decimal(12,2)"), ("EXTRACT(SECOND FROM t)", "decimal(8,6)"),
    ("EXTRACT(HOUR FROM t)", "int"), ("EXTRACT(HOUR FROM t - t)", "tinyint"), ("s || i", "string"),
]  # fmt: skip
AGGREGATE_TYPES = [
    ("COUNT(*)", "bigint"), ("COUNT(DISTINCT s, i)", "bigint"), ("SUM(i)", "bigint"), ("SUM(f)", "double"),
    ("SUM(c)", "decimal(20,2)"), ("AVG(i)", "double"), ("AVG(c)", "decimal(14,6)"), ("MIN(day)", "date"),
    ("MAX(list)", "array<int>"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "type_"), TYPES)
def test_type(text: str, type_: str) -> None:
    assert _scalar(text)[1] == type_


@pytest.mark.parametrize(("text", "type_"), AGGREGATE_TYPES)
def test_type_of_an_aggregate(text: str, type_: str) -> None:
    assert _aggregate(text)[1] == type_


@pytest.mark.parametrize("name", sorted(CHANGES_BY_ITSELF))
def test_what_changes_by_itself_is_refused(name: str) -> None:
    with pytest.raises(penstock.PenstockError, match="something else each time"):
        _scalar(f"{name}()")


@pytest.mark.parametrize("name", ["reflect", "java_method", "try_reflect", "read_files", "ai_query", "session_user"])
def test_what_reaches_outside_is_refused(name: str) -> None:
    with pytest.raises(penstock.PenstockError, match="not known"):
        _scalar(f"{name}('x')")
