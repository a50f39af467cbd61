"""CREATE STREAM and CREATE RELATION statements as entries of the catalog."""

from __future__ import annotations

import re
from decimal import Decimal

from penstock.catalog import CatalogError, Column, Origin, Relation, SourceSpec, Statistics, Stream
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, raise_all
from penstock.grammar.source import Source, Span

LARGEST = 10**18


def define(node: ast.CreateStream | ast.CreateRelation, source: Source) -> Stream | Relation:
    """The stream or relation that a statement defines."""
    try:
        columns = _columns(node)
        origin = Origin(source, node.span)
        connector = _connector(node.source)
        if isinstance(node, ast.CreateStream):
            return Stream(
                node.name,
                columns,
                timestamp=node.timestamp or "",
                lateness=node.lateness.micros if node.lateness else 0,
                retain=node.retain.micros if node.retain else 0,
                idle_timeout=node.idle_timeout.micros if node.idle_timeout else None,
                source=connector,
                statistics=_statistics(node.statistics, "rate"),
                origin=origin,
            )
        valid = None if node.valid_from is None else (node.valid_from, node.valid_to or "")
        return Relation(
            node.name, columns, source=connector, valid=valid, statistics=_statistics(node.statistics, "rows"),
            origin=origin,
        )  # fmt: skip
    except PenstockError as error:
        for single in error.errors:
            single.span = single.span or _place(node, single, source.text)
        raise error.located(source) from None


def _columns(node: ast.CreateStream | ast.CreateRelation) -> tuple[Column, ...]:
    columns: list[Column] = []
    errors: list[PenstockError] = []
    for definition in node.columns:
        try:
            columns.append(Column(definition.name, definition.type.text))
        except PenstockError as error:
            error.span = definition.type.span if error.label == "unknown-type" else definition.span
            errors.append(error)
    raise_all(errors)
    return tuple(columns)


def _connector(node: ast.Connector) -> SourceSpec:
    try:
        return SourceSpec(node.format, node.path, tuple((option.name, option.value) for option in node.options))
    except PenstockError as error:
        for single in error.errors:
            single.span = node.span
        raise


def _statistics(nodes: tuple[ast.Statistic, ...], total: str) -> Statistics:
    found = Statistics()
    seen: set[tuple[str, str]] = set()
    for node in nodes:
        key = (node.name, (node.column or "").lower())
        if node.column is None and node.name != total:
            raise _bad_statistic(f"unknown statistic '{node.name}'", node, total)
        if key in seen:
            raise _bad_statistic("a statistic is given twice", node, total)
        seen.add(key)
        try:
            found = found.or_else(_statistic(node, total))
        except PenstockError as error:
            for single in error.errors:
                single.span = node.span
            raise
    return found


def _statistic(node: ast.Statistic, total: str) -> Statistics:
    value = Decimal(node.value)
    if node.column is None and total == "rate":
        return Statistics(rate=float(value))
    if value != value.to_integral_value() or value > LARGEST:
        raise _bad_statistic(f"{node.value} is not a whole number of rows or values", node, total)
    if node.column is not None:
        return Statistics(distinct=((node.column, int(value)),))
    return Statistics(rows=int(value))


def _bad_statistic(message: str, node: ast.Statistic, total: str) -> PenstockError:
    return PenstockError(
        message,
        span=node.span,
        hint=f"Write  STATISTICS ({total} = 100, distinct(LocationId) = 500).",
        label="unknown-statistic" if message.startswith("unknown") else "bad-statistics",
    )


def _place(node: ast.CreateStream | ast.CreateRelation, error: PenstockError, text: str) -> Span:
    """The part of the statement that an error of the model is about."""
    at = error.at if isinstance(error, CatalogError) else ()
    if at[:1] == ("schema",) and len(at) > 1:
        named = [d.span for d in node.columns if d.name.lower() == str(at[1]).lower()]
        if named:
            return named[-1]
    if at[:2] == ("statistics", "distinct"):
        named = [s.span for s in node.statistics if (s.column or "").lower() == str(at[-1]).lower()]
        return named[-1]
    if at == ("idle_timeout",) and isinstance(node, ast.CreateStream) and node.idle_timeout is not None:
        return node.idle_timeout.span
    if at[:1] in (("timestamp",), ("valid",)) and error.label != "no-timestamp":
        named_times = (node.timestamp,) if isinstance(node, ast.CreateStream) else (node.valid_from, node.valid_to)
        name = re.escape(named_times[int(at[-1]) if at[0] == "valid" else 0] or "")
        clauses = re.compile(rf"(?<!\w){name}(?!\w)", re.IGNORECASE)
        found = [Span(*m.span()) for m in clauses.finditer(text, node.columns[-1].span.end, node.source.span.start)]
        if found:
            return found[-1]
    head, _, _ = text[node.span.start : node.columns[0].span.start].rpartition("(")
    return Span(node.span.start, node.span.start + len(head.rstrip()))
