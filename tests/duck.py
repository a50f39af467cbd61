"""The slow reference of runs: every query alone, in one go, from the raw rows, by DuckDB; and what a run gave."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.session import Session
from penstock.tests.streams import SCHEMAS, Asked, Row, micros

Bag = Counter[tuple[Any, ...]]
_TYPES = {"int": "INTEGER", "bigint": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN"}


def duck_sql(asked: Asked) -> str:
    """A query as DuckDB reads it: t is the largest time, and every row is in its window at t."""
    times = [f"{alias}.ts" for _, alias, _ in asked.inputs]
    newest = f"GREATEST({', '.join(times)})" if len(times) > 1 else times[0]
    windows = [
        f"epoch_us({newest}) - epoch_us({alias}.ts) < {size}" for _, alias, size in asked.inputs if size is not None
    ]
    columns = ", ".join(f"{expr} AS {name}" for expr, name in asked.outputs)
    sources = ", ".join(f"{stream} AS {alias}" for stream, alias, _ in asked.inputs)
    conditions = " AND ".join(f"({condition})" for condition in [*asked.conditions, *windows]) or "TRUE"
    return f"SELECT {newest} AS _ts, {columns} FROM {sources} WHERE {conditions}"


def expected(queries: list[Asked], rows: dict[str, list[Row]]) -> dict[str, Bag]:
    """What every query must give."""
    with duckdb.connect() as connection:
        for stream, schema in SCHEMAS.items():
            columns = ", ".join(f"{name} {_TYPES.get(type_, 'TIMESTAMP')}" for name, type_ in schema.items())
            connection.execute(f"CREATE TABLE {stream} ({columns})")
            for row in rows.get(stream, ()):
                values = [_naive(row[name]) for name in schema]
                connection.execute(f"INSERT INTO {stream} VALUES ({', '.join('?' * len(schema))})", values)
        return {
            asked.name: Counter(map(_comparable, connection.execute(duck_sql(asked)).fetchall())) for asked in queries
        }


def plain_read(state: Path, asked: Asked) -> Bag:
    """What a plain read of all the files of results by column name gives for a query."""
    names = ["_ts", *(name for _, name in asked.outputs)]
    found: Bag = Counter()
    for file in sorted((state / "results").rglob("*.parquet")):
        table = pq.ParquetFile(file).read()
        own = table.filter(pc.equal(table["_query"], asked.name))
        if own.num_rows:
            found.update(_comparable(row[name] for name in names) for row in own.to_pylist())
    return found


def session_read(session: Session, asked: Asked) -> Bag:
    """What the session says a query's results are."""
    rows = session.results(asked.name).toArrow()
    assert rows.column_names == ["_ts", *(name for _, name in asked.outputs)]
    return Counter(_comparable(row.values()) for row in rows.to_pylist())


def differences(wanted: dict[str, Bag], found: dict[str, Bag]) -> dict[str, dict[str, Any]]:
    """The rows that are missing and those that are too many, by query; nothing when all is well."""
    wrong = {}
    for name, bag in wanted.items():
        missing, extra = bag - found[name], found[name] - bag
        if missing or extra:
            wrong[name] = {
                "missing": sorted(map(str, missing.items()))[:5],
                "extra": sorted(map(str, extra.items()))[:5],
            }
    return wrong


def _naive(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _comparable(values: Any) -> tuple[Any, ...]:
    return tuple(_plain(value) for value in values)


def _plain(value: Any) -> Any:
    """A value with its type, so that 1, 1.0, TRUE and '1' are told apart, but not the widths of numbers."""
    if isinstance(value, datetime):
        return ("at", micros(value if value.tzinfo else value.replace(tzinfo=UTC)))
    if isinstance(value, Decimal):
        value = float(value)
    return (type(value).__name__, value)
