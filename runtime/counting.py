"""Rows that are counted: below its stream's mark each gets its rank, once, in the order of event time and position."""

from __future__ import annotations

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

from penstock.compiler.shared import Chain
from penstock.runtime.chunks import Chunk
from penstock.runtime.columns import RANK, all_of, changing, quoted
from penstock.runtime.faults import reached
from penstock.runtime.marks import Span
from penstock.runtime.reach import time_sql
from penstock.runtime.sources import POSITION
from penstock.runtime.views import Views

BATCH, LINE = "_batch", "_line"
PLACE = (BATCH, "_time", "_file", "_block", LINE)
"""Where a row is in its stream: in its batch, its file, and there."""
_TYPES = ("bigint", "timestamp", "string", "bigint", "bigint")


def place_of_batch(chain: Chain, number: int) -> list[str]:
    """The places of the rows of a batch, as SQL."""
    fields = [f"{POSITION}.{name[1:]} AS {name}" for name in PLACE[1:4]]
    return [f"{changing(number, time_sql(chain))} AS {BATCH}", *fields, f"monotonically_increasing_id() AS {LINE}"]


def place_of_results(columns: list[str]) -> list[str]:
    """The places of results of another query, as SQL: in an order that what they are decides."""
    content = f"to_json(struct({', '.join(columns)}), map('ignoreNullFields', 'false'))"
    values = ("0L", "CAST(NULL AS TIMESTAMP)", content, "0L", "0L")
    return [f"{value} AS {name}" for value, name in zip(values, PLACE, strict=True)]


def waiting_schema(schema: str) -> str:
    """The columns of rows that are not counted yet."""
    return ", ".join([schema, *(f"{name} {type_}" for name, type_ in zip(PLACE, _TYPES, strict=True))])


def ranked_schema(schema: str) -> str:
    """The columns of rows that are."""
    return f"{schema}, {RANK} bigint"


def waiting(chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    """The chunks with rows that are not counted yet."""
    return tuple(chunk for chunk in chunks if chunk.ranks is None)


def ranked(chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    """The chunks with rows that are, in their order."""
    return tuple(
        sorted((chunk for chunk in chunks if chunk.ranks is not None), key=lambda chunk: chunk.ranks or (0, 0))
    )


def count(
    spark: SparkSession,
    views: Views,
    chain: Chain,
    schema: str,
    chunks: tuple[Chunk, ...],
    span: Span,
    known: int,
    path: str,
) -> Chunk | None:
    """Count the rows of a span, after so many that are `known`; a chunk of them, None if there are none."""
    near = tuple(chunk for chunk in waiting(chunks) if chunk.low < span.until and chunk.high >= span.since)
    if not near or span.is_empty:
        return None
    time = time_sql(chain)
    order = ", ".join([time, *PLACE])
    rank = f"row_number() OVER (ORDER BY {order}) + {changing(known, time)} AS {RANK}"
    inside = all_of([f"{time} >= {changing(span.since, time)}", f"{time} < {changing(span.until, time)}"])
    columns = ", ".join([*map(quoted, chain.columns), rank])
    rows = spark.sql(f"SELECT {columns} FROM {views.chunks(near, waiting_schema(schema))} WHERE {inside}")
    seen = Observation()
    measures = f"struct(count(1) AS rows, min({time}) AS low, max({time}) AS high) AS found"
    rows.observe(seen, F.expr(measures)).write.mode("overwrite").parquet(path)
    found = seen.get["found"]
    reached("rows-counted")
    if not found["rows"]:
        return None
    ranks = (known + 1, known + found["rows"])
    return Chunk(path, found["low"], found["high"], found["rows"], chain.reach, ranks=ranks)


def last_before(chunks: tuple[Chunk, ...], horizon: int | None) -> int:
    """A rank that is surely before a time: that of the last chunk that ends before it."""
    if horizon is None:
        return 0
    return max((c.ranks[1] for c in chunks if c.ranks is not None and c.high < horizon), default=0)
