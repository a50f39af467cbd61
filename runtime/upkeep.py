"""The upkeep of state: which chunks are still needed after a step, and which are best merged beside the next ones."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from penstock.compiler.physical import KeepChain
from penstock.compiler.warm import EVER
from penstock.runtime.background import Background, Chains, MergeDone
from penstock.runtime.chunks import Chunk, chunk_folder
from penstock.runtime.counting import ranked_schema
from penstock.runtime.log import State, StreamState
from penstock.runtime.outlets import New
from penstock.runtime.pipeline import Pipeline
from penstock.runtime.propagate import (
    Merge,
    due,
    due_partials,
    due_ranked,
    merged,
    merged_partials,
    merged_ranked,
)
from penstock.runtime.results import Results
from penstock.runtime.statistics import Statistics
from penstock.runtime.storage import Storage


class Upkeep:
    """Chains and partial aggregates are kept as small as they can be."""

    def __init__(
        self,
        spark: SparkSession,
        storage: Storage,
        results: Results,
        statistics: Statistics,
        background: Background,
    ) -> None:
        self._spark = spark
        self._storage = storage
        self._results = results
        self._statistics = statistics
        self._background = background

    def needed(
        self, pipeline: Pipeline, state: State, streams: dict[str, StreamState], new: New
    ) -> tuple[Chains, dict[str, int]]:
        """The chunks that are still needed after a step, and up to which time rows past their reach are gone.

        The others are removed when nothing reads them any more.
        """
        chains, trimmed = dict(state.chains), dict(state.trimmed)
        for id_, keeper in pipeline.keepers.items():
            chunks = (*chains.get(id_, ()), *new.get(id_, ()))
            if keeper.chain.rows:
                chains[id_] = self._still_counted(pipeline, keeper, chunks, streams)
            else:
                chains[id_] = self._still_alive(id_, chunks, pipeline.horizon(keeper, streams), trimmed)
        for id_ in pipeline.tallies:
            chunks = (*chains.get(id_, ()), *new.get(id_, ()))
            chains[id_] = self._still_alive(id_, chunks, pipeline.tally_horizon(id_, streams), trimmed)
        return chains, trimmed

    def start_merges(self, pipeline: Pipeline, state: State, *, settled: bool) -> None:
        """Begin to merge what is best merged next. A plan has `settled` when it has been in force for a while."""
        for id_ in (*pipeline.keepers, *pipeline.tallies):
            if not self._background.is_merging(id_):
                merge = self._due(pipeline, state, id_, settled=settled)
                if merge is not None:
                    self._background.merge_chunks(id_, self._merger(pipeline, state, id_, merge))
        self._background.merge_results(self._results.due(state))

    def _due(self, pipeline: Pipeline, state: State, id_: str, *, settled: bool) -> Merge | None:
        """What is best merged next, of a chain or of partial aggregates."""
        chunks, streams = state.chains.get(id_, ()), state.streams
        tally, keeper = pipeline.tallies.get(id_), pipeline.keepers.get(id_)
        if tally is not None:
            return due_partials(chunks, pipeline.tally_horizon(id_, streams))
        assert keeper is not None
        if keeper.chain.rows:
            return due_ranked(keeper.chain, chunks, pipeline.lowest_rank(keeper, chunks, streams))
        return due(keeper.chain, chunks, pipeline.horizon(keeper, streams), settled=settled)

    def _merger(self, pipeline: Pipeline, state: State, id_: str, merge: Merge) -> Callable[[], MergeDone]:
        name = f"m{state.step:010}"
        tally, keeper = pipeline.tallies.get(id_), pipeline.keepers.get(id_)
        if tally is not None:
            path = self._storage.path("partials", id_, name)
            return lambda: (merge, merged_partials(self._spark, tally, merge, path))
        assert keeper is not None
        chain, stream, step = keeper.chain, keeper.chain.stream, state.step
        path = f"{chunk_folder(self._storage, stream)}/{id_}/{name}"
        schema = pipeline.schema(chain)
        if chain.rows:
            return lambda: (merge, merged_ranked(self._spark, merge, ranked_schema(schema), path))
        rows = sum(chunk.rows for chunk in merge.chunks)
        counted = self._statistics.to_count(stream, pipeline.key_columns(chain), rows, step)

        def work() -> MergeDone:
            chunk, distinct = merged(self._spark, merge, schema, path, counted)
            if chunk is not None:
                self._statistics.add_distinct(stream, distinct, chunk.rows, step)
            return merge, chunk

        return work

    def _still_alive(
        self, id_: str, chunks: tuple[Chunk, ...], horizon: int | None, trimmed: dict[str, int]
    ) -> tuple[Chunk, ...]:
        """The chunks that may still be part of a result; the others are removed."""
        if horizon is not None:
            trimmed[id_] = max(horizon, trimmed.get(id_, EVER))
        live = tuple(c for c in chunks if c.reach > 0 and not (horizon is not None and c.is_dead(horizon)))
        self._background.bury([chunk.path for chunk in chunks if chunk not in live])
        return live

    def _still_counted(
        self, pipeline: Pipeline, keeper: KeepChain, chunks: tuple[Chunk, ...], streams: dict[str, StreamState]
    ) -> tuple[Chunk, ...]:
        """The chunks with rows that are still to be counted, or among the last ones of their stream."""
        lowest = pipeline.lowest_rank(keeper, chunks, streams)
        counted = pipeline.mark(streams, pipeline.base_streams(keeper.chain.stream))
        live = tuple(
            chunk
            for chunk in chunks
            if (chunk.ranks[1] > lowest if chunk.ranks is not None else counted is None or chunk.high >= counted)
        )
        self._background.bury([chunk.path for chunk in chunks if chunk not in live])
        return live
