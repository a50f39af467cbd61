"""CREATE STREAM and CREATE RELATION statements as entries of the catalog."""

from __future__ import annotations

from penstock.catalog import CatalogError, Column, Origin, Relation, SourceSpec, Statistics, Stream
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, raise_all
from penstock.grammar.source import Source, Span


def define(node: ast.CreateStream | ast.CreateRelation, source: Source) -> Stream | Relation:
    """The stream or relation that a statement defines."""
    try:
        columns = _columns(node)
        origin = Origin(source, node.span)
        connector = SourceSpec.of(
            node.source.format,
            node.source.path,
            {option.name: option.value for option in node.source.options},
        )
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
            single.span = single.span or _place(node, single)
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


def _statistics(nodes: tuple[ast.Statistic, ...], total: str) -> Statistics:
    values: dict[str, float] = {}
    distinct: dict[str, int] = {}
    for node in nodes:
        if node.column is not None:
            distinct[node.column] = int(float(node.value))
        elif node.name == total:
            values[total] = float(node.value)
        else:
            raise PenstockError(
                f"unknown statistic '{node.name}'",
                span=node.span,
                hint=f"Write  STATISTICS ({total} = 100, distinct(LocationId) = 500).",
                label="unknown-statistic",
            )
    if total == "rows":
        rows = values.get("rows")
        return Statistics.of(None, None if rows is None else int(rows), distinct)
    return Statistics.of(values.get("rate"), None, distinct)


def _place(node: ast.CreateStream | ast.CreateRelation, error: PenstockError) -> Span:
    """The part of the statement that an error of the model is about."""
    at = error.at if isinstance(error, CatalogError) else ()
    if at[:1] == ("schema",) and len(at) > 1:
        named = [d.span for d in node.columns if d.name.lower() == str(at[1]).lower()]
        if named:
            return named[-1]
    if at[:1] == ("source",):
        return node.source.span
    if at[:1] == ("statistics",) and node.statistics:
        return node.statistics[0].span.to(node.statistics[-1].span)
    return Span(node.span.start, min(node.span.end, node.columns[0].span.start - 1))
