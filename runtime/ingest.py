"""Ingest: a batch of a stream becomes chunks, once, whatever happens."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, Observation, Row, SparkSession
from pyspark.sql import functions as F

from penstock.catalog import Stream
from penstock.compiler.physical import KeepChain
from penstock.compiler.shared import Chain
from penstock.runtime.chunks import Accepted, Batch, Chunk, chunk_folder
from penstock.runtime.columns import REACH, changing, quoted
from penstock.runtime.counting import PLACE, place_of_batch
from penstock.runtime.facts import with_facts
from penstock.runtime.faults import reached
from penstock.runtime.reach import Acceptance, acceptances, counted_ages, reach_sql, time_sql
from penstock.runtime.records import is_cut_off, read_record
from penstock.runtime.relations import Relations
from penstock.runtime.sources import ORIGINAL, REASON, Conversion
from penstock.runtime.storage import Storage

_LATE = "_late"


@dataclass
class Ingest:
    """Takes the batches of one stream, in order."""

    stream: Stream
    chains: tuple[KeepChain, ...]
    storage: Storage
    relations: Relations
    high: int | None = None
    floor: int | None = None
    plan: int = 0
    """The version of the plan whose chains they are."""
    _conversion: Conversion | None = None
    _batch: str = field(default_factory=lambda: f"penstock_batch_{uuid4().hex[:12]}")  # a table of rows as they came

    @property
    def folder(self) -> str:
        """Where its chunks are."""
        return chunk_folder(self.storage, self.stream.name)

    @property
    def watermark(self) -> int | None:
        """No row before this time is taken any more."""
        known = [] if self.high is None else [self.high - self.stream.lateness]
        return max([*known, *([] if self.floor is None else [self.floor])], default=None)

    def take(self, rows: DataFrame, number: int) -> Batch:
        """Write a batch's chunks and a note of them; done again, it gives the same."""
        if self._conversion is None:
            self._conversion = Conversion(rows, self.stream)
        rows.createOrReplaceTempView(self._batch)
        ready = f"SELECT *, {self._late} AS {_LATE} FROM ({self._conversion.sql(self._batch)}) AS read"
        counts: dict[str, Any] = {}
        chunks = []
        accepted: list[Accepted] = []
        plan, chains = self.plan, self.chains  # they may change meanwhile
        for keeper in chains:
            selections = acceptances(keeper.chain)
            found, own = self._write(rows.sparkSession, ready, keeper, number, selections, seen=bool(counts))
            counts |= found
            chunks += [(keeper.id, chunk) for chunk in own]
            accepted += [Accepted(s.text, s.sets, found[f"accepted{place}"]) for place, s in enumerate(selections)]
        reached("chunk-written")
        if counts["late"] or counts["unreadable"]:
            self._set_aside(rows.sparkSession, number)
        batch = Batch(
            self.stream.name,
            number,
            counts["rows"],
            counts["late"],
            counts["unreadable"],
            counts["low"],
            counts["high"],
            tuple(chunks),
            plan,
            tuple(accepted),
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
        if numbers and is_cut_off(self.storage, f"{self.folder}/{numbers[-1]}"):
            numbers.pop()  # it died while it wrote the note: Spark gives the batch again
        return [Batch.of(read_record(self.storage, f"{self.folder}/{name}")) for name in numbers]

    @property
    def _time(self) -> str:
        return f"unix_micros({quoted(self.stream.timestamp)})"

    @property
    def _late(self) -> str:
        """Whether a row is behind the watermark."""
        if self.watermark is None:
            return "FALSE"
        return f"COALESCE({self._time} < {changing(self.watermark, self._time)}, FALSE)"

    def _write(
        self,
        spark: SparkSession,
        ready: str,
        keeper: KeepChain,
        number: int,
        selections: tuple[Acceptance, ...],
        *,
        seen: bool,
    ) -> tuple[dict[str, Any], list[Chunk]]:
        """The rows that the chain wants, as a chunk; for a partitioned chain as one for each reach.

        Also how many rows the selections accept, and what is to be known of the batch as a whole, unless it was seen
        before.
        """
        chain = keeper.chain
        path = f"{self.folder}/{keeper.id}/b{number:010}"
        fine = f"{REASON} IS NULL AND NOT {_LATE}"
        reach = f"IF({fine}, {reach_sql(chain)}, NULL)"
        if chain.facts:
            ready = with_facts(ready, chain, self.relations.refresh())
        place = place_of_batch(chain, number) if chain.rows else []
        rows = spark.sql(f"SELECT {', '.join(['*', f'{reach} AS {REACH}', *place])} FROM ({ready}) AS ready")
        kept = [*map(quoted, chain.columns), *(fact.column for fact in chain.facts), *(PLACE if chain.rows else ())]
        measures = [] if seen else _of_batch(self._time, fine)
        measures += [
            f"count(IF({fine}, {selection.sql}, NULL)) AS accepted{place}" for place, selection in enumerate(selections)
        ]
        if not chain.partitioned:
            ages = () if chain.rows else counted_ages(chain)
            found, chunk = self._write_chunk(rows, path, kept, measures, ages)
            return found, [] if chunk is None else [chunk]
        chunks = []
        counts: dict[str, Any] = {}
        for own in chain.boundaries:
            parted = rows.selectExpr(f"* EXCEPT ({REACH})", f"IF({REACH} = {own}L, {own}L, NULL) AS {REACH}")
            found, chunk = self._write_chunk(parted, f"{path}-{own}", kept, [] if counts else measures, ())
            counts |= found
            chunks += [] if chunk is None else [chunk]
        return counts, chunks

    def _write_chunk(
        self, rows: DataFrame, path: str, kept: list[str], measures: list[str], ages: tuple[int, ...]
    ) -> tuple[dict[str, Any], Chunk | None]:
        """Write the rows that have a reach; also what was measured over all rows."""
        found = _written(rows, path, kept, self._time, measures, ages)
        return dict(list(found.items())[: len(measures)]), _chunk(found, path, ages)

    def _set_aside(self, spark: SparkSession, number: int) -> None:
        """Write the rows that are not taken, as they came, with the reason."""
        assert self._conversion is not None
        judged = f"SELECT *, {self._late} AS {_LATE} FROM ({self._conversion.sql(self._batch, original=True)}) AS read"
        reason = f"COALESCE({REASON}, 'it is behind the watermark') AS {REASON}"
        bad = spark.sql(
            f"SELECT {reason}, {ORIGINAL}.* FROM ({judged}) AS judged WHERE {REASON} IS NOT NULL OR {_LATE}"
        )
        folder = self.storage.path("rejected", quote(self.stream.name, safe=""), f"b{number:010}")
        bad.write.mode("overwrite").json(folder)


def write_chunk(rows: DataFrame, path: str, kept: list[str], chain: Chain, ages: tuple[int, ...] = ()) -> Chunk | None:
    """Write rows with a reach as a chunk; None if there are none."""
    return _chunk(_written(rows, path, kept, time_sql(chain), [], ages), path, ages)


def _written(
    rows: DataFrame, path: str, kept: list[str], time: str, measures: list[str], ages: tuple[int, ...]
) -> dict[str, Any]:
    """Write the rows that have a reach; what was measured, and what a chunk of them is."""
    wanted = f"{REACH} IS NOT NULL"
    measures = [
        *measures,
        f"count({REACH}) AS kept",
        f"min(IF({wanted}, {time}, NULL)) AS from",
        f"max(IF({wanted}, {time}, NULL)) AS to",
        f"max({REACH}) AS reach",
        *(f"count_if({REACH} > {age}L) AS beyond{age}" for age in ages),
    ]
    seen = Observation()
    text = f"struct({', '.join(measures)}) AS found"
    observed = rows.observe(seen, F.expr(text)).where(wanted).selectExpr(*kept)
    observed.write.mode("overwrite").parquet(path)
    return dict(_measured(seen, rows, text).asDict())


def _chunk(found: dict[str, Any], path: str, ages: tuple[int, ...]) -> Chunk | None:
    if not found["kept"]:
        return None
    beyond = tuple((age, found[f"beyond{age}"]) for age in ages if age < found["reach"])
    return Chunk(path, found["from"], found["to"], found["kept"], found["reach"], beyond)


def forget(storage: Storage, stream: str, number: int) -> None:
    """Remove the note of a batch that the log has taken over."""
    storage.delete(f"{chunk_folder(storage, stream)}/b{number:010}.json")


def _of_batch(time: str, fine: str) -> list[str]:
    """What is measured over all rows of a batch."""
    return [
        "count(1) AS rows",
        f"count_if({REASON} IS NULL AND {_LATE}) AS late",
        f"count_if({REASON} IS NOT NULL) AS unreadable",
        f"min(IF({fine}, {time}, NULL)) AS low",
        f"max(IF({fine}, {time}, NULL)) AS high",
    ]


def _measured(seen: Observation, rows: DataFrame, text: str) -> Row:
    """What was observed; if Spark saw that no query can want a row and read none, it is measured now."""
    try:
        found: Row = seen.get["found"]
    except Py4JJavaError:
        ((found,),) = rows.selectExpr(text).collect()
    return found
