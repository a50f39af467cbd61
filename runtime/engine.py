"""The engine: makes steps out of batches, keeps the state, and goes on where an earlier run ended."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

from penstock.catalog import Catalog
from penstock.compiler.explain import to_data
from penstock.compiler.physical import KeepChain, PhysicalPlan
from penstock.grammar.errors import PenstockError
from penstock.runtime.background import Background, MergeDone
from penstock.runtime.chunks import chunk_folder
from penstock.runtime.faults import reached
from penstock.runtime.inbox import Inbox, Taken
from penstock.runtime.log import Log, State, StreamState
from penstock.runtime.pipeline import New, Pipeline
from penstock.runtime.propagate import Merge, due, merged
from penstock.runtime.reach import reach_sql
from penstock.runtime.results import Results
from penstock.runtime.route import NUMBER
from penstock.runtime.storage import Storage

_ROWS_PER_TASK = 200_000
_MOST_COUNTED = 64
"""Results are counted by query in the step itself for at most so many queries."""


@dataclass
class StepReport:
    """What a step did."""

    step: int
    seconds: float
    rows: dict[str, int]
    results: int
    by_query: dict[str, int]


class Engine:
    """One physical plan over one state folder."""

    def __init__(
        self,
        spark: SparkSession,
        plan: PhysicalPlan,
        catalog: Catalog,
        folder: str,
        *,
        root: Path | None = None,
        step_rows: int = 1_000_000,
        on_step: Callable[[StepReport], None] | None = None,
    ) -> None:
        self.spark = spark
        self.storage = Storage(spark, folder)
        self.results = Results(spark, self.storage)
        self.log = Log(self.storage)
        self.state = State()
        self._on_step = on_step
        self._parallelism = spark.sparkContext.defaultParallelism
        self._pipeline = Pipeline(spark, plan, catalog, self.storage, root)
        self._inbox = Inbox(spark, self.storage, root, step_rows)
        self._background = Background(self.storage, self.results)

    # Opening: go on where the last run ended

    def open(self) -> None:
        """Read the log, tidy up after an interrupted run, and redo the step it was in."""
        self.state = self.log.last()
        self._check_plan()
        self.results.clean(self.state)
        for name in self._pipeline.streams:
            known = self.state.streams.get(name, StreamState())
            self._inbox.add(self._pipeline.stream(name), self._pipeline.chains_of(name), known)
        self._clean_chunks()
        begun = self.log.begun(self.state.step + 1)
        if begun is not None:
            self._step(self._inbox.again(begun))

    def _check_plan(self) -> None:
        if not self.state.plan:
            self.state = replace(self.state, plan=self.fingerprint)
            self.log.commit(self.state)  # before anything is read: what is read is made for these queries
        if self.state.plan != self.fingerprint:
            raise PenstockError(
                f"the state in {self.storage.root} was made for other queries",
                hint="Run the queries it was made for, or name another state folder in penstock.yml.",
                label="other-plan",
            )

    def _clean_chunks(self) -> None:
        """Remove chunks that neither the state nor a waiting batch knows, and notes of batches that are done."""
        known = {chunk.path for chunks in self.state.chains.values() for chunk in chunks}
        known |= {chunk.path for batch in self._inbox.waiting() for _, chunk in batch.chunks}
        for name in self._pipeline.streams:
            folder = chunk_folder(self.storage, name)
            for chain in self.storage.names(folder):
                if chain.endswith(".json"):
                    if int(chain[1:-5]) <= self.state.streams.get(name, StreamState()).batch:
                        self.storage.delete(f"{folder}/{chain}")
                    continue
                for chunk in self.storage.names(f"{folder}/{chain}"):
                    if f"{folder}/{chain}/{chunk}" not in known:
                        self.storage.delete(f"{folder}/{chain}/{chunk}")

    # Running

    def start(self, *, once: bool) -> None:
        """Begin to read every stream: what is there now, or for as long as the run goes on."""
        self._inbox.start(once=once)

    def run(self, *, until: Callable[[], bool] = lambda: False) -> None:
        """Make steps until the streams have ended, or until told to stop."""
        while not until():
            taken = self._inbox.next()
            if taken is None:
                self.settle()
                return
            if taken:
                self._step(taken)

    def settle(self) -> None:
        """Finish what is to be merged, so that the state is as small as it can be."""
        while self._background.wait():
            self._step({})

    def stop(self) -> None:
        """Stop reading; what was read stays for the next run."""
        self._inbox.stop()
        self._background.stop()
        self._pipeline.close()

    # A step

    def _step(self, taken: Taken) -> None:
        began = time.perf_counter()
        number = self.state.step + 1
        self.log.begin(number, {name: [batch.number for batch in batches] for name, batches in taken.items()})
        reached("step-begun")
        self._pipeline.begin_step()
        new: New = {}
        for batches in taken.values():
            for batch in batches:
                for chain, chunk in batch.chunks:
                    new.setdefault(chain, []).append(chunk)
        shown, counts = self._write_results(number, new)
        for outlet, sink in self._pipeline.sinks:
            found = self._pipeline.results(outlet, new, self.state)
            if found is not None:
                sink.write(found, number)
        state = self._after(taken, new, number, shown, counts)
        self.log.commit(state)
        self.state = state
        reached("step-committed")
        self._inbox.forget(taken)
        self._background.tidy()
        self._start_merges()
        if self._on_step is not None and taken:
            rows = {name: sum(batch.rows for batch in batches) for name, batches in taken.items()}
            total = counts.pop("", 0)
            self._on_step(StepReport(number, time.perf_counter() - began, rows, total, counts))

    def _write_results(self, number: int, new: New) -> tuple[list[str], dict[str, int]]:
        """Compute and show the results of a step; the folders, and the number of results by query and in all."""
        staged, counts = [], {"": 0}
        for group, outlet in enumerate(self._pipeline.stored):
            rows = self._pipeline.results(outlet, new, self.state)
            if rows is None:
                continue
            slots = outlet.slots if outlet.slots <= _MOST_COUNTED else 0
            seen = Observation()
            measures = ["count(1)", *(f"count_if({NUMBER} = {slot})" for slot in range(slots))]
            observed = rows.observe(seen, F.expr(f"array({', '.join(measures)}) AS counts")).drop(NUMBER)
            self.results.stage(observed.coalesce(self._tasks(new)), number, group)
            total, *by_number = seen.get["counts"]
            counts[""] += total
            counts |= {query: by_number[place] for query, place in outlet.queries.items() if slots}
            if total:
                staged.append(group)
        reached("results-staged")
        shown = [self.results.show(number, group) for group in staged]
        reached("results-moved")
        return shown, counts

    def _tasks(self, new: New) -> int:
        """How many tasks a step is worth: each costs as much as some ten thousand rows."""
        chunks = [*new.values(), *(self.state.chains.get(chain, ()) for chain in new)]
        rows = sum(chunk.rows for own in chunks for chunk in own)
        return max(1, min(self._parallelism, rows // _ROWS_PER_TASK))

    # After a step

    def _after(self, taken: Taken, new: New, number: int, shown: list[str], counts: dict[str, int]) -> State:
        """What is true when a step is done."""
        streams = dict(self.state.streams)
        for name, batches in taken.items():
            known = streams.get(name, StreamState())
            highs = [batch.high for batch in batches if batch.high is not None]
            highs += [] if known.high is None else [known.high]
            streams[name] = replace(
                known,
                batch=batches[-1].number,
                high=max(highs, default=None),
                rows=known.rows + sum(batch.rows for batch in batches),
                late=known.late + sum(batch.late for batch in batches),
                unreadable=known.unreadable + sum(batch.unreadable for batch in batches),
            )
        self._let_idle_pass(streams, taken)
        chains = dict(self.state.chains)
        for chain, keeper in self._pipeline.keepers.items():
            chunks = [*chains.get(chain, ()), *new.get(chain, ())]
            horizon = self._pipeline.horizon(keeper.chain, streams)
            live = [c for c in chunks if c.reach > 0 and not (horizon is not None and c.is_dead(horizon))]
            self._background.bury([chunk.path for chunk in chunks if chunk not in live])
            chains[chain] = tuple(live)
        chains, results = self._background.put_in_place(chains, [*self.state.results, *shown])
        totals = {name: self.state.counts.get(name, 0) + count for name, count in counts.items()}
        return State(number, self.fingerprint, streams, chains, tuple(results), {**self.state.counts, **totals})

    def _let_idle_pass(self, streams: dict[str, StreamState], taken: Taken) -> None:
        """A stream without rows for longer than its idle timeout no longer holds the others back.

        Its watermark follows theirs; rows that come later than that after all are late.
        """
        idle = {stream.name for stream in self._inbox.idle(taken)}
        marks = [
            known.high - self._pipeline.stream(name).lateness
            for name, known in streams.items()
            if name not in idle and known.high is not None
        ]
        if idle and marks:
            for name in idle:
                known = streams.get(name, StreamState())
                floor = max(min(marks), known.floor or min(marks))
                streams[name] = replace(known, floor=floor)
                self._inbox.raise_floor(name, floor)

    def _start_merges(self) -> None:
        for chain, keeper in self._pipeline.keepers.items():
            if not self._background.is_merging(chain):
                chunks = self.state.chains.get(chain, ())
                merge = due(chain, keeper.chain, chunks, self._pipeline.horizon(keeper.chain, self.state.streams))
                if merge is not None:
                    self._background.merge_chunks(chain, self._merger(merge, keeper))
        self._background.merge_results(self.results.due(self.state))

    def _merger(self, merge: Merge, keeper: KeepChain) -> Callable[[], MergeDone]:
        path = f"{chunk_folder(self.storage, keeper.chain.stream)}/{keeper.id}/m{self.state.step:010}"
        schema = self._pipeline.schema(keeper.chain)
        return lambda: (merge, merged(self.spark, merge, keeper.chain, schema, path))

    @property
    def fingerprint(self) -> str:
        """What the state was made for."""
        tags = [reach_sql(keeper.chain) for keeper in self._pipeline.keepers.values()]
        text = "\n".join([json.dumps(to_data(self._pipeline.plan)), *tags])
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
