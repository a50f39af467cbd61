"""Ingest: a batch of a stream becomes chunks, once, whatever happens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from penstock.catalog import Stream
from penstock.compiler.physical import KeepChain
from penstock.runtime.chunks import Batch, Chunk
from penstock.runtime.columns import REACH, changing, quoted
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
        time = f"unix_micros({quoted(self.stream.timestamp)})"
        late = "FALSE" if self.watermark is None else f"COALESCE({time} < {changing(self.watermark, time)}, FALSE)"
        fine = f"{REASON} IS NULL AND NOT {late}"
        measures = [
            "count(1) AS rows",
            f"count_if({REASON} IS NULL AND {late}) AS late",
            f"count_if({REASON} IS NOT NULL) AS unreadable",
            f"min(IF({fine}, {time}, NULL)) AS low",
            f"max(IF({fine}, {time}, NULL)) AS high",
        ]
        counts = Observation()
        observed = ready.observe(counts, *map(F.expr, measures)).where(fine)
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

    def _write(self, rows: DataFrame, keeper: KeepChain, number: int, time: str) -> list[Chunk]:
        """The rows that the chain wants, as a chunk; for a partitioned chain as one for each reach."""
        chain = keeper.chain
        path = f"{self.folder}/{keeper.id}/b{number:010}"
        columns = [quoted(name) for name in chain.columns]
        fixed = constant_reach(chain)
        if fixed is not None:
            found = [self._write_chunk(rows.selectExpr(*columns), path, time, fixed, ())]
        else:
            tagged = rows.selectExpr(*columns, f"{reach_sql(chain)} AS {REACH}").where(f"{REACH} IS NOT NULL")
            if chain.partitioned:
                found = [
                    self._write_chunk(tagged.where(f"{REACH} = {reach}L"), f"{path}-{reach}", time, reach, ())
                    for reach in chain.boundaries
                ]
            else:
                found = [self._write_chunk(tagged, path, time, None, _ages(chain.boundaries))]
        return [chunk for chunk in found if chunk is not None]

    def _write_chunk(
        self, rows: DataFrame, path: str, time: str, fixed: int | None, ages: tuple[int, ...]
    ) -> Chunk | None:
        counts = Observation()
        measures = ["count(1) AS rows", f"min({time}) AS low", f"max({time}) AS high"]
        measures += [f"max({REACH}) AS reach"] if fixed is None else []
        measures += [f"count_if({REACH} > {age}L) AS beyond{age}" for age in ages]
        rows.observe(counts, *map(F.expr, measures)).write.mode("overwrite").parquet(path)
        found = counts.get
        if not found["rows"]:
            return None
        reach = fixed if fixed is not None else found["reach"]
        beyond = tuple((age, found[f"beyond{age}"]) for age in ages if age < reach)
        return Chunk(path, found["low"], found["high"], found["rows"], reach, beyond)

    def _set_aside(self, rows: DataFrame, late: str, number: int) -> None:
        """Write the rows that are not taken, as they came, with the reason."""
        judged = converted(rows, self.stream, original=True)
        bad = judged.where(f"{REASON} IS NOT NULL OR {late}")
        reason = f"COALESCE({REASON}, 'it is behind the watermark') AS {REASON}"
        folder = self.storage.path("rejected", quote(self.stream.name, safe=""), f"b{number:010}")
        bad.selectExpr(reason, f"{ORIGINAL}.*").write.mode("overwrite").json(folder)


def _measured(counts: Observation, rows: DataFrame, measures: list[str]) -> dict[str, Any]:
    """What was observed; if Spark saw that no query can want a row and read none, it is measured now."""
    try:
        return counts.get
    except Py4JJavaError:
        (found,) = rows.selectExpr(*measures).collect()
        return found.asDict()


def _ages(boundaries: tuple[int, ...]) -> tuple[int, ...]:
    """A few of the boundaries, spread evenly, for which rows are counted."""
    inner = boundaries[:-1]
    if len(inner) <= _STEPS:
        return inner
    return tuple(inner[round(i * (len(inner) - 1) / (_STEPS - 1))] for i in range(_STEPS))
