"""The work of a step, level by level: rows are counted, aggregates added up, results written, and read by others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from penstock.compiler.physical import KeepChain
from penstock.compiler.shared import Shape
from penstock.runtime.chunks import Chunk, chunk_folder
from penstock.runtime.columns import QUERY, REACH, literal, quoted
from penstock.runtime.counting import count, place_of_results
from penstock.runtime.facts import with_facts
from penstock.runtime.faults import reached
from penstock.runtime.ingest import write_chunk
from penstock.runtime.log import State, StreamState
from penstock.runtime.marks import Span
from penstock.runtime.outlets import New, Outlet, Step
from penstock.runtime.pipeline import Level, Pipeline
from penstock.runtime.reach import counted_ages, reach_sql
from penstock.runtime.results import Results
from penstock.runtime.route import NUMBER
from penstock.runtime.storage import Storage

_ROWS_PER_TASK = 200_000


@dataclass
class Outcome:
    """What a step has done: the folders of its results, their numbers by query and in all, what was counted."""

    shown: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"": 0})
    ranked: dict[str, int] = field(default_factory=dict)


class Work:
    """One step. Everything is written under names made from its number, so that it can be done again."""

    def __init__(
        self,
        spark: SparkSession,
        storage: Storage,
        results: Results,
        pipeline: Pipeline,
        number: int,
        new: New,
        state: State,
        streams: Mapping[str, StreamState],
        ended: bool,
    ) -> None:
        """`streams` are the states of streams after the step, which have `ended` or go on."""
        self._spark = spark
        self._storage = storage
        self._results = results
        self._pipeline = pipeline
        self._number = number
        self._state = state
        self._streams = streams
        self._parallelism = spark.sparkContext.defaultParallelism
        self._step = Step(pipeline.views, new, state.chains, self._span, self._end if ended else lambda shape: None)
        self._staged: set[int] = set()
        self._outcome = Outcome()

    def _span(self, shape: Shape) -> Span:
        return self._pipeline.span(shape, self._state.streams, self._streams)

    def _end(self, shape: Shape) -> int | None:
        known = (self._streams.get(name) for name in self._pipeline.bases_of(shape))
        return max((own.high for own in known if own is not None and own.high is not None), default=None)

    def do(self) -> Outcome:
        """Do the work; what was done counts when the log says so."""
        for level in self._pipeline.levels:
            self._count(level)
            self._add_up(level)
            for group, outlet in level.stored.items():
                self._store(group, outlet)
            for outlet, sink in level.sinks:
                text = outlet.routed(self._step)
                if text is not None:
                    sink.write(self._spark.sql(text), self._number)
            self._give(level)
        reached("results-staged")
        self._outcome.shown = [self._results.show(self._number, group) for group in sorted(self._staged)]
        reached("results-moved")
        return self._outcome

    def _count(self, level: Level) -> None:
        """Give rows below the marks of their streams their ranks."""
        for keeper in level.counted:
            chain, known = keeper.chain, self._state.ranked.get(keeper.id, 0)
            span = self._pipeline.own_span(chain.stream, self._state.streams, self._streams)
            path = f"{chunk_folder(self._storage, chain.stream)}/{keeper.id}/r{self._number:010}"
            chunks, schema = self._step.chunks(keeper.id), self._pipeline.schema(chain)
            found = count(self._spark, self._pipeline.views, chain, schema, chunks, span, known, path)
            if found is not None and found.ranks is not None:
                self._step.new.setdefault(keeper.id, []).append(found)
                self._outcome.ranked[keeper.id] = found.ranks[1]

    def _add_up(self, level: Level) -> None:
        """Add new combinations to partial aggregates."""
        for inputs, tally in level.tallies:
            rows = inputs.arrived(self._step, uniform=tally.router.uniform)
            if rows is None:
                continue
            partials = self._spark.sql(tally.made(rows))
            path = self._storage.path("partials", tally.id, f"s{self._number:010}")
            chunk = tally.write(partials.coalesce(self._tasks()), path)
            if chunk is not None:
                self._step.new.setdefault(tally.id, []).append(chunk)
            reached("partials-written")

    def _store(self, group: int, outlet: Outlet) -> None:
        """Stage results, after those of earlier levels."""
        text = outlet.routed(self._step)
        if text is None:
            return
        rows = self._spark.sql(text)
        seen = Observation()
        measures = ["count(1)", *(f"count_if({NUMBER} = {place})" for place in range(outlet.counted))]
        observed = rows.observe(seen, F.expr(f"array({', '.join(measures)}) AS counts")).drop(NUMBER)
        self._results.stage(observed.coalesce(self._tasks()), self._number, group, more=group in self._staged)
        total, *by_number = seen.get["counts"]
        counts = self._outcome.counts
        counts[""] += total
        for query, place in outlet.queries if outlet.counted else ():
            counts[query] = counts.get(query, 0) + by_number[place]
        if total:
            self._staged.add(group)

    def _give(self, level: Level) -> None:
        """Results that other queries read become chunks of their streams."""
        for query, keepers in level.read.items():
            rows = self._results_of(level, query)
            if rows is not None:
                for keeper in keepers:
                    self._step.new.setdefault(keeper.id, []).extend(self._given(query, keeper, rows))

    def _results_of(self, level: Level, query: str) -> DataFrame | None:
        """What a query has given in this step: what was staged, or computed again if it went elsewhere."""
        for group, outlet in level.stored.items():
            if group in self._staged and any(name == query for name, _ in outlet.queries):
                return self._results.staged(self._number, group).where(f"{QUERY} = {literal(query)}")
        for outlet, _ in level.sinks:
            if any(name == query for name, _ in outlet.queries):
                text = outlet.routed(self._step)
                return None if text is None else self._spark.sql(text).where(f"{QUERY} = {literal(query)}")
        return None

    def _given(self, query: str, keeper: KeepChain, rows: DataFrame) -> list[Chunk]:
        """Results as chunks of a chain."""
        chain, types = keeper.chain, self._pipeline.types(query)
        there = {name.lower(): name for name in rows.columns}
        own = [f"CAST({quoted(there[name.lower()])} AS {types[name]}) AS {quoted(name)}" for name in types]
        table = f"penstock_given_{id(self)}"
        rows.selectExpr(*own).createOrReplaceTempView(table)
        found_facts = with_facts(f"SELECT * FROM {table}", chain, self._pipeline.views.pinned)
        reaching = self._spark.sql(f"SELECT *, {reach_sql(chain)} AS {REACH} FROM ({found_facts}) AS given")
        self._spark.catalog.dropTempView(table)
        reaching = reaching.where(f"{REACH} IS NOT NULL")
        kept = [*(quoted(name) for name in chain.columns), *(fact.column for fact in chain.facts)]
        path = f"{chunk_folder(self._storage, query)}/{keeper.id}/s{self._number:010}"
        if chain.rows:
            kept += place_of_results([quoted(name) for name in types])
            found = [write_chunk(reaching, path, kept, chain)]
        elif chain.partitioned:
            parts = ((one, reaching.where(f"{REACH} = {one}L")) for one in chain.boundaries)
            found = [write_chunk(part, f"{path}-{one}", kept, chain) for one, part in parts]
        else:
            found = [write_chunk(reaching, path, kept, chain, counted_ages(chain))]
        return [chunk for chunk in found if chunk is not None]

    def _tasks(self) -> int:
        """How many tasks a step is worth: each costs as much as some ten thousand rows."""
        ids = self._step.new
        chunks = [*ids.values(), *(self._step.kept.get(id_, ()) for id_ in ids)]
        rows = sum(chunk.rows for own in chunks for chunk in own)
        return max(1, min(self._parallelism, rows // _ROWS_PER_TASK))
