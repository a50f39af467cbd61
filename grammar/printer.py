"""Syntax tree to text: one canonical line that parses to an equal tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import singledispatch
from typing import Any

from penstock.grammar import ast
from penstock.grammar.durations import MICROSECONDS, format_duration
from penstock.grammar.words import RESERVED, is_bare, quoted


class Level(IntEnum):
    """How tightly an expression binds, loosest first; the order of the rules in penstock.lark."""

    OR = 0
    AND = 1
    NOT = 2
    PREDICATE = 3
    SUM = 4
    PRODUCT = 5
    SIGN = 6
    ATOM = 7


_OPERATOR_LEVEL = {
    "OR": Level.OR,
    "AND": Level.AND,
    "NOT": Level.NOT,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "<=>", "IS DISTINCT FROM"), Level.PREDICATE),
    **dict.fromkeys(("+", "-", "||"), Level.SUM),
    **dict.fromkeys(("*", "/", "%"), Level.PRODUCT),
}


def _operator_level(node: Any) -> Level:
    return _OPERATOR_LEVEL[node.op]


def _unary_level(node: Any) -> Level:
    return Level.NOT if node.op == "NOT" else Level.SIGN


def _predicate_level(node: Any) -> Level:
    return Level.PREDICATE


_LEVEL: dict[type[ast.Expr], Callable[[Any], Level]] = {
    ast.Junction: _operator_level,
    ast.Binary: _operator_level,
    ast.Unary: _unary_level,
    ast.Between: _predicate_level,
    ast.InList: _predicate_level,
    ast.Like: _predicate_level,
    ast.Is: _predicate_level,
}

# Words that begin an expression of their own, so that a function cannot bear them bare.
_NOT_FUNCTIONS = RESERVED | {"cast", "try_cast", "extract", "interval", "true", "false"}

_PLAIN_VALUE = re.compile(r"-?[0-9]+(?:\.[0-9]+)?|true|false", re.IGNORECASE | re.ASCII)
_DURATION_VALUE = re.compile(r"[0-9]+(?:\.[0-9]+)? ([a-z]+)", re.IGNORECASE | re.ASCII)


@singledispatch
def to_sql(node: ast.Syntax) -> str:
    """A node as text that parses to an equal node."""
    raise TypeError(f"no text for {type(node).__name__}")


def _name(name: str) -> str:
    return name if is_bare(name) else quoted(name)


def _is_dotted(name: str) -> bool:
    return all(is_bare(part) for part in name.split("."))


def _dotted(name: str) -> str:
    return name if _is_dotted(name) else quoted(name)


def _text(value: str) -> str:
    return quoted(value, "'")


def _value(value: str) -> str:
    """What stands after `=` in OPTIONS and SET."""
    duration = _DURATION_VALUE.fullmatch(value)
    plain = _PLAIN_VALUE.fullmatch(value) or (duration and duration[1].lower() in MICROSECONDS)
    return value if plain or _is_dotted(value) else _text(value)


def _list(nodes: Iterable[ast.Syntax]) -> str:
    return ", ".join(map(to_sql, nodes))


def _joined(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)


def _clause(word: str, node: ast.Syntax | None) -> str:
    return "" if node is None else f"{word} {to_sql(node)}"


def _not(negated: bool) -> str:
    return "NOT" if negated else ""


def _at(least: Level, expr: ast.Expr) -> str:
    """An operand, in parentheses if it binds less tightly than its place asks for."""
    level_of = _LEVEL.get(type(expr))
    text = to_sql(expr)
    return text if level_of is None or level_of(expr) >= least else f"({text})"


# Expressions


@to_sql.register
def _(node: ast.Column) -> str:
    return _name(node.name) if node.table is None else f"{_name(node.table)}.{_name(node.name)}"


@to_sql.register
def _(node: ast.Star) -> str:
    return "*" if node.table is None else f"{_name(node.table)}.*"


@to_sql.register
def _(node: ast.Number) -> str:
    return node.text


@to_sql.register
def _(node: ast.String) -> str:
    return _text(node.value)


@to_sql.register
def _(node: ast.Boolean) -> str:
    return "TRUE" if node.value else "FALSE"


@to_sql.register
def _(node: ast.Null) -> str:
    return "NULL"


@to_sql.register
def _(node: ast.Moment) -> str:
    return f"{node.kind} {_text(node.text)}"


@to_sql.register
def _(node: ast.Interval) -> str:
    number, unit = format_duration(node.micros).split()
    return f"INTERVAL {number if node.micros >= 0 else _text(number)} {unit}"


@to_sql.register
def _(node: ast.Unary) -> str:
    operand = _at(_unary_level(node), node.operand)
    # Two signs in a row stand apart: `--` begins a comment.
    apart = node.op == "NOT" or operand.startswith(("-", "+"))
    return f"{node.op} {operand}" if apart else f"{node.op}{operand}"


@to_sql.register
def _(node: ast.Binary) -> str:
    level = _operator_level(node)
    tighter = Level(level + 1)
    # Comparisons do not chain; the other operators lean to the left.
    left = _at(tighter if level is Level.PREDICATE else level, node.left)
    return f"{left} {node.op} {_at(tighter, node.right)}"


@to_sql.register
def _(node: ast.Junction) -> str:
    tighter = Level(_operator_level(node) + 1)
    return f" {node.op} ".join(_at(tighter, operand) for operand in node.operands)


@to_sql.register
def _(node: ast.Between) -> str:
    bounds = f"BETWEEN {_at(Level.SUM, node.low)} AND {_at(Level.SUM, node.high)}"
    return _joined(_at(Level.SUM, node.operand), _not(node.negated), bounds)


@to_sql.register
def _(node: ast.InList) -> str:
    return _joined(_at(Level.SUM, node.operand), _not(node.negated), f"IN ({_list(node.items)})")


@to_sql.register
def _(node: ast.Like) -> str:
    escape = None if node.escape is None else f"ESCAPE {_text(node.escape)}"
    pattern = _at(Level.SUM, node.pattern)
    return _joined(_at(Level.SUM, node.operand), _not(node.negated), node.op, pattern, escape)


@to_sql.register
def _(node: ast.Is) -> str:
    return _joined(_at(Level.SUM, node.operand), "IS", _not(node.negated), node.what)


@to_sql.register
def _(node: ast.When) -> str:
    return f"WHEN {to_sql(node.condition)} THEN {to_sql(node.result)}"


@to_sql.register
def _(node: ast.Case) -> str:
    operand = None if node.operand is None else to_sql(node.operand)
    return _joined("CASE", operand, *map(to_sql, node.whens), _clause("ELSE", node.otherwise), "END")


@to_sql.register
def _(node: ast.TypeName) -> str:
    return node.text


@to_sql.register
def _(node: ast.Cast) -> str:
    return f"{'TRY_CAST' if node.safe else 'CAST'}({to_sql(node.operand)} AS {to_sql(node.type)})"


@to_sql.register
def _(node: ast.Extract) -> str:
    return f"EXTRACT({node.part} FROM {to_sql(node.operand)})"


@to_sql.register
def _(node: ast.Call) -> str:
    name = node.name if is_bare(node.name, _NOT_FUNCTIONS) else quoted(node.name)
    return f"{name}({_joined('DISTINCT' if node.distinct else '', _list(node.args))})"


# Queries


@to_sql.register
def _(node: ast.Duration) -> str:
    return format_duration(node.micros)


@to_sql.register
def _(node: ast.TimeWindow) -> str:
    return format_duration(node.micros)


@to_sql.register
def _(node: ast.RowWindow) -> str:
    return f"{node.rows} ROWS"


def _stream_window(window: ast.Window | None) -> str:
    if window is None:
        return ""
    length = f"ROWS {window.rows}" if isinstance(window, ast.RowWindow) else f"RANGE {to_sql(window)}"
    return f"[{length}]"


@to_sql.register
def _(node: ast.SelectItem) -> str:
    return to_sql(node.expr) if node.alias is None else f"{to_sql(node.expr)} AS {_name(node.alias)}"


@to_sql.register
def _(node: ast.FromItem) -> str:
    alias = None if node.alias is None else _name(node.alias)
    return _joined(_name(node.name), alias, _stream_window(node.window), _clause("ON", node.on))


def _sources(sources: tuple[ast.FromItem, ...]) -> str:
    text = ""
    for item in sources:
        before = {"": "", ",": ", "}.get(item.join, f" {item.join} ")
        text += before + to_sql(item)
    return text


def _window(window: ast.Window | None, slide: ast.Duration | None) -> str:
    return _joined(_clause("WINDOW", window), _clause("SLIDE", slide))


@to_sql.register
def _(node: ast.Select) -> str:
    return _joined(
        "SELECT DISTINCT" if node.distinct else "SELECT",
        _list(node.items),
        f"FROM {_sources(node.sources)}",
        _clause("WHERE", node.where),
        f"GROUP BY {_list(node.group_by)}" if node.group_by else None,
        _clause("HAVING", node.having),
        _window(node.window, node.slide),
    )


@to_sql.register
def _(node: ast.Option) -> str:
    return f"{node.name if _is_dotted(node.name) else _text(node.name)} = {_value(node.value)}"


@to_sql.register
def _(node: ast.Connector) -> str:
    path = None if node.path is None else _text(node.path)
    options = f"OPTIONS ({_list(node.options)})" if node.options else None
    return _joined(_dotted(node.format), path, options)


@to_sql.register
def _(node: ast.InsertInto) -> str:
    return f"INSERT INTO {to_sql(node.sink)} {to_sql(node.select)}"


# Definitions


@to_sql.register
def _(node: ast.ColumnDef) -> str:
    return f"{_name(node.name)} {to_sql(node.type)}"


@to_sql.register
def _(node: ast.Statistic) -> str:
    what = _name(node.name) if node.column is None else f"DISTINCT({_name(node.column)})"
    return f"{what} = {node.value}"


def _statistics(statistics: tuple[ast.Statistic, ...]) -> str:
    return f"STATISTICS ({_list(statistics)})" if statistics else ""


@to_sql.register
def _(node: ast.CreateStream) -> str:
    return _joined(
        f"CREATE STREAM {_name(node.name)} ({_list(node.columns)})",
        None if node.timestamp is None else f"TIMESTAMP BY {_name(node.timestamp)}",
        _clause("LATENESS", node.lateness),
        _clause("RETAIN", node.retain),
        _clause("IDLE", node.idle_timeout),
        _statistics(node.statistics),
        f"FROM {to_sql(node.source)}",
    )


@to_sql.register
def _(node: ast.CreateRelation) -> str:
    valid = None
    if node.valid_from is not None and node.valid_to is not None:
        valid = f"VALID FROM {_name(node.valid_from)} TO {_name(node.valid_to)}"
    return _joined(
        f"CREATE RELATION {_name(node.name)} ({_list(node.columns)})",
        valid,
        _statistics(node.statistics),
        f"FROM {to_sql(node.source)}",
    )


@to_sql.register
def _(node: ast.CreateQuery) -> str:
    return f"CREATE QUERY {_name(node.name)} AS {to_sql(node.body)}"


@to_sql.register
def _(node: ast.Drop) -> str:
    return _joined("DROP", node.kind, "IF EXISTS" if node.if_exists else None, _name(node.name))


@to_sql.register
def _(node: ast.AlterWindow) -> str:
    return f"ALTER QUERY {_name(node.name)} SET {_window(node.window, node.slide)}"


@to_sql.register
def _(node: ast.AlterQuery) -> str:
    return f"ALTER QUERY {_name(node.name)} AS {to_sql(node.body)}"


# Questions


@to_sql.register
def _(node: ast.Show) -> str:
    return f"SHOW {node.what}"


@to_sql.register
def _(node: ast.Describe) -> str:
    return f"DESCRIBE {_name(node.name)}"


@to_sql.register
def _(node: ast.QueryName) -> str:
    return f"QUERY {_name(node.name)}"


@to_sql.register
def _(node: ast.AllQueries) -> str:
    return "ALL"


@to_sql.register
def _(node: ast.Explain) -> str:
    return _joined("EXPLAIN", "VERBOSE" if node.verbose else None, node.kind, to_sql(node.target))


@to_sql.register
def _(node: ast.SetSetting) -> str:
    return f"SET {_dotted(node.name)} = {_value(node.value)}"
