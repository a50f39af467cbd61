"""Ingest: a batch of a stream becomes chunks, once, whatever happens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from penstock.catalog import Stream
from penstock.compiler.physical import KeepChain
from penstock.runtime.chunks import Batch, Chunk
from penstock.runtime.columns import REACH, quoted
from penstock.runtime.faults import reached
from penstock.runtime.reach import constant_reach, reach_sql
from penstock.runtime.sources import ORIGINAL, REASON, converted
from penstock.runtime.storage import Storage

_STEPS = 8
"""For so many ages a chunk knows how many of its rows reach further."""


@dataclass
class Ingest:
    """Takes the batches of one stream, in order."""

    stream: Stream
    chains: tuple[KeepChain, ...]
    storage: Storage
    high: int | None = None
    floor: int | None = None

    @property
    def folder(self) -> str:
        """Where its chunks are."""
        return self.storage.path("chunks", quote(self.stream.name, safe=""))

    @property
    def watermark(self) -> int | None:
        """No row before this time is taken any more."""
        known = [] if self.high is None else [self.high - self.stream.lateness]
        return max([*known, *([] if self.floor is None else [self.floor])], default=None)

    def take(self, rows: DataFrame, number: int) -> Batch:
        """Write a batch's chunks and a note of them; done again, it gives the same."""
        ready = converted(rows, self.stream)
        time = F.unix_micros(F.col(quoted(self.stream.timestamp)))
        late = F.lit(False) if self.watermark is None else F.coalesce(time < self.watermark, F.lit(False))
        fine = F.col(REASON).isNull() & ~late
        measures = [
            F.count(F.lit(1)).alias("rows"),
            F.coalesce(F.sum(F.when(F.col(REASON).isNull() & late, 1)), F.lit(0)).alias("late"),
            F.coalesce(F.sum(F.when(F.col(REASON).isNotNull(), 1)), F.lit(0)).alias("unreadable"),
            F.min(F.when(fine, time)).alias("low"),
            F.max(F.when(fine, time)).alias("high"),
        ]
        counts = Observation()
        observed = ready.observe(counts, *measures).where(fine)
        chunks = []
        for position, keeper in enumerate(self.chains):
            source = observed if position == 0 else ready.where(fine)
            chunks += [(keeper.id, chunk) for chunk in self._write(source, keeper, number, time)]
        found = _measured(counts, ready, measures)
        reached("chunk-written")
        if found["late"] or found["unreadable"]:
            self._set_aside(rows, late, number)
        batch = Batch(
            self.stream.name,
            number,
            found["rows"],
            found["late"],
            found["unreadable"],
            found["low"],
            found["high"],
            tuple(chunks),
        )
        self.storage.write(f"{self.folder}/b{number:010}.json", json.dumps(batch.to_data()))
        reached("chunk-noted")
        if batch.high is not None:
            self.high = batch.high if self.high is None else max(self.high, batch.high)
        return batch

    def noted(self, after: int) -> list[Batch]:
        """The batches that were taken after a batch and noted, in order."""
        names = [name for name in self.storage.names(self.folder) if name.endswith(".json")]
        numbers = [name for name in names if int(name[1:-5]) > after]
        return [Batch.of(json.loads(self.storage.read(f"{self.folder}/{name}"))) for name in numbers]

    def forget(self, number: int) -> None:
        """Remove the note of a batch that the log has taken over."""
        self.storage.delete(f"{self.folder}/b{number:010}.json")

    def _write(self, rows: DataFrame, keeper: KeepChain, number: int, time: Column) -> list[Chunk]:
        """The rows that the chain wants, as a chunk; for a partitioned chain as one for each reach."""
        chain = keeper.chain
        path = f"{self.folder}/{keeper.id}/b{number:010}"
        columns = [F.col(quoted(name)) for name in chain.columns]
        fixed = constant_reach(chain)
        if fixed is not None:
            found = [self._write_chunk(rows.select(*columns), path, time, fixed, ())]
        else:
            tagged = rows.select(*columns, F.expr(reach_sql(chain)).alias(REACH)).where(F.col(REACH).isNotNull())
            if chain.partitioned:
                found = [
                    self._write_chunk(tagged.where(F.col(REACH) == reach), f"{path}-{reach}", time, reach, ())
                    for reach in chain.boundaries
                ]
            else:
                found = [self._write_chunk(tagged, path, time, None, _ages(chain.boundaries))]
        return [chunk for chunk in found if chunk is not None]

    def _write_chunk(
        self, rows: DataFrame, path: str, time: Column, fixed: int | None, ages: tuple[int, ...]
    ) -> Chunk | None:
        counts = Observation()
        rows.observe(
            counts,
            F.count(F.lit(1)).alias("rows"),
            F.min(time).alias("low"),
            F.max(time).alias("high"),
            *([F.max(REACH).alias("reach")] if fixed is None else []),
            *(F.coalesce(F.sum(F.when(F.col(REACH) > age, 1)), F.lit(0)).alias(f"beyond{age}") for age in ages),
        ).write.mode("overwrite").parquet(path)
        found = counts.get
        if not found["rows"]:
            return None
        reach = fixed if fixed is not None else found["reach"]
        beyond = tuple((age, found[f"beyond{age}"]) for age in ages if age < reach)
        return Chunk(path, found["low"], found["high"], found["rows"], reach, beyond)

    def _set_aside(self, rows: DataFrame, late: Column, number: int) -> None:
        """Write the rows that are not taken, as they came, with the reason."""
        judged = converted(rows, self.stream, original=True)
        bad = judged.where(F.col(REASON).isNotNull() | late)
        reason = F.coalesce(F.col(REASON), F.lit("it is behind the watermark")).alias(REASON)
        folder = self.storage.path("rejected", quote(self.stream.name, safe=""), f"b{number:010}")
        bad.select(reason, f"{ORIGINAL}.*").write.mode("overwrite").json(folder)


def _measured(counts: Observation, rows: DataFrame, measures: list[Column]) -> dict[str, Any]:
    """What was observed; if Spark saw that no query can want a row and read none, it is measured now."""
    try:
        return counts.get
    except Py4JJavaError:
        (found,) = rows.agg(*measures).collect()
        return found.asDict()


def _ages(boundaries: tuple[int, ...]) -> tuple[int, ...]:
    """A few of the boundaries, spread evenly, for which rows are counted."""
    inner = boundaries[:-1]
    if len(inner) <= _STEPS:
        return inner
    return tuple(inner[round(i * (len(inner) - 1) / (_STEPS - 1))] for i in range(_STEPS))
