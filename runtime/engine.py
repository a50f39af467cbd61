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

from pyspark.sql import SparkSession

from penstock.catalog import Catalog
from penstock.compiler.diff import Stage, diff
from penstock.compiler.physical import KeepChain, PhysicalPlan
from penstock.compiler.warm import EVER, Start
from penstock.grammar.errors import PenstockError
from penstock.runtime.background import Background
from penstock.runtime.chunks import chunk_folder
from penstock.runtime.faults import reached
from penstock.runtime.inbox import Inbox, Taken
from penstock.runtime.intact import refuse_lost_chunks, refuse_lost_log
from penstock.runtime.log import Log, State, StreamState
from penstock.runtime.marks import marked
from penstock.runtime.migrate import (
    handover_to,
    migrated,
    readings_of,
    refuse_changed_columns,
    refuse_changed_sources,
    spans_of,
    widened,
    with_cuts,
)
from penstock.runtime.outlets import New
from penstock.runtime.pipeline import Pipeline
from penstock.runtime.plans import Plans, RunPlan, Texts, remake
from penstock.runtime.relations import Relations
from penstock.runtime.results import Results
from penstock.runtime.statistics import Statistics
from penstock.runtime.step import Outcome, Work
from penstock.runtime.storage import Storage
from penstock.runtime.upkeep import Upkeep

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
        read_up_to: Callable[[], int | None] = lambda: None,
    ) -> None:
        self.spark = spark
        self.storage = Storage(spark, folder)
        self.results = Results(spark, self.storage, read_up_to=read_up_to)
        self.log = Log(self.storage)
        self.plans = Plans(self.storage)
        self.state = State()
        self.starts: dict[str, Start] = {}
        self.plan = _NOTHING
        self.statistics = Statistics()
        self._root = root
        self._on_step = on_step
        self.relations = Relations(spark, self.storage, root)
        self._pipeline = Pipeline(spark, PhysicalPlan(), Catalog(), self.storage, root, relations=self.relations)
        self._migrated_at = 0
        self._asked: deque[tuple[RunPlan, Future[Migration]]] = deque()
        self._asking = threading.Lock()
        self._over = False
        self._thread: int | None = None
        self._inbox = Inbox(spark, self.storage, root, step_rows, self.relations)
        self._background = Background(self.storage, self.results)
        self._upkeep = Upkeep(spark, self.storage, self.results, self.statistics, self._background)

    # Opening: go on where the last run ended

    def open(self, plan: RunPlan, remade: Callable[[Texts], RunPlan]) -> None:
        """Read the log, tidy up after an interrupted run, redo the step it was in, and put a plan in force.

        `remade` makes the plan that was in force from its texts, if it was another one.
        """
        self.state = self.log.last()
        refuse_lost_log(self.storage, self.state)
        refuse_lost_chunks(self.storage, self.state)
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
        groups, spans = self.state.groups, spans_of(plan)
        made = (self.spark, plan.running, plan.catalog, self.storage, self._root)
        return Pipeline(*made, groups, self.starts, spans, relations=self.relations)

    def _add_stream(self, name: str) -> None:
        known = self.state.streams.get(name, StreamState())
        self._inbox.add(self._pipeline.stream(name), self._pipeline.chains_of(name), known, self.state.plan)

    def _clean_chunks(self) -> None:
        """Remove chunks that neither the state nor a waiting batch knows, and notes of batches that are done."""
        known = {chunk.path for chunks in self.state.chains.values() for chunk in chunks}
        known |= {chunk.path for batch in self._inbox.waiting() for _, chunk in batch.chunks}
        for name in {keeper.chain.stream for keeper in self._pipeline.keepers.values()}:
            folder = chunk_folder(self.storage, name)
            for chain in self.storage.names(folder):
                if chain.endswith(".json"):
                    if int(chain[1:-5]) <= self.state.streams.get(name, StreamState()).batch:
                        self.storage.delete(f"{folder}/{chain}")
                    continue
                self._clean_folder(f"{folder}/{chain}", known)
        for name in self.storage.names(self.storage.path("partials")):
            self._clean_folder(self.storage.path("partials", name), known)

    def _clean_folder(self, folder: str, known: set[str]) -> None:
        for chunk in self.storage.names(folder):
            if f"{folder}/{chunk}" not in known:
                self.storage.delete(f"{folder}/{chunk}")

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
        self.relations.close()
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
        streams = {name for name in streams if plan.catalog.find(name) is not None}  # the others are results
        coming = [name for name in sorted(streams) if name not in self._inbox.streams]
        refuse_changed_columns(old, plan)
        refuse_changed_sources(old, plan, filter(self._inbox.has_read, self._inbox.streams))
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
        self._inbox.begin_to_count()
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
        pipeline, streams = self._pipeline, self.state.streams
        marks = {
            query: pipeline.mark(streams, frozenset().union(*map(pipeline.base_streams, self.starts[query].streams)))
            for query in handover.cuts
        }
        return all(mark is not None and mark >= handover.cuts[query] for query, mark in marks.items())

    # A step

    def drain(self) -> None:
        """Close every window, as though the streams had ended: what is settled by that is given in a last step."""
        highs = [known.high for known in self.state.streams.values() if known.high is not None]
        longest = self._pipeline.longest_wait
        if highs and longest is not None:
            end = max(highs)
            for name in self._pipeline.streams:
                self._inbox.raise_floor(name, end + longest + 1)
            self._step({}, end)

    def _step(self, taken: Taken, end: int | None = None) -> None:
        """Take batches; with an `end`, the streams have ended at that time."""
        began = time.perf_counter()
        number = self.state.step + 1
        self.log.begin(number, {name: [batch.number for batch in batches] for name, batches in taken.items()})
        reached("step-begun")
        self._pipeline.views.begin()
        new = self._new_chunks(taken)
        streams = self._streams_after(taken, end)
        work = Work(
            self.spark, self.storage, self.results, self._pipeline, number, new, self.state, streams, end is not None
        )
        outcome = work.do()
        state = self._after(streams, new, number, outcome)
        starts = self._starts_after(state)
        if starts != self.starts:
            state = replace(state, starts=self.plans.write_starts(state.plan, number, starts))
        self.log.commit(state)
        changed = _waiting(starts) != _waiting(self.starts)
        self.state, self.starts = state, starts
        reached("step-committed")
        if changed:  # what is complete by now is given from now on
            self._pipeline.close()
            self._pipeline = self._made_ready(self.plan)
        self._inbox.forget(taken)
        self._background.tidy()
        self._upkeep.start_merges(self._pipeline, self.state, settled=self.steps_since_migration >= _SETTLED)
        seconds = time.perf_counter() - began
        self.statistics.add(taken, seconds)
        if number % _NOTED == 0:
            self.statistics.write(self.storage)
        counts = dict(outcome.counts)
        total = counts.pop("")
        if self._on_step is not None and (taken or total):
            rows = {name: sum(batch.rows for batch in batches) for name, batches in taken.items()}
            self._on_step(StepReport(number, seconds, rows, total, counts))

    def _new_chunks(self, taken: Taken) -> New:
        """The chunks that come with batches, by chain."""
        new: New = {}
        for batches in taken.values():
            for batch in batches:
                for chain, chunk in batch.chunks:
                    keeper = self._pipeline.keepers.get(chain)
                    if keeper is None:  # it was read for queries that have left
                        self._background.bury([chunk.path])
                    else:
                        fits = batch.plan == self.state.plan or keeper.chain.rows
                        new.setdefault(chain, []).append(chunk if fits else chunk.under(keeper.chain, grown=True))
        return new

    def _streams_after(self, taken: Taken, end: int | None) -> dict[str, StreamState]:
        """How far the streams are when a step is done."""
        streams = _taken(self.state.streams, taken)
        self._let_idle_pass(streams, taken)
        if end is not None:
            longest = self._pipeline.longest_wait or 0
            for name in self._pipeline.streams:
                known = streams.get(name, StreamState())
                streams[name] = replace(known, floor=max(end + longest + 1, known.floor or EVER))
        lateness = {name: self._pipeline.stream(name).lateness for name in self._pipeline.streams}
        return {name: marked(known, lateness[name]) if name in lateness else known for name, known in streams.items()}

    # After a step

    def _after(self, streams: dict[str, StreamState], new: New, number: int, outcome: Outcome) -> State:
        """What is true when a step is done."""
        chains, trimmed = self._upkeep.needed(self._pipeline, self.state, streams, new)
        results = [*self.state.results, *outcome.shown]
        chains, results = self._background.put_in_place(chains, results, self._pipeline.keepers)
        totals = {name: self.state.counts.get(name, 0) + count for name, count in outcome.counts.items()}
        return replace(
            self.state,
            step=number,
            streams=streams,
            chains=chains,
            ranked={**self.state.ranked, **outcome.ranked},
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
            if start.counts:
                pipeline = self._pipeline
                marks = {c.stream: pipeline.mark(state.streams, pipeline.base_streams(c.stream)) for c in start.counts}
                start = start.counted(state.ranked, {name: mark for name, mark in marks.items() if mark is not None})
            if start.reads:
                start = start.read({name: found[name].complete for name in start.reads if name in found})
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


def _waiting(starts: dict[str, Start]) -> set[str]:
    """The queries of which it is not known yet since when they are complete."""
    return {query for query, start in starts.items() if start.complete is None}


def _paths(state: State) -> set[str]:
    return {chunk.path for chunks in state.chains.values() for chunk in chunks}
