"""Chunks: immutable pieces of a stream's kept rows, and what is known of them without reading them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession

from penstock.compiler.shared import Chain
from penstock.runtime.storage import Storage, glob_of


@dataclass(frozen=True)
class Chunk:
    """Rows of a chain in one folder of Parquet files; times are microseconds since the epoch.

    `reaches` says how many rows reach beyond each of a few ages, ascending. `trimmed` is the horizon at which the
    rows that were dead then were left out.
    """

    path: str
    low: int
    high: int
    rows: int
    reach: int
    reaches: tuple[tuple[int, int], ...] = ()
    trimmed: int | None = None
    stale: bool = False
    """Whether the rows may reach less far than it says, because queries have left since they were counted."""
    ranks: tuple[int, int] | None = None
    """Of rows that are counted, the first and the last rank."""

    def to_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @staticmethod
    def of(data: dict[str, Any]) -> Chunk:
        """From JSON."""
        reaches = tuple((int(age), int(count)) for age, count in data["reaches"])
        ranks = data.get("ranks")
        return Chunk(**{**data, "reaches": reaches, "ranks": None if ranks is None else (ranks[0], ranks[1])})

    def under(self, chain: Chain, *, grown: bool) -> Chunk:
        """The chunk under another plan, which may want more of its rows than the one it was made for if `grown`."""
        reach = chain.reach if grown else min(self.reach, chain.reach)
        ages = tuple((age, count) for age, count in self.reaches if age < reach)
        return replace(self, reach=reach, reaches=ages, stale=True)

    def is_dead(self, horizon: int) -> bool:
        """Whether no row can be part of a result any more when every row to come is at `horizon` or later."""
        return horizon >= self.high + self.reach

    def dead_rows(self, horizon: int) -> float:
        """About how many rows are past their reach, as though rows were spread evenly over time."""
        counts = [self.rows, *(count for _, count in self.reaches)]
        ages = [*(age for age, _ in self.reaches), self.reach]
        dead = 0.0
        for age, more, fewer in zip(ages, counts, [*counts[1:], 0], strict=True):
            oldest = self.low if self.trimmed is None else max(self.low, self.trimmed - age)
            span = max(1, self.high - oldest)
            dead += (more - fewer) * min(1.0, max(0.0, (horizon - age - oldest) / span))
        return dead


@dataclass(frozen=True)
class Accepted:
    """How many rows of a batch a selection accepted, for at least one of so many sets of constants."""

    text: str
    sets: int
    rows: int


@dataclass(frozen=True)
class Batch:
    """What one batch of a stream brought: counts, times, and a chunk for each chain that wants some of it."""

    stream: str
    number: int
    rows: int
    late: int
    unreadable: int
    low: int | None
    high: int | None
    chunks: tuple[tuple[str, Chunk], ...]
    plan: int = 0
    """The version of the plan that it was read for."""
    accepted: tuple[Accepted, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "chunks": [[chain, chunk.to_data()] for chain, chunk in self.chunks]}

    @staticmethod
    def of(data: dict[str, Any]) -> Batch:
        """From JSON."""
        chunks = tuple((chain, Chunk.of(chunk)) for chain, chunk in data["chunks"])
        accepted = tuple(Accepted(**own) for own in data.get("accepted", ()))
        return Batch(**{**data, "chunks": chunks, "accepted": accepted})


def chunk_folder(storage: Storage, stream: str) -> str:
    """Where the chunks of a stream are, and the notes of its batches."""
    return storage.path("chunks", quote(stream, safe=""))


def read_chunks(spark: SparkSession, schema: str, chunks: Iterable[Chunk]) -> DataFrame:
    """The rows of chunks of one chain, which are all in one folder."""
    folders, names = zip(*(posixpath.split(chunk.path) for chunk in chunks), strict=True)
    return spark.read.schema(schema).format("parquet").load(glob_of(folders[0], names))
