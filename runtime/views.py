"""What a step reads, as SQL: chunks and relations as tables, whose columns are called after a query's inputs."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from pyspark.sql import SparkSession

from penstock.compiler.logical import RelationScan
from penstock.compiler.shared import Chain
from penstock.runtime.chunks import Chunk, read_chunks
from penstock.runtime.columns import AT, RANK, REACH, SEEN, changing, column, quoted
from penstock.runtime.marks import Span
from penstock.runtime.reach import constant_reach, reach_sql, time_sql
from penstock.runtime.relations import Pinned, Relations


@dataclass(frozen=True)
class Rows:
    """The rows of a chain that a step has to do with.

    New are those that came with the step and kept those from before; or, with a `span`, new are those that the step
    settles, whenever they came, and kept those that were settled before.
    """

    chain: Chain
    schema: str
    new: tuple[Chunk, ...]
    kept: tuple[Chunk, ...]
    span: Span | None = None

    @staticmethod
    def settled(chain: Chain, schema: str, chunks: tuple[Chunk, ...], span: Span) -> Rows:
        """The rows of a chain, by what a step settles."""
        new = tuple(chunk for chunk in chunks if chunk.high >= span.since and chunk.low < span.until)
        kept = tuple(chunk for chunk in chunks if chunk.low < span.since)
        return Rows(chain, schema, new, kept, span)

    @property
    def low(self) -> int:
        """No new row is before this time."""
        low = min(chunk.low for chunk in self.new)
        return low if self.span is None else max(low, self.span.since)

    @property
    def high(self) -> int:
        """No new row is after this time."""
        high = max(chunk.high for chunk in self.new)
        return high if self.span is None else min(high, self.span.until - 1)


class Views:
    """Chunks as tables that the SQL of a step can name: one statement is analysed once, whatever it is made of."""

    def __init__(self, spark: SparkSession, relations: Relations) -> None:
        self._spark = spark
        self._relations = relations
        self._prefix = f"penstock_{uuid4().hex[:12]}"
        self._names: dict[tuple[str, ...], str] = {}
        self._most = 0
        self.pinned = Pinned({})
        """The relations as they were when the step began."""

    def begin(self) -> None:
        """Forget the chunks of the step before; their names are used again. Relations that have changed are read."""
        self._names = {}
        self.pinned = self._relations.refresh()

    def chunks(self, chunks: tuple[Chunk, ...], schema: str) -> str:
        """The name of the table of some chunks of one chain."""
        paths = tuple(chunk.path for chunk in chunks)
        if paths not in self._names:
            name = f"{self._prefix}_{len(self._names)}"
            read_chunks(self._spark, schema, chunks).createOrReplaceTempView(name)
            self._names[paths] = name
            self._most = max(self._most, len(self._names))
        return self._names[paths]

    def new(self, rows: Rows, alias: str) -> str:
        """The new rows."""
        if rows.span is None:
            return self._rows(rows, rows.new, alias)
        at = quoted(column(alias, AT))
        since, until = changing(rows.span.since, at), changing(rows.span.until, at)
        return f"SELECT * FROM ({self._rows(rows, rows.new, alias)}) AS own WHERE {at} >= {since} AND {at} < {until}"

    def kept(self, rows: Rows, chunks: tuple[Chunk, ...], alias: str) -> str:
        """Some of the kept rows."""
        if rows.span is None:
            return self._rows(rows, chunks, alias)
        at = quoted(column(alias, AT))
        return f"SELECT * FROM ({self._rows(rows, chunks, alias)}) AS own WHERE {at} < {changing(rows.span.since, at)}"

    def both(self, rows: Rows, chunks: tuple[Chunk, ...], alias: str) -> str:
        """Some of the kept rows and of the new ones, all of them in chunks."""
        text = self._rows(rows, chunks, alias)
        if rows.span is None:
            return text
        at = quoted(column(alias, AT))
        return f"SELECT * FROM ({text}) AS own WHERE {at} < {changing(rows.span.until, at)}"

    def relation(self, scan: RelationScan) -> str:
        """The rows of a relation."""
        columns = [f"{quoted(name)} AS {quoted(column(scan.alias, name))}" for name, _ in scan.columns]
        return f"SELECT {', '.join(columns)} FROM {self.pinned.table(scan.relation)}"

    def relation_rows(self, scan: RelationScan) -> int:
        """How many rows a relation has."""
        return self.pinned.rows(scan.relation)

    def close(self) -> None:
        """Remove the tables."""
        for number in range(self._most):
            self._spark.catalog.dropTempView(f"{self._prefix}_{number}")

    def _rows(self, rows: Rows, chunks: tuple[Chunk, ...], alias: str) -> str:
        """The rows of chunks under an input's name, with their event time in microseconds and their reach or rank."""
        columns = [f"{quoted(name)} AS {quoted(column(alias, name))}" for name in rows.chain.columns]
        columns.append(f"{time_sql(rows.chain)} AS {quoted(column(alias, AT))}")
        if rows.chain.rows:
            columns.append(f"{RANK} AS {quoted(column(alias, RANK))}")
        elif constant_reach(rows.chain) is None:
            columns.append(f"{reach_sql(rows.chain)} AS {quoted(column(alias, REACH))}")
        return f"SELECT {', '.join(columns)} FROM {self.chunks(chunks, rows.schema)}"


def columns_of(chain: Chain, alias: str) -> list[str]:
    """The columns of an input's rows as `Views` gives them."""
    extra = [RANK] if chain.rows else [REACH] if constant_reach(chain) is None else []
    return [quoted(column(alias, name)) for name in (*chain.columns, AT, *extra)]


def seen_column(alias: str, stream: str) -> str:
    """How many rows of a stream there are up to the time of an input's row."""
    return quoted(column(alias, f"{SEEN}.{stream}"))


def with_seen(rows: str, columns: list[str], at: str, counted: dict[str, str]) -> str:
    """Rows with columns more, each the number of rows that its SQL, of (_at, _rank), has up to the row's time."""
    for name, ranked in counted.items():
        own = ", ".join(columns)
        none = ", ".join(f"NULL AS {one}" if one != at else f"{AT} AS {one}" for one in columns)
        mixed = (
            f"SELECT {own}, NULL AS _r FROM ({rows}) AS own UNION ALL SELECT {none}, {RANK} AS _r FROM ({ranked}) AS r"
        )
        until = f"max(_r) OVER (ORDER BY {at} RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
        rows = (
            f"SELECT {own}, {name} FROM (SELECT *, {until} AS {name} FROM ({mixed}) AS mixed) AS both WHERE _r IS NULL"
        )
        columns = [*columns, name]
    return rows
