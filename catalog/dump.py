"""A catalog as plain data, in the shape of its YAML."""

from __future__ import annotations

from typing import Any

from penstock.catalog.entries import Relation, Stream
from penstock.catalog.model import Catalog
from penstock.catalog.parts import SourceSpec, Statistics
from penstock.grammar.durations import format_duration


def catalog_data(catalog: Catalog) -> dict[str, Any]:
    """The catalog as dicts, lists, texts and numbers, from which `load_catalog` makes an equal one.

    The order of the keys of a schema is that of its columns: do not sort them.
    """
    return {
        "streams": {stream.name: _stream(stream) for stream in catalog.streams},
        "relations": {relation.name: _relation(relation) for relation in catalog.relations},
    }


def _stream(stream: Stream) -> dict[str, Any]:
    return {
        **_source(stream.source),
        **_schema(stream),
        "timestamp": stream.timestamp,
        **_duration("lateness", stream.lateness),
        **_duration("retain", stream.retain),
        **_duration("idle_timeout", stream.idle_timeout),
        **_statistics(stream.statistics),
    }


def _relation(relation: Relation) -> dict[str, Any]:
    return {
        **_source(relation.source),
        **_schema(relation),
        **({} if relation.valid is None else {"valid": list(relation.valid)}),
        **_statistics(relation.statistics),
    }


def _schema(entry: Stream | Relation) -> dict[str, Any]:
    return {"schema": {column.name: column.type for column in entry.columns}}


def _source(source: SourceSpec | None) -> dict[str, Any]:
    if source is None:
        return {}
    parts = {"format": source.format, "path": source.path, "options": dict(source.options)}
    return {"source": _given(parts)}


def _duration(name: str, micros: int | None) -> dict[str, Any]:
    return {name: format_duration(micros)} if micros else {}


def _statistics(statistics: Statistics) -> dict[str, Any]:
    parts = {"rate": statistics.rate, "rows": statistics.rows, "distinct": dict(statistics.distinct)}
    return {"statistics": _given(parts)} if statistics.known else {}


def _given(parts: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part not in (None, {})}
