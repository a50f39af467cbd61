"""The engine: makes steps out of batches, keeps the state, changes its plan between two steps, and goes on where an
earlier run ended."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

from penstock.catalog import Catalog
from penstock.compiler.diff import Stage, diff
from penstock.compiler.physical import KeepChain, PhysicalPlan
from penstock.compiler.warm import EVER, Start
from penstock.grammar.errors import PenstockError
from penstock.runtime.background import Background, MergeDone
from penstock.runtime.chunks import chunk_folder
from penstock.runtime.faults import reached
from penstock.runtime.inbox import Inbox, Taken
from penstock.runtime.log import Log, State, StreamState
from penstock.runtime.migrate import (
    handover_to,
    migrated,
    readings_of,
    refuse_changed_columns,
    spans_of,
    widened,
    with_cuts,
)
from penstock.runtime.pipeline import New, Pipeline
from penstock.runtime.plans import Plans, RunPlan, Texts, remake
from penstock.runtime.propagate import Merge, due, merged
from penstock.runtime.results import Results
from penstock.runtime.route import NUMBER
from penstock.runtime.statistics import Statistics
from penstock.runtime.storage import Storage

_ROWS_PER_TASK = 200_000
_SETTLED = 8
"""After so many steps without a migration, what nobody wants any more is looked for in the chunks."""
_NOTED = 32
"""After so many steps what has been measured is written down."""
_NOTHING = RunPlan(PhysicalPlan(), Catalog(), {})


@dataclass
class StepReport:
    """What a step did."""

    step: int
    seconds: float
    rows: dict[str, int]
    results: int
    by_query: dict[str, int]


@dataclass(frozen=True)
class Migration:
    """A change of plan that is in force."""

    version: int
    step: int
    stages: tuple[Stage, ...]
    seconds: float


class Engine:
    """A plan in force over one state folder."""

    def __init__(
        self,
        spark: SparkSession,
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
        self.plans = Plans(self.storage)
        self.state = State()
        self.starts: dict[str, Start] = {}
        self.plan = _NOTHING
        self.statistics = Statistics()
        self._root = root
        self._on_step = on_step
        self._parallelism = spark.sparkContext.defaultParallelism
        self._pipeline = Pipeline(spark, PhysicalPlan(), Catalog(), self.storage, root)
        self._migrated_at = 0
        self._asked: deque[tuple[RunPlan, Future[Migration]]] = deque()
        self._asking = threading.Lock()
        self._over = False
        self._thread: int | None = None
        self._inbox = Inbox(spark, self.storage, root, step_rows)
        self._background = Background(self.storage, self.results)

    # Opening: go on where the last run ended

    def open(self, plan: RunPlan, remade: Callable[[Texts], RunPlan]) -> None:
        """Read the log, tidy up after an interrupted run, redo the step it was in, and put a plan in force.

        `remade` makes the plan that was in force from its texts, if it was another one.
        """
        self.state = self.log.last()
        self.statistics.read(self.storage)
        self.starts = self.plans.read_starts(self.state.starts)
        self.plans.clean(self.state.plan, self.state.starts)
        self.results.clean(self.state)
        if self.state.plan:
            texts = self.plans.read(self.state.plan)
            self.plan = remake(texts, plan, remade)
            self._pipeline = self._made_ready(self.plan)
            for name in self._pipeline.streams:
                self._add_stream(name)
        self._clean_chunks()
        begun = self.log.begun(self.state.step + 1)
        if begun is not None:
            self._step(self._inbox.again(begun))
        if self.plan.texts != plan.texts:
            self._migrate(plan)

    def _made_ready(self, plan: RunPlan) -> Pipeline:
        usable = {query: start.usable for query, start in self.starts.items() if start.usable != EVER}
        groups = self.state.groups
        spans = spans_of(plan)
        return Pipeline(self.spark, plan.running, plan.catalog, self.storage, self._root, groups, usable, spans)

    def _add_stream(self, name: str) -> None:
        known = self.state.streams.get(name, StreamState())
        self._inbox.add(self._pipeline.stream(name), self._pipeline.chains_of(name), known, self.state.plan)

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
        self._thread = threading.get_ident()
        while not until():
            while self._asked:
                self._answer(*self._asked.popleft())
            if self._is_handed_over():
                self._migrate(replace(self.plan, handover=None), finish=True)
            taken = self._inbox.next(lambda: bool(self._asked))
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
        with self._asking:
            self._over = True
        while self._asked:
            _, answer = self._asked.popleft()
            answer.set_exception(_Over())
        self._inbox.stop()
        self._background.stop()
        self._pipeline.close()
        if self.state.step:
            self.statistics.write(self.storage)

    # Migrating: another plan between two steps

    def migrate(self, plan: RunPlan) -> Migration | None:
        """Put a plan in force after the step that is under way; None if the run is over.

        Asked from the run's own thread, between two steps, it is in force at once.
        """
        if threading.get_ident() == self._thread:
            return self._migrate(plan)
        answer: Future[Migration] = Future()
        with self._asking:
            if self._over:
                return None
            self._asked.append((plan, answer))
        with self._inbox.news:
            self._inbox.news.notify_all()
        try:
            return answer.result()
        except _Over:
            return None

    @property
    def steps_since_migration(self) -> int:
        """How many steps the plan has been in force for."""
        return self.state.step - self._migrated_at

    def _answer(self, plan: RunPlan, answer: Future[Migration]) -> None:
        try:
            answer.set_result(self._migrate(plan))
        except PenstockError as error:  # nothing has changed
            answer.set_exception(error)
        except BaseException as error:
            answer.set_exception(error)
            raise

    def _migrate(self, plan: RunPlan, *, finish: bool = False) -> Migration:
        """Put a plan in force: what is read, and the steps from now on, are made for it.

        To `finish`, what went on of plans of before ends.
        """
        began = time.perf_counter()
        old = self.plan
        plan = replace(plan, before=None) if finish else handover_to(old, plan)
        streams = {op.chain.stream for op in plan.running.of_kind(KeepChain)}
        coming = [name for name in sorted(streams) if name not in self._inbox.streams]
        refuse_changed_columns(old, plan)
        for name in coming:
            self._inbox.check(plan.catalog.stream(name))
        left = self._inbox.remove([name for name in self._inbox.streams if name not in streams])
        before = self._pipeline
        with self._inbox.news:  # nothing begins to be read meanwhile
            self._inbox.wait_until_read(widened(old.running, plan.running) if plan.before == old.before else streams)
            known = replace(self.state, streams=_taken(self.state.streams, left))
            readings = {**readings_of(known), **self._inbox.readings()}
            state, starts = migrated(known, old, plan, self.starts, readings)
            plan, starts = with_cuts(plan, starts, self.starts)
            self.plans.write(state.plan, plan.noted)
            state = replace(state, starts=self.plans.write_starts(state.plan, state.step, starts))
            reached("plan-written")
            self.log.commit(state)
            reached("plan-committed")
            gone = _paths(self.state) - _paths(state)
            self.state, self.starts, self.plan = state, starts, plan
            self._pipeline = self._made_ready(plan)
            self._inbox.use({name: self._pipeline.chains_of(name) for name in streams}, state.plan)
        before.close()
        self._inbox.forget(left)
        for name in coming:
            self._add_stream(name)
        self._background.bury([*gone, *(c.path for own in left.values() for batch in own for _, c in batch.chunks)])
        self._background.tidy()
        self.plans.clean(state.plan, state.starts)
        self._migrated_at = state.step
        return Migration(state.plan, state.step, diff(old.running, plan.running), time.perf_counter() - began)

    def _is_handed_over(self) -> bool:
        """Whether there is nothing left to do for what goes on of plans of before."""
        handover = self.plan.handover
        if handover is None:
            return False
        streams = {name: self.state.streams.get(name, StreamState()) for name in self._pipeline.streams}
        marks = self._pipeline.watermarks(streams)
        starts = ((self.starts[query], cut) for query, cut in handover.cuts.items())
        return all(marks.get(name, EVER) >= cut for start, cut in starts for name in start.streams)

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
                    keeper = self._pipeline.keepers.get(chain)
                    if keeper is None:  # it was read for queries that have left
                        self._background.bury([chunk.path])
                    else:
                        fits = batch.plan == self.state.plan
                        new.setdefault(chain, []).append(chunk if fits else chunk.under(keeper.chain, grown=True))
        shown, counts = self._write_results(number, new)
        for outlet, sink in self._pipeline.sinks:
            found = self._pipeline.results(outlet, new, self.state)
            if found is not None:
                sink.write(found, number)
        state = self._after(taken, new, number, shown, counts)
        starts = self._starts_after(state)
        if starts != self.starts:
            state = replace(state, starts=self.plans.write_starts(state.plan, number, starts))
        self.log.commit(state)
        self.state, self.starts = state, starts
        reached("step-committed")
        self._inbox.forget(taken)
        self._background.tidy()
        self._start_merges()
        seconds = time.perf_counter() - began
        self.statistics.add(taken, seconds)
        if number % _NOTED == 0:
            self.statistics.write(self.storage)
        if self._on_step is not None and taken:
            rows = {name: sum(batch.rows for batch in batches) for name, batches in taken.items()}
            total = counts.pop("", 0)
            self._on_step(StepReport(number, seconds, rows, total, counts))

    def _write_results(self, number: int, new: New) -> tuple[list[str], dict[str, int]]:
        """Compute and show the results of a step; the folders, and the number of results by query and in all."""
        staged, counts = [], {"": 0}
        for group, outlet in self._pipeline.stored.items():
            rows = self._pipeline.results(outlet, new, self.state)
            if rows is None:
                continue
            seen = Observation()
            measures = ["count(1)", *(f"count_if({NUMBER} = {place})" for place in range(outlet.counted))]
            observed = rows.observe(seen, F.expr(f"array({', '.join(measures)}) AS counts")).drop(NUMBER)
            self.results.stage(observed.coalesce(self._tasks(new)), number, group)
            total, *by_number = seen.get["counts"]
            counts[""] += total
            for query, place in outlet.queries if outlet.counted else ():
                counts[query] = counts.get(query, 0) + by_number[place]
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
        streams = _taken(self.state.streams, taken)
        self._let_idle_pass(streams, taken)
        chains = dict(self.state.chains)
        trimmed = dict(self.state.trimmed)
        for chain, horizon in self._pipeline.horizons(streams).items():
            chunks = [*chains.get(chain, ()), *new.get(chain, ())]
            if horizon is not None:
                trimmed[chain] = max(horizon, trimmed.get(chain, EVER))
            live = [c for c in chunks if c.reach > 0 and not (horizon is not None and c.is_dead(horizon))]
            self._background.bury([chunk.path for chunk in chunks if chunk not in live])
            chains[chain] = tuple(live)
        chains, results = self._background.put_in_place(chains, [*self.state.results, *shown], self._pipeline.keepers)
        totals = {name: self.state.counts.get(name, 0) + count for name, count in counts.items()}
        return replace(
            self.state,
            step=number,
            streams=streams,
            chains=chains,
            trimmed=trimmed,
            results=tuple(results),
            counts={**self.state.counts, **totals},
        )

    def _starts_after(self, state: State) -> dict[str, Start]:
        """The starts of the queries, some of which have waited for the batches of the step."""
        found = self.starts
        for query, start in self.starts.items():
            for name in start.waits:
                stream = state.streams.get(name, StreamState())
                start = start.taken(name, stream.batch, stream.high)
            if start is not self.starts[query]:
                found = {**found, query: start}
        return found

    def _let_idle_pass(self, streams: dict[str, StreamState], taken: Taken) -> None:
        """A stream without rows for longer than its idle timeout no longer holds the others back.

        Its watermark follows theirs; rows that come later than that after all are late.
        """
        idle = {stream.name for stream in self._inbox.idle(taken)}
        marks = [
            known.high - self._pipeline.stream(name).lateness
            for name, known in streams.items()
            if name in self._inbox.streams and name not in idle and known.high is not None
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
                horizon = self._pipeline.horizon(keeper.chain, self.state.streams)
                settled = self.steps_since_migration >= _SETTLED
                merge = due(keeper.chain, chunks, horizon, settled=settled)
                if merge is not None:
                    self._background.merge_chunks(chain, self._merger(merge, keeper))
        self._background.merge_results(self.results.due(self.state))

    def _merger(self, merge: Merge, keeper: KeepChain) -> Callable[[], MergeDone]:
        path = f"{chunk_folder(self.storage, keeper.chain.stream)}/{keeper.id}/m{self.state.step:010}"
        schema = self._pipeline.schema(keeper.chain)
        stream, step = keeper.chain.stream, self.state.step
        rows = sum(chunk.rows for chunk in merge.chunks)
        counted = self.statistics.to_count(stream, self._pipeline.key_columns(keeper.chain), rows, step)

        def work() -> MergeDone:
            chunk, distinct = merged(self.spark, merge, schema, path, counted)
            if chunk is not None:
                self.statistics.add_distinct(stream, distinct, chunk.rows, step)
            return merge, chunk

        return work


class _Over(Exception):
    """The run ended before a migration."""


def _taken(streams: dict[str, StreamState], taken: Taken) -> dict[str, StreamState]:
    """How far streams have been taken, with these batches."""
    found = dict(streams)
    for name, batches in taken.items():
        known = found.get(name, StreamState())
        if batches:
            highs = [batch.high for batch in batches if batch.high is not None]
            highs += [] if known.high is None else [known.high]
            found[name] = replace(
                known,
                batch=batches[-1].number,
                high=max(highs, default=None),
                rows=known.rows + sum(batch.rows for batch in batches),
                late=known.late + sum(batch.late for batch in batches),
                unreadable=known.unreadable + sum(batch.unreadable for batch in batches),
            )
    return found


def _paths(state: State) -> set[str]:
    return {chunk.path for chunks in state.chains.values() for chunk in chunks}
