"""Streams as Spark reads them, and their rows made what the catalog says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from penstock.catalog import Relation, Stream
from penstock.catalog.parts import SourceSpec
from penstock.grammar.errors import PenstockError
from penstock.runtime.columns import literal, quoted
from penstock.runtime.failures import cause, reason

T = TypeVar("T")
_TEXT_FORMATS = ("csv", "json")
_FILE_FORMATS = (*_TEXT_FORMATS, "parquet", "orc", "avro")
_PLAIN = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "date", "timestamp", "decimal")
_CORRUPT = "_corrupt_record"
_LIMITS = {
    "kafka": ("maxOffsetsPerTrigger", "1000000"),
    **dict.fromkeys((*_FILE_FORMATS, "delta"), ("maxBytesPerTrigger", str(64 * 2**20))),
}
"""How much a batch takes at most, where the user does not say: a backlog is worked off in bounded steps."""
REASON = "_reason"
ORIGINAL = "_original"
POSITION = "_position"
"""Where in its stream's files a row is, where rows must be counted."""
NO_POSITION = "CAST(NULL AS STRUCT<time: TIMESTAMP, file: STRING, block: BIGINT>)"
_PLACE = "named_struct('time', {m}_modification_time, 'file', {m}_path, 'block', {m}_block_start) AS {name}"


def read_stream(spark: SparkSession, stream: Stream, root: Path | None = None, *, positions: bool = False) -> DataFrame:
    """The rows of a stream as they come, unconverted; with their `positions` in files, if it is read from files."""
    source = _source_of(stream)
    path = resolved(source, root)
    rows = explained(f"the stream {stream.name}", source, lambda: _reader(spark, stream, source, path))
    if positions and source.format.lower() in _FILE_FORMATS:
        return rows.selectExpr("*", _PLACE.format(m="_metadata.file", name=POSITION))
    return rows


def _source_of(entry: Stream | Relation) -> SourceSpec:
    if entry.source is None:
        raise PenstockError(
            f"the {entry.kind} {entry.name} has no source to read from",
            hint=f"Give it one: FROM format 'path' in CREATE {entry.kind.upper()}, or  source:  in the catalog.",
            label="no-source",
        )
    return entry.source


def _reader(spark: SparkSession, stream: Stream, source: SourceSpec, path: str | None) -> DataFrame:
    reader = spark.readStream.format(source.format)
    kind = source.format.lower()
    limited = any(key.lower().startswith("max") for key, _ in source.options)
    if kind in _LIMITS and not limited:
        reader = reader.option(*_LIMITS[kind])
    if kind == "csv":
        reader = reader.option("enforceSchema", "false")  # a header that says otherwise is an error
    for key, value in source.options:
        reader = reader.option(key, value)
    if kind in _FILE_FORMATS:
        reader = reader.schema(_file_schema(spark, stream, source, path))
    return reader.load(path) if path is not None else reader.load()


def read_relation(spark: SparkSession, relation: Relation, root: Path | None = None) -> DataFrame:
    """The rows of a relation as they are there now, unconverted."""
    source = _source_of(relation)
    path = resolved(source, root)

    def read() -> DataFrame:
        reader = spark.read.format(source.format).options(**dict(source.options))
        if source.format.lower() == "csv":
            reader = reader.option("enforceSchema", "false")
        if source.format.lower() in _FILE_FORMATS:
            reader = reader.schema(_file_schema(spark, relation, source, path))
        return reader.load(path) if path is not None else reader.load()

    return explained(f"the relation {relation.name}", source, read)


def _file_schema(spark: SparkSession, stream: Stream | Relation, source: SourceSpec, path: str | None) -> str:
    """Text is read as text, so that what does not convert can be shown; other files as they are."""
    kind = source.format.lower()
    if kind in _TEXT_FORMATS:
        types = {c.name.lower(): "string" if c.type.startswith(_PLAIN) else c.type for c in stream.columns}
        header = kind == "csv" and any(
            key.lower() == "header" and value.lower() == "true" for key, value in source.options
        )
        found = _found(spark, source, path) if header else {}
        _need_columns(stream, found)
        names = [name for name, _ in found.values()] or [column.name for column in stream.columns]
        columns = [f"{quoted(name)} {types.get(name.lower(), 'string')}" for name in names]
        return ", ".join([*columns, f"{_CORRUPT} string"])
    found = _found(spark, source, path)
    if any(column.name.lower() not in found for column in stream.columns):
        found = _found(spark, source, path, ("mergeSchema", "true"))
    _need_columns(stream, found)
    columns = [f"{quoted(c.name)} {found[c.name.lower()][1] if found else c.type}" for c in stream.columns]
    return ", ".join(columns)


