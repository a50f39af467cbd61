"""Turns what the parser recognises into syntax tree nodes, bottom up, while it parses.

Every method is named after a rule or an alias in penstock.lark and gets the rule's children: tokens,
nodes, or None for an optional part that is absent.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

from lark import Token, Transformer

from penstock.grammar import ast
from penstock.grammar.durations import MICROSECONDS, to_microseconds
from penstock.grammar.errors import PenstockError, did_you_mean
from penstock.grammar.source import Span
from penstock.grammar.words import RESERVED, is_bare, quoted

Children = list[Any]

SHOWN = ("STREAMS", "RELATIONS", "QUERIES", "PLAN", "SLICES", "STATE", "SETTINGS")
_SAME_OPERATOR = {"==": "=", "!=": "<>"}
_PARTS = (
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "DOY", "HOUR", "MINUTE", "SECOND",
)  # fmt: skip


def _span(first: Any, last: Any = None) -> Span:
    last = first if last is None else last
    start = first.start_pos if isinstance(first, Token) else first.span.start
    end = last.end_pos if isinstance(last, Token) else last.span.end
    return Span(start or 0, end or 0)


def _around(children: Children) -> Span:
    present = [child for child in children if isinstance(child, Token | ast.Syntax)]
    return _span(present[0], present[-1])


def _last(*children: Any) -> Any:
    return [child for child in children if child is not None][-1]


def _micros(number: Token, unit: Token, *, positive: bool) -> int:
    span = _span(number, unit)
    try:
        micros = to_microseconds(str(number), str(unit))
    except PenstockError as error:
        error.span = _span(unit) if error.label == "unknown-unit" else span
        raise
    if positive and micros == 0:
        raise PenstockError(
            "a window of no length holds no rows",
            span=span,
            hint="Give a duration longer than zero, such as 1 min.",
            label="zero-duration",
        )
    return micros


def _rows(number: Token) -> int:
    try:
        value = Decimal(str(number))
    except InvalidOperation:  # an exponent beyond all bounds
        value = Decimal(0)
    if not 1 <= value <= 1_000_000_000 or value != value.to_integral_value():
        raise PenstockError(
            f"a window of {number} rows",
            span=_span(number),
            hint="Give a whole number of rows from 1 to 1000000000, such as 100 ROWS.",
            label="bad-row-count",
        )
    return int(value)


def _slide(slide: ast.Duration | None) -> ast.Duration | None:
    if slide is not None and slide.micros == 0:
        raise PenstockError(
            "a slide of no length", span=slide.span, hint="Give a slide such as 10 sec.", label="zero-slide"
        )
    return slide


def _in_type(name: Token) -> str:
    """A name in a type, in quotes only where it cannot do without."""
    return quoted(name, "`") if name.type == "QUOTED" and not is_bare(name, RESERVED) else str(name)


class AstBuilder(Transformer[Token, Any]):
    """One method a rule."""

    # Names

    def name(self, c: Children) -> Token:
        token: Token = c[0]
        if token.type == "QUOTED":
            quote = token[0]
            return token.update(value=token[1:-1].replace(quote * 2, quote))
        return token

    alias = column_name = name

    def as_name(self, c: Children) -> Token:
        return c[1]  # type: ignore[no-any-return]

    # Queries

    def select(self, c: Children) -> ast.Select:
        select, distinct, items, _, sources, where, group_by, having, window = c
        length, slide = window or (None, None)
        return ast.Select(
            items=items,
            sources=sources,
            where=where,
            group_by=group_by or (),
            having=having,
            window=length,
            slide=slide,
            distinct=distinct is not None,
            span=_span(select, _last(sources[-1], sources[-1].on, where, *(group_by or ()), having, length, slide)),
        )

    def insert(self, c: Children) -> ast.InsertInto:
        return ast.InsertInto(c[2], c[3], span=_around(c))

    def select_items(self, c: Children) -> tuple[ast.SelectItem, ...]:
        return tuple(c)

    def item(self, c: Children) -> ast.SelectItem:
        return ast.SelectItem(c[0], span=c[0].span)

    def item_as(self, c: Children) -> ast.SelectItem:
        return ast.SelectItem(c[0], str(c[2]), span=_around(c))

    def item_as_short(self, c: Children) -> ast.SelectItem:
        return ast.SelectItem(c[0], str(c[1]), span=_around(c))

    def item_star(self, c: Children) -> ast.SelectItem:
        return ast.SelectItem(ast.Star(span=_span(c[0])), span=_span(c[0]))

    def item_table_star(self, c: Children) -> ast.SelectItem:
        span = _around(c)
        return ast.SelectItem(ast.Star(str(c[0]), span=span), span=span)

    def from_items(self, c: Children) -> tuple[ast.FromItem, ...]:
        return tuple(c)

    def _joined(self, item: ast.FromItem, join: str, on: ast.Expr | None, span: Span) -> ast.FromItem:
        return ast.FromItem(item.name, item.alias, item.window, join, on, span=span)

    def comma_join(self, c: Children) -> ast.FromItem:
        return self._joined(c[0], ",", None, c[0].span)

    def inner_join(self, c: Children) -> ast.FromItem:
        return self._joined(c[2], "JOIN", c[4], c[2].span)

    def cross_join(self, c: Children) -> ast.FromItem:
        return self._joined(c[2], "CROSS JOIN", None, c[2].span)

    def source(self, c: Children) -> ast.FromItem:
        return ast.FromItem(str(c[0]), span=_span(c[0]))

    def source_alias(self, c: Children) -> ast.FromItem:
        return ast.FromItem(str(c[0]), str(c[1]), span=_around(c))

    def source_window(self, c: Children) -> ast.FromItem:
        return ast.FromItem(str(c[0]), None, c[1], span=_around(c))

    def source_alias_window(self, c: Children) -> ast.FromItem:
        return ast.FromItem(str(c[0]), str(c[1]), c[2], span=_around(c))

    def source_window_alias(self, c: Children) -> ast.FromItem:
        return ast.FromItem(str(c[0]), str(c[2]), c[1], span=_around(c))

    def range_window(self, c: Children) -> ast.TimeWindow:
        return ast.TimeWindow(_micros(c[2], c[3], positive=True), span=_around(c))

    def rows_window(self, c: Children) -> ast.RowWindow:
        return ast.RowWindow(_rows(c[2]), span=_around(c))

    def where(self, c: Children) -> ast.Expr:
        return c[1]  # type: ignore[no-any-return]

    having = where

    def group_by(self, c: Children) -> tuple[ast.Expr, ...]:
        return c[2]  # type: ignore[no-any-return]

    def window_clause(self, c: Children) -> tuple[ast.Window, ast.Duration | None]:
        return c[1], _slide(c[3])

    def window_length(self, c: Children) -> ast.Window:
        number, unit = c
        if unit.lower() in ("rows", "row"):
            return ast.RowWindow(_rows(number), span=_around(c))
        if unit.lower() not in MICROSECONDS and did_you_mean(unit, ["rows"]).endswith("?"):
            raise PenstockError(
                f"unknown unit '{unit}'", span=_span(unit), hint="Did you mean rows?", label="unknown-unit"
            )
        return ast.TimeWindow(_micros(number, unit, positive=True), span=_around(c))

    def duration(self, c: Children) -> ast.Duration:
        return ast.Duration(_micros(c[0], c[1], positive=False), span=_around(c))

    def exprs(self, c: Children) -> tuple[ast.Expr, ...]:
        return tuple(c)

    # Expressions

    def binary(self, c: Children) -> ast.Binary:
        return ast.Binary(str(c[1]), c[0], c[2], span=_span(c[0], c[2]))

    def junction(self, c: Children) -> ast.Junction:
        left, op, right = c
        op = op.type
        operands = [
            operand
            for side in (left, right)
            for operand in (side.operands if isinstance(side, ast.Junction) and side.op == op else (side,))
        ]
        return ast.Junction(op, tuple(operands), span=_span(left, right))

    def compare(self, c: Children) -> ast.Binary:
        op = _SAME_OPERATOR.get(c[1], str(c[1]))
        return ast.Binary(op, c[0], c[2], span=_span(c[0], c[2]))

    def unary(self, c: Children) -> ast.Unary:
        return ast.Unary("NOT" if c[0].type == "NOT" else str(c[0]), c[1], span=_around(c))

    def _operator(self, c: Children) -> Token:
        return c[0]  # type: ignore[no-any-return]

    comparison = like = plus = times = sign = drop_kind = explain_kind = _operator

    def between(self, c: Children) -> ast.Between:
        return ast.Between(c[0], c[3], c[5], negated=c[1] is not None, span=_around(c))

    def in_list(self, c: Children) -> ast.InList:
        return ast.InList(c[0], c[4], negated=c[1] is not None, span=_around(c))

    def like_pattern(self, c: Children) -> ast.Like:
        operand, negated, op, pattern, _, escape = c
        text = None if escape is None else _unquote(escape)
        if text is not None and (len(text) != 1 or op.type == "RLIKE"):
            raise PenstockError(
                f"ESCAPE takes one character and goes with LIKE, found {escape}",
                span=_span(escape),
                hint="Write for example  LIKE '10!%' ESCAPE '!'.",
                label="bad-escape",
            )
        return ast.Like(op.type, operand, pattern, text, negated is not None, span=_around(c))

    def is_what(self, c: Children) -> ast.Is:
        return ast.Is(c[0], c[3].type, negated=c[2] is not None, span=_around(c))

    def is_distinct(self, c: Children) -> ast.Binary:
        op = "IS DISTINCT FROM" if c[2] is None else "<=>"
        return ast.Binary(op, c[0], c[5], span=_around(c))

    def column(self, c: Children) -> ast.Column:
        return ast.Column(str(c[0]), span=_span(c[0]))

    def table_column(self, c: Children) -> ast.Column:
        return ast.Column(str(c[1]), str(c[0]), span=_span(c[0], c[1]))

    def number(self, c: Children) -> ast.Number:
        return ast.Number(str(c[0]), span=_span(c[0]))

    def string(self, c: Children) -> ast.String:
        return ast.String(_unquote(c[0]), span=_span(c[0]))

    def true(self, c: Children) -> ast.Boolean:
        return ast.Boolean(True, span=_span(c[0]))

    def false(self, c: Children) -> ast.Boolean:
        return ast.Boolean(False, span=_span(c[0]))

    def null(self, c: Children) -> ast.Null:
        return ast.Null(span=_span(c[0]))

    def moment(self, c: Children) -> ast.Moment:
        kind = str(c[0]).upper()
        if kind not in ("DATE", "TIMESTAMP"):
            raise PenstockError(
                f"a text cannot follow '{c[0]}'",
                span=_span(c[1]),
                hint="Only DATE '2026-01-31' and TIMESTAMP '2026-01-31 12:00:00' are written so.",
                label="text-after-name",
            )
        return ast.Moment(kind, _unquote(c[1]), span=_around(c))

    def interval(self, c: Children) -> ast.Interval:
        number = c[1].update(value=_unquote(c[1])) if c[1].type == "STRING" else c[1]
        return ast.Interval(_micros(number, c[2], positive=False), span=_around(c))

    def when(self, c: Children) -> ast.When:
        return ast.When(c[1], c[3], span=_around(c))

    def otherwise(self, c: Children) -> ast.Expr:
        return c[1]  # type: ignore[no-any-return]

    def case(self, c: Children) -> ast.Case:
        return ast.Case(c[1], tuple(c[2:-2]), c[-2], span=_around(c))

    def cast(self, c: Children) -> ast.Cast:
        return ast.Cast(c[2], c[4], safe=c[0].type == "TRY_CAST", span=_around(c))

    def extract(self, c: Children) -> ast.Extract:
        part = str(c[2]).upper()
        if part not in _PARTS:
            raise PenstockError(
                f"cannot extract '{c[2]}'",
                span=_span(c[2]),
                hint=did_you_mean(part, _PARTS),
                label="bad-part",
            )
        return ast.Extract(part, c[4], span=_around(c))

    def call(self, c: Children) -> ast.Call:
        name, _, distinct, args, _ = c
        return ast.Call(str(name), args or (), distinct is not None, span=_around(c))

    def call_star(self, c: Children) -> ast.Call:
        return ast.Call(str(c[0]), (ast.Star(span=_span(c[2])),), span=_around(c))

    def parens(self, c: Children) -> ast.Expr:
        expr: ast.Expr = c[1]
        return replace(expr, span=_around(c))

    # Types

    def plain_type(self, c: Children) -> ast.TypeName:
        return ast.TypeName(_in_type(c[0]), span=_span(c[0]))

    def sized_type(self, c: Children) -> ast.TypeName:
        return ast.TypeName(f"{_in_type(c[0])}({', '.join(c[2:-1])})", span=_around(c))

    def nested_type(self, c: Children) -> ast.TypeName:
        return ast.TypeName(f"{_in_type(c[0])}<{', '.join(arg.text for arg in c[1:-1])}>", span=_around(c))

    def field_type(self, c: Children) -> ast.TypeName:
        return ast.TypeName(f"{_in_type(c[0])}: {c[1].text}", span=_around(c))

    # Definitions

    def columns(self, c: Children) -> tuple[ast.ColumnDef, ...]:
        return tuple(c[1:-1])

    def column_def(self, c: Children) -> ast.ColumnDef:
        return ast.ColumnDef(str(c[0]), c[1], span=_around(c))

    def create_stream(self, c: Children) -> ast.CreateStream:
        _, _, name, columns, *clauses, _, source = c
        parts = self._clauses(clauses)
        return ast.CreateStream(str(name), columns, source, **parts, span=_span(c[0], source))

    def create_relation(self, c: Children) -> ast.CreateRelation:
        _, _, name, columns, *clauses, _, source = c
        parts = self._clauses(clauses)
        return ast.CreateRelation(str(name), columns, source, **parts, span=_span(c[0], source))

    def _clauses(self, clauses: list[tuple[Token, dict[str, Any]]]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for keyword, parts in clauses:
            if merged.keys() & parts.keys():
                raise PenstockError(
                    f"{keyword.upper()} is given twice",
                    span=_span(keyword),
                    hint="Leave one of them out.",
                    label="clause-twice",
                )
            merged |= parts
        return merged

    def timestamp_clause(self, c: Children) -> tuple[Token, dict[str, Any]]:
        return c[0], {"timestamp": str(c[2])}

    def lateness_clause(self, c: Children) -> tuple[Token, dict[str, Any]]:
        return c[0], {"lateness": c[1]}

    def retain_clause(self, c: Children) -> tuple[Token, dict[str, Any]]:
        return c[0], {"retain": c[1]}

    def idle_clause(self, c: Children) -> tuple[Token, dict[str, Any]]:
        return c[0], {"idle_timeout": c[1]}

    def valid_clause(self, c: Children) -> tuple[Token, dict[str, Any]]:
        return c[0], {"valid_from": str(c[2]), "valid_to": str(c[4])}

    def statistics(self, c: Children) -> tuple[Token, dict[str, Any]]:
        return c[0], {"statistics": tuple(c[2:-1])}

    def stream_clause(self, c: Children) -> tuple[Token, dict[str, Any]]:
        return c[0]  # type: ignore[no-any-return]

    relation_clause = stream_clause

    def plain_statistic(self, c: Children) -> ast.Statistic:
        return ast.Statistic(c[0].lower(), str(c[1]), span=_around(c))

    def column_statistic(self, c: Children) -> ast.Statistic:
        return ast.Statistic("distinct", str(c[4]), str(c[2]), span=_around(c))

    def connector(self, c: Children) -> ast.Connector:
        format_, path, listed = c
        options, closing = listed or ((), None)
        return ast.Connector(
            ".".join(format_),
            None if path is None else _unquote(path),
            options,
            span=_span(format_[0], _last(format_[-1], path, closing)),
        )

    def format(self, c: Children) -> list[Token]:
        return c

    setting_name = format

    def options(self, c: Children) -> tuple[tuple[ast.Option, ...], Token]:
        return tuple(c[2:-1]), c[-1]

    def option(self, c: Children) -> ast.Option:
        key, value = c
        text, last = value
        if isinstance(key, Token):
            return ast.Option(_unquote(key), text, span=_span(key, last))
        return ast.Option(".".join(key), text, span=_span(key[0], last))

    def create_query(self, c: Children) -> ast.CreateQuery:
        return ast.CreateQuery(str(c[2]), c[4], span=_around(c))

    def drop(self, c: Children) -> ast.Drop:
        return ast.Drop(c[1].type, str(c[4]), c[2] is not None, span=_around(c))

    def alter_window(self, c: Children) -> ast.AlterWindow:
        return ast.AlterWindow(str(c[2]), c[5], _slide(c[7]), span=_around(c))

    def alter_query(self, c: Children) -> ast.AlterQuery:
        return ast.AlterQuery(str(c[2]), c[4], span=_around(c))

    # Questions and settings

    def show(self, c: Children) -> ast.Show:
        what = c[1].upper()
        if what not in SHOWN:
            raise PenstockError(
                f"SHOW {c[1]} is not known",
                span=_span(c[1]),
                hint=did_you_mean(what, SHOWN),
                label="unknown-show",
            )
        return ast.Show(what, span=_around(c))

    def describe(self, c: Children) -> ast.Describe:
        return ast.Describe(str(c[1]), span=_around(c))

    def explain(self, c: Children) -> ast.Explain:
        _, verbose, kind, target = c
        return ast.Explain(target, None if kind is None else kind.type, verbose is not None, span=_around(c))

    def query_name(self, c: Children) -> ast.QueryName:
        return ast.QueryName(str(c[1]), span=_around(c))

    def all_queries(self, c: Children) -> ast.AllQueries:
        return ast.AllQueries(span=_around(c))

    def set_setting(self, c: Children) -> ast.SetSetting:
        _, name, (text, last) = c
        return ast.SetSetting(".".join(name), text, span=_span(c[0], last))

    def text_value(self, c: Children) -> tuple[str, Token]:
        return _unquote(c[0]), c[0]

    def plain_value(self, c: Children) -> tuple[str, Token]:
        return str(c[0]), c[0]

    def negative_value(self, c: Children) -> tuple[str, Token]:
        return f"-{c[0]}", c[0]

    def duration_value(self, c: Children) -> tuple[str, Token]:
        return f"{c[0]} {c[1]}", c[1]

    def name_value(self, c: Children) -> tuple[str, Token]:
        return ".".join(c[0]), c[0][-1]


def _unquote(token: Token) -> str:
    return str(token[1:-1]).replace("''", "'")
