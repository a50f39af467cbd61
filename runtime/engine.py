"""The engine: takes batches, makes steps, keeps the state, and goes on where an earlier run ended."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from penstock.catalog import Catalog, Stream
from penstock.compiler.explain import to_data
from penstock.compiler.logical import StreamScan
from penstock.compiler.physical import KeepChain, PhysicalPlan, Probe
from penstock.compiler.shared import Chain
from penstock.grammar.errors import PenstockError
from penstock.runtime.chunks import Batch, Chunk
from penstock.runtime.columns import QUERY, REACH, literal, quoted
from penstock.runtime.faults import reached
from penstock.runtime.ingest import Ingest
from penstock.runtime.log import Log, State, StreamState
from penstock.runtime.probe import Rows, Views, combinations
from penstock.runtime.propagate import Merge, due, merged
from penstock.runtime.reach import constant_reach, reach_sql
from penstock.runtime.results import Results, result_groups
from penstock.runtime.route import Columns, Router, Target
from penstock.runtime.sinks import sinks_of
from penstock.runtime.sources import explained, explanation, read_stream
from penstock.runtime.storage import Storage

_MOST_PENDING = 3
"""So many batches of a stream wait to be taken before the stream is held back."""
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
        self.plan = plan
        self.catalog = catalog
        self.root = root
        self.storage = Storage(spark, folder)
        self.results = Results(spark, self.storage)
        self.log = Log(self.storage)
        self._step_rows = step_rows
        self._parallelism = spark.sparkContext.defaultParallelism
        self._on_step = on_step
        self._keepers = {op.id: op for op in plan.of_kind(KeepChain) if isinstance(op, KeepChain)}
        self._probes = [op for op in plan.of_kind(Probe) if isinstance(op, Probe)]
        self._groups = [self._routers(columns, targets) for columns, targets in result_groups(plan)]
        self._sinks = [
            (self._routers(tuple((named.name, named.expr.type) for named in target.shape.columns), [target]), sink)
            for target, sink in sinks_of(plan, self.storage, root)
        ]
        self._views = Views(spark)
        self._streams = sorted({keeper.chain.stream for keeper in self._keepers.values()})
        self._news = threading.Condition()
        self._pending: dict[str, deque[Batch]] = {}
        self._noted: dict[str, int] = {}
        self._taking: set[str] = set()
        self._failures: dict[str, Exception] = {}
        self._queries: dict[str, StreamingQuery] = {}
        self._stopping = threading.Event()
        self._background = ThreadPoolExecutor(1, thread_name_prefix="penstock-merge")
        self._merges: dict[str, Future[tuple[Merge, Chunk | None]]] = {}
        self._result_merge: Future[tuple[list[str], str]] | None = None
        self._dead: list[str] = []
        self._replaced: list[str] = []
        self._seen: dict[str, float] = {}
        self.state = State()
        self._ingests: dict[str, Ingest] = {}

    # Opening: go on where the last run ended

    def open(self) -> None:
        """Read the log, tidy up after an interrupted run, and redo the step it was in."""
        self.state = self.log.last()
        self._check_plan()
        self.results.clean(self.state)
        for name in self._streams:
            known = self.state.streams.get(name, StreamState())
            chains = tuple(keeper for keeper in self._keepers.values() if keeper.chain.stream == name)
            ingest = Ingest(self._stream(name), chains, self.storage, known.high, known.floor)
            waiting = ingest.noted(after=known.batch)
            for batch in waiting:
                if batch.high is not None:
                    ingest.high = batch.high if ingest.high is None else max(ingest.high, batch.high)
            self._ingests[name] = ingest
            self._pending[name] = deque(waiting)
            self._noted[name] = waiting[-1].number if waiting else known.batch
        self._clean_chunks()
        begun = self.log.begun(self.state.step + 1)
        if begun is not None:
            taken = {
                name: [self._pending[name].popleft() for _ in numbers]
                for name, numbers in begun.items()
                if name in self._pending
            }
            self._step(taken)

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

    def _stream(self, name: str) -> Stream:
        entry = self.catalog.find(name)
        if not isinstance(entry, Stream):
            raise PenstockError(
                f"{name} is not a stream of the catalog",
                hint="Queries over other queries do not run yet.",
                label="not-a-stream",
            )
        return entry

    def _clean_chunks(self) -> None:
        """Remove chunks that neither the state nor a waiting batch knows."""
        known = {chunk.path for chunks in self.state.chains.values() for chunk in chunks}
        known |= {chunk.path for batches in self._pending.values() for batch in batches for _, chunk in batch.chunks}
        for name in self._streams:
            folder = self._ingests[name].folder
            for chain in self.storage.names(folder):
                if chain.endswith(".json"):
                    if int(chain[1:-5]) <= self.state.streams.get(name, StreamState()).batch:
                        self.storage.delete(f"{folder}/{chain}")
                    continue
                for chunk in self.storage.names(f"{folder}/{chain}"):
                    if f"{folder}/{chain}/{chunk}" not in known:
                        self.storage.delete(f"{folder}/{chain}/{chunk}")

    # Reading the streams

    def start(self, *, once: bool) -> None:
        """Begin to read every stream: what is there now, or for as long as the run goes on."""
        for name in self._streams:
            self._queries[name] = self._start(name, once)

    def _start(self, name: str, once: bool) -> StreamingQuery:
        stream = self._stream(name)
        rows = read_stream(self.spark, stream, self.root)
        writer = rows.writeStream.foreachBatch(self._taker(name)).queryName(f"penstock {name}")
        writer = writer.option("checkpointLocation", self.storage.path("checkpoints", quote(name, safe="")))
        writer = writer.trigger(availableNow=True) if once else writer.trigger(processingTime="0 seconds")
        assert stream.source is not None
        return explained(f"the stream {name}", stream.source, writer.start)

    def _taker(self, name: str) -> Callable[[DataFrame, int], None]:
        def take(rows: DataFrame, number: int) -> None:
            with self._news:
                if number <= self._noted[name]:
                    return  # it is waiting, or in the step that is under way, or done
                if self._stopping.is_set():
                    raise _Stopped
                self._taking.add(name)
            try:
                batch = self._ingests[name].take(rows, number)
            except Exception as error:
                self._failures[name] = error  # Spark would only pass on a traceback
                raise
            with self._news:
                self._pending[name].append(batch)
                self._noted[name] = number
                self._taking.discard(name)
                self._news.notify_all()
                while self._held_back(name) and not self._stopping.is_set():
                    self._news.wait(1.0)

        return take

    def _held_back(self, name: str) -> bool:
        waiting = self._pending[name]
        rows = sum(batch.rows for batch in waiting)
        return len(waiting) >= _MOST_PENDING and (rows >= self._step_rows or len(waiting) >= 64)

    # Running

    def run(self, *, until: Callable[[], bool] = lambda: False) -> None:
        """Make steps until the streams have ended, or until told to stop."""
        while not until():
            taken = self._next()
            if taken is None:
                self.settle()
                return
            if taken:
                self._step(taken)

    def _next(self) -> dict[str, list[Batch]] | None:
        """The batches of the next step, in the order of event time; None when there will be no more."""
        with self._news:
            self._check_streams()
            if not any(self._pending.values()):
                if all(not query.isActive for query in self._queries.values()):
                    self._check_streams()  # one may have failed since
                    return None if not any(self._pending.values()) else {}
                self._news.wait(0.05)
                return {}
            if not self._aligned():
                self._news.wait(0.02)
                return {}
            return self._take()

    def _take(self) -> dict[str, list[Batch]]:
        taken: dict[str, list[Batch]] = {}
        rows = 0
        while True:
            heads = {name: waiting[0] for name, waiting in self._pending.items() if waiting}
            if not heads:
                break
            name = min(heads, key=lambda name: (_low(heads[name]), name))
            size = heads[name].rows
            if taken and rows + size > self._step_rows:
                break
            taken.setdefault(name, []).append(self._pending[name].popleft())
            rows += size
            if not self._pending[name] and self._is_behind(name):
                break  # more of it may come that is older than what the others have
        self._news.notify_all()
        return taken

    def _aligned(self) -> bool:
        """Whether no stream that has rows waiting would run ahead of one whose rows are about to come."""
        return not any(not waiting and self._is_behind(name) for name, waiting in self._pending.items())

    def _is_behind(self, name: str) -> bool:
        query = self._queries.get(name)
        if query is None or not query.isActive:
            return False
        status = query.status
        begins = status["message"].startswith("Initializing")
        busy = status["isTriggerActive"] and "Waiting" not in status["message"]
        return bool(begins or busy or status["isDataAvailable"])

    def _check_streams(self) -> None:
        for name, query in self._queries.items():
            error = query.exception()
            if error is not None and not self._stopping.is_set():
                source = self._stream(name).source
                assert source is not None
                cause = self._failures.get(name, error)
                if isinstance(cause, PenstockError):
                    raise cause
                raise explanation(f"the stream {name}", source, cause) from error

    def stop(self) -> None:
        """Stop reading; what was read stays for the next run."""
        self._stopping.set()
        with self._news:
            self._news.notify_all()
        for query in self._queries.values():
            query.stop()
        self._background.shutdown(wait=True)
        for routers in (*self._groups, *(routers for routers, _ in self._sinks)):
            for _, router in routers:
                router.close()
        self._views.close()

    # A step

    def _step(self, taken: dict[str, list[Batch]]) -> None:
        began = time.perf_counter()
        number = self.state.step + 1
        self.log.begin(number, {name: [batch.number for batch in batches] for name, batches in taken.items()})
        reached("step-begun")
        self._views.begin()
        new: dict[str, list[Chunk]] = {}
        for batches in taken.values():
            for batch in batches:
                for chain, chunk in batch.chunks:
                    new.setdefault(chain, []).append(chunk)
        shown, counts = self._write_results(number, new)
        for routers, sink in self._sinks:
            found = self._result_rows(routers, new)
            if found is not None:
                sink.write(found, number)
        state = self._after(taken, new, number, shown, counts)
        self.log.commit(state)
        self.state = state
        reached("step-committed")
        for name, batches in taken.items():
            for batch in batches:
                self._ingests[name].forget(batch.number)
        self._tidy()
        if self._on_step is not None and taken:
            rows = {name: sum(batch.rows for batch in batches) for name, batches in taken.items()}
            total = counts.pop("", 0)
            self._on_step(StepReport(number, time.perf_counter() - began, rows, total, counts))

    def _write_results(self, number: int, new: dict[str, list[Chunk]]) -> tuple[list[str], dict[str, int]]:
        """Compute and show the results of a step; the folders, and the number of results by query and in all."""
        staged, counts = [], {"": 0}
        for group, routers in enumerate(self._groups):
            rows = self._result_rows(routers, new)
            if rows is None:
                continue
            targets = [target for _, router in routers for target in router.targets]
            queries = [member.query for target in targets for member in target.members]
            named = queries if len(queries) <= _MOST_COUNTED else []
            seen = Observation()
            measures = ["count(1)", *(f"count_if({QUERY} = {literal(query)})" for query in named)]
            observed = rows.observe(seen, F.expr(f"array({', '.join(measures)}) AS counts"))
            self.results.stage(observed.coalesce(self._tasks(new)), number, group)
            total, *by_query = seen.get["counts"]
            counts[""] += total
            counts |= dict(zip(named, by_query, strict=True))
            if total:
                staged.append(group)
        reached("results-staged")
        shown = [self.results.show(number, group) for group in staged]
        reached("results-moved")
        return shown, counts

    def _tasks(self, new: dict[str, list[Chunk]]) -> int:
        """How many tasks a step is worth: each costs as much as some ten thousand rows."""
        chunks = [*new.values(), *(self.state.chains.get(chain, ()) for chain in new)]
        rows = sum(chunk.rows for own in chunks for chunk in own)
        return max(1, min(self._parallelism, rows // _ROWS_PER_TASK))

    def _routers(self, columns: Columns, targets: list[Target]) -> list[tuple[Probe | KeepChain, Router]]:
        """What the rows of each join, or of a chain, are to be matched with."""
        found: list[tuple[Probe | KeepChain, Router]] = []
        for probe in self._probes:
            own = tuple(t for t in targets if (t.shape.scope, t.shape.source) == (probe.join.scope, probe.join.source))
            found += [(probe, Router(self.spark, own, columns))] if own else []
        for keeper in self._keepers.values():
            own = tuple(t for t in targets if _is_over(t, keeper.chain))
            found += [(keeper, Router(self.spark, own, columns))] if own else []
        return found

    def _result_rows(
        self, routers: list[tuple[Probe | KeepChain, Router]], new: dict[str, list[Chunk]]
    ) -> DataFrame | None:
        """The results that new rows give; None if there can be none."""
        texts = []
        for source, router in routers:
            if isinstance(source, Probe):
                rows = combinations(self._views, source.join, self._rows_of(source, new), uniform=router.uniform)
            else:
                rows = self._arrivals(source, router, new)
            if rows is not None:
                texts.append(router.routed(rows))
        return self.spark.sql(" UNION ALL ".join(texts)) if texts else None

    def _arrivals(self, keeper: KeepChain, router: Router, new: dict[str, list[Chunk]]) -> str | None:
        rows = self._rows(keeper, new)
        return self._views.rows(rows, rows.new, router.targets[0].shape.inputs[0].alias) if rows.new else None

    def _rows_of(self, probe: Probe, new: dict[str, list[Chunk]]) -> Callable[[StreamScan], Rows]:
        keepers = {
            keeper.chain.stream: keeper
            for keeper in self._keepers.values()
            if keeper.chain.scope == probe.join.scope and not keeper.chain.rows
        }
        return lambda scan: self._rows(keepers[scan.stream], new)

    def _rows(self, keeper: KeepChain, new: dict[str, list[Chunk]]) -> Rows:
        kept = self.state.chains.get(keeper.id, ())
        return Rows(keeper.chain, self._schema(keeper.chain), tuple(new.get(keeper.id, ())), kept)

    def _schema(self, chain: Chain) -> str:
        types = {column.name: column.type for column in self._stream(chain.stream).columns}
        fields = [f"{quoted(name)} {types[name]}" for name in chain.columns]
        return ", ".join([*fields, f"{REACH} bigint"] if constant_reach(chain) is None else fields)

    # After a step

    def _after(
        self,
        taken: dict[str, list[Batch]],
        new: dict[str, list[Chunk]],
        number: int,
        shown: list[str],
        counts: dict[str, int],
    ) -> State:
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
        with self._news:
            streams = self._past_idle(streams, taken)
        chains = dict(self.state.chains)
        for chain, keeper in self._keepers.items():
            chunks = [*chains.get(chain, ()), *new.get(chain, ())]
            horizon = self._horizon(keeper.chain, streams)
            live = [c for c in chunks if c.reach > 0 and not (horizon is not None and c.is_dead(horizon))]
            self._dead += [chunk.path for chunk in chunks if chunk not in live]
            chains[chain] = tuple(live)
        results = [*self.state.results, *shown]
        chains, results = self._merged_meanwhile(chains, results)
        totals = {name: self.state.counts.get(name, 0) + count for name, count in counts.items()}
        return State(number, self.fingerprint, streams, chains, tuple(results), {**self.state.counts, **totals})

    def _past_idle(self, streams: dict[str, StreamState], taken: dict[str, list[Batch]]) -> dict[str, StreamState]:
        """A stream without rows for longer than its idle timeout no longer holds the others back.

        Its watermark follows theirs; rows that come later than that after all are late.
        """
        now = time.monotonic()
        self._seen |= dict.fromkeys(taken, now)
        idle = {
            name
            for name in self._streams
            if (timeout := self._stream(name).idle_timeout) is not None
            and not self._pending[name]
            and name not in self._taking  # its rows were let in by the watermark of before
            and not self._is_behind(name)
            and now - self._seen.setdefault(name, now) > timeout / 1e6
        }
        marks = [
            known.high - self._stream(name).lateness
            for name, known in streams.items()
            if name not in idle and known.high is not None
        ]
        if idle and marks:
            for name in idle:
                known = streams.get(name, StreamState())
                streams[name] = replace(known, floor=max(min(marks), known.floor or min(marks)))
                self._ingests[name].floor = streams[name].floor
        return streams

    def _horizon(self, chain: Chain, streams: dict[str, StreamState]) -> int | None:
        """The time before which no row will come that could meet a row of this chain."""
        partners: set[str] = set()
        for probe in self._probes:
            names = [scan.stream for scan in probe.join.streams]
            if chain.stream in names and probe.join.scope == chain.scope:
                names.remove(chain.stream)
                partners |= set(names)
        marks = []
        for name in partners:
            known = streams.get(name, StreamState())
            own = [] if known.high is None else [known.high - self._stream(name).lateness]
            own += [] if known.floor is None else [known.floor]
            if not own:
                return None
            marks.append(max(own))
        return min(marks, default=None)

    def _merged_meanwhile(
        self, chains: dict[str, tuple[Chunk, ...]], results: list[str]
    ) -> tuple[dict[str, tuple[Chunk, ...]], list[str]]:
        """Put in place what the background has merged, if what it merged is still there."""
        self._replaced = []
        for chain in [chain for chain, future in self._merges.items() if future.done()]:
            merge, chunk = self._merges.pop(chain).result()
            paths = {old.path for old in merge.chunks}
            present = chains.get(chain, ())
            if paths <= {old.path for old in present}:
                kept = [old for old in present if old.path not in paths]
                chains = {**chains, chain: tuple([*kept, chunk] if chunk is not None else kept)}
                self._dead += list(paths)
            elif chunk is not None:
                self._dead.append(chunk.path)
        if self._result_merge is not None and self._result_merge.done():
            names, name = self._result_merge.result()
            self._result_merge = None
            self.results.swap(names, name)
            results = [name, *(old for old in results if old not in names)]
            self._replaced = names
        return chains, results

    def _tidy(self) -> None:
        """After a commit: remove what nobody needs any more, and look for something to merge."""
        self.results.forget(self._replaced)
        if not self._merges:  # one under way may read what is dead
            for path in self._dead:
                self.storage.delete(path)
            self._dead.clear()
        self._start_merges()
        if self._result_merge is None and (names := self.results.due(self.state)):
            self._result_merge = self._background.submit(lambda: (names, self.results.merge(names)))

    def _start_merges(self) -> None:
        for chain, keeper in self._keepers.items():
            if chain not in self._merges:
                chunks = self.state.chains.get(chain, ())
                merge = due(chain, keeper.chain, chunks, self._horizon(keeper.chain, self.state.streams))
                if merge is not None:
                    self._merges[chain] = self._background.submit(self._run_merge, merge, keeper)

    def settle(self) -> None:
        """Finish what is to be merged, so that the state is as small as it can be."""
        while self._merges or self._result_merge is not None:
            under_way: list[Future[Any]] = list(self._merges.values())
            under_way += [self._result_merge] if self._result_merge is not None else []
            wait(under_way)
            self._step({})

    def _run_merge(self, merge: Merge, keeper: KeepChain) -> tuple[Merge, Chunk | None]:
        path = f"{self._ingests[keeper.chain.stream].folder}/{keeper.id}/m{self.state.step:010}"
        return merge, merged(self.spark, merge, keeper.chain, self._schema(keeper.chain), path)

    @property
    def fingerprint(self) -> str:
        """What the state was made for."""
        tags = [reach_sql(keeper.chain) for keeper in self._keepers.values()]
        text = "\n".join([json.dumps(to_data(self.plan)), *tags])
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class _Stopped(Exception):
    """Raised into a stream's reader to end it without taking its batch."""


def _is_over(target: Target, chain: Chain) -> bool:
    """Whether a template takes the rows of a chain as they come, without a join."""
    shape = target.shape
    if len(shape.inputs) != 1 or shape.scope != chain.scope:
        return False
    scan = shape.inputs[0]
    return isinstance(scan, StreamScan) and scan.stream == chain.stream


def _low(batch: Batch) -> int:
    return batch.low if batch.low is not None else -(2**62)