def _found(
    spark: SparkSession, source: SourceSpec, path: str | None, *options: tuple[str, str]
) -> dict[str, tuple[str, str]]:
    """The columns that the files have, with their types, by name in small letters; none if there is no file yet."""
    try:
        read = spark.read.format(source.format).options(**dict(source.options), **dict(options)).load(path)
    except PySparkException:
        return {}
    return {field.name.lower(): (field.name, field.dataType.simpleString()) for field in read.schema.fields}


def _need_columns(stream: Stream | Relation, found: dict[str, tuple[str, str]]) -> None:
    missing = [column.name for column in stream.columns if column.name.lower() not in found]
    if found and missing:
        there = ", ".join(_shown(name) for name, _ in list(found.values())[:20] if name != _CORRUPT)
        raise PenstockError(
            f"the source of {stream.name} has no column {', '.join(missing)}",
            hint=f"It has {there}. Correct the columns of {stream.name}.",
            label="missing-column",
        )


def _shown(name: str) -> str:
    """The name of a column as it can be shown, also when it comes from a file that is no text."""
    return "".join(c if c.isprintable() and c != "\ufffd" else "?" for c in name[:40])


class Conversion:
    """How the rows of a stream or relation become what the catalog says, as SQL; found out once for all batches."""

    def __init__(self, rows: DataFrame, stream: Stream | Relation) -> None:
        types = {name: type_ for name, type_ in rows.dtypes if name != POSITION}
        _need_columns(stream, {name.lower(): (name, type_) for name, type_ in types.items()})
        present = {name.lower(): name for name in types}
        columns, reasons = [], []
        if _CORRUPT in types:
            reasons.append(f"IF({_CORRUPT} IS NOT NULL, 'the line cannot be read', NULL)")
        for column in stream.columns:
            name = present[column.name.lower()]
            own = quoted(name)
            if types[name] != column.type:
                cast = f"TRY_CAST({own} AS {column.type})"
                why = literal(f"{column.name} is no {column.type}")
                reasons.append(f"IF({own} IS NOT NULL AND {cast} IS NULL, {why}, NULL)")
                own = cast
            columns.append(f"{own} AS {quoted(column.name)}")
        if isinstance(stream, Stream):
            missing = literal(f"{stream.timestamp}, the event time, is missing")
            reasons.append(f"IF({quoted(present[stream.timestamp.lower()])} IS NULL, {missing}, NULL)")
        came = ", ".join(map(quoted, types))
        reason = f"COALESCE({', '.join(reasons)})" if reasons else "CAST(NULL AS STRING)"
        place = POSITION if POSITION in rows.columns else NO_POSITION
        self._columns = ", ".join([*columns, f"{place} AS {POSITION}", f"{reason} AS {REASON}"])
        self._original = f"{self._columns}, STRUCT({came}) AS {ORIGINAL}"

    def sql(self, table: str, *, original: bool = False) -> str:
        """The rows of a table, and the reason why a row cannot be taken, or NULL; if wanted, also as they came."""
        return f"SELECT {self._original if original else self._columns} FROM {table}"


def resolved(source: SourceSpec, root: Path | None) -> str | None:
    """The path of a source; a relative one is below the project's folder."""
    path = source.path
    if path is None or root is None or "://" in path or path.startswith("/"):
        return path
    return str(root / path)


def explained(what: str, source: SourceSpec, read: Callable[[], T]) -> T:
    """Read, and say in one sentence what is wrong if that fails."""
    try:
        return read()
    except PenstockError:
        raise
    except Exception as error:
        raise explanation(what, source, error) from error


def explanation(what: str, source: SourceSpec, error: Exception) -> PenstockError:
    """In one sentence, why something cannot be read."""
    known = reason(error, format=source.format, path=source.path)
    why, hint = known or (cause(error), "Check the format, the path and the options of its source.")
    return PenstockError(f"{what} cannot be read: {why}", hint=hint, label="unreadable-source")
