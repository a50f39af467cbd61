"""The inbox: reads every stream, and hands out the batches of the next step in the order of event time."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.catalog import Stream
from penstock.compiler.physical import KeepChain
from penstock.grammar.errors import PenstockError
from penstock.runtime.chunks import Batch
from penstock.runtime.ingest import Ingest, forget
from penstock.runtime.intact import refuse_lost_checkpoint
from penstock.runtime.log import StreamState
from penstock.runtime.migrate import Reading
from penstock.runtime.records import damaged
from penstock.runtime.relations import Relations
from penstock.runtime.sources import explained, explanation, read_stream
from penstock.runtime.storage import Storage

_MOST_PENDING = 3
"""So many batches of a stream wait to be taken before the stream is held back."""
Taken = dict[str, list[Batch]]
"""Batches by stream."""


class Inbox:
    """The streams in use, their readers, and the batches that wait to be taken."""

    def __init__(
        self, spark: SparkSession, storage: Storage, root: Path | None, step_rows: int, relations: Relations
    ) -> None:
        self._spark = spark
        self._storage = storage
        self._root = root
        self._step_rows = step_rows
        self._relations = relations
        self._once: bool | None = None
        self._ingests: dict[str, Ingest] = {}
        self._pending: dict[str, deque[Batch]] = {}
        self._noted: dict[str, int] = {}
        self._taking: dict[str, int] = {}
        self._leaving: set[str] = set()
        self._failures: dict[str, Exception] = {}
        self._readers: dict[str, StreamingQuery] = {}
        self._with_positions: set[str] = set()
        self._seen: dict[str, float] = {}
        self._stopping = threading.Event()
        self.news = threading.Condition()
        """Told whenever a batch has come, or anything else that the engine waits for."""

    # Streams come and go

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams in use."""
        return tuple(self._ingests)

    def has_read(self, name: str) -> bool:
        """Whether anything of a stream has been read."""
        return self._noted[name] >= 0

    def add(self, stream: Stream, chains: tuple[KeepChain, ...], known: StreamState, plan: int) -> None:
        """Take in a stream from where it was left; reading begins with `start`, or now if that was long ago."""
        ingest = Ingest(stream, chains, self._storage, self._relations, known.high, known.floor, plan)
        waiting = ingest.noted(after=known.batch)
        for batch in waiting:
            if batch.high is not None:
                ingest.high = batch.high if ingest.high is None else max(ingest.high, batch.high)
        with self.news:
            self._ingests[stream.name] = ingest
            self._pending[stream.name] = deque(waiting)
            self._noted[stream.name] = waiting[-1].number if waiting else known.batch
        if self._once is not None:
            self._readers[stream.name] = self._reader(stream.name, self._once)

    def check(self, stream: Stream) -> None:
        """Raise an error if a stream cannot be read."""
        read_stream(self._spark, stream, self._root)

    def use(self, chains: Mapping[str, tuple[KeepChain, ...]], plan: int) -> None:
        """From now on read for these chains of every stream; what is being read is still for those of before."""
        for name, own in chains.items():
            if name in self._ingests:
                self._ingests[name].chains, self._ingests[name].plan = own, plan

    def begin_to_count(self) -> None:
        """Where rows must be counted now and were not, read the streams anew, with the positions of rows."""
        for name in [name for name in self._readers if self._are_counted(name) and name not in self._with_positions]:
            with self.news:
                self._leaving.add(name)
                self.news.notify_all()
            self._readers.pop(name).stop()
            with self.news:
                self.news.wait_for(partial(self._is_not_taking, name))
                self._leaving.discard(name)
                self._failures.pop(name, None)
            assert self._once is not None
            self._readers[name] = self._reader(name, self._once)

    def _is_not_taking(self, name: str) -> bool:
        return name not in self._taking

    def _are_counted(self, name: str) -> bool:
        return any(keeper.chain.rows for keeper in self._ingests[name].chains)

    def remove(self, names: Iterable[str]) -> Taken:
        """Stop reading streams; what was read of them and not taken."""
        leaving = [name for name in names if name in self._ingests]
        with self.news:
            self._leaving |= set(leaving)
            self.news.notify_all()
        for name in leaving:
            if name in self._readers:
                self._readers.pop(name).stop()
        with self.news:
            self.news.wait_for(lambda: not any(name in self._taking for name in leaving))
            self._leaving -= set(leaving)
            for name in leaving:
                del self._ingests[name], self._noted[name]
                self._failures.pop(name, None)
            return {name: list(self._pending.pop(name)) for name in leaving}

    def readings(self) -> dict[str, Reading]:
        """How far every stream has been read; `news` must be held, so that nothing is read meanwhile."""
        return {name: Reading(ingest.high, self._taking.get(name)) for name, ingest in self._ingests.items()}

    def wait_until_read(self, names: Iterable[str]) -> None:
        """Wait until nothing of these streams is being read; `news` must be held."""
        waited = set(names)
        self.news.wait_for(lambda: not waited & set(self._taking))

    def start(self, *, once: bool) -> None:
        """Begin to read every stream: what is there now, or for as long as the run goes on."""
        self._once = once
        for name in self._ingests:
            self._readers[name] = self._reader(name, once)

    def stop(self) -> None:
        """Stop reading; what was read stays for the next run."""
        self._stopping.set()
        with self.news:
            self.news.notify_all()
        while self._readers:  # a reader holds on to this, and Spark to the reader: let go of it
            self._readers.popitem()[1].stop()

    # Reading

    def _reader(self, name: str, once: bool) -> StreamingQuery:
        stream = self._ingests[name].stream
        refuse_lost_checkpoint(self._storage, name, self._noted[name])
        positions = self._are_counted(name)
        if positions:
            self._with_positions.add(name)
        else:
            self._with_positions.discard(name)
        rows = read_stream(self._spark, stream, self._root, positions=positions)
        writer = rows.writeStream.foreachBatch(self._taker(name)).queryName(f"penstock {name}")
        writer = writer.option("checkpointLocation", self._storage.path("checkpoints", quote(name, safe="")))
        writer = writer.trigger(availableNow=True) if once else writer.trigger(processingTime="0 seconds")
        assert stream.source is not None
        return explained(f"the stream {name}", stream.source, writer.start)

    def _taker(self, name: str) -> Callable[[DataFrame, int], None]:
        def take(rows: DataFrame, number: int) -> None:
            with self.news:
                if number <= self._noted[name]:
                    return  # it is waiting, or in the step that is under way, or done
                if self._stopping.is_set() or name in self._leaving:
                    raise _Stopped
                self._taking[name] = number
            try:
                batch = self._ingests[name].take(rows, number)
            except Exception as error:
                with self.news:
                    self._failures[name] = error  # Spark would only pass on a traceback
                    del self._taking[name]
                    self.news.notify_all()
                raise
            with self.news:
                self._pending[name].append(batch)
                self._noted[name] = number
                del self._taking[name]
                self.news.notify_all()
                while name not in self._leaving and self._held_back(name) and not self._stopping.is_set():
                    self.news.wait(1.0)

        return take

    def _held_back(self, name: str) -> bool:
        waiting = self._pending[name]
        rows = sum(batch.rows for batch in waiting)
        return len(waiting) >= _MOST_PENDING and (rows >= self._step_rows or len(waiting) >= 64)

    # Taking

    def next(self, asked: Callable[[], bool]) -> Taken | None:
        """The batches of the next step, in the order of event time; None when there will be no more.

        No batch if there is nothing to take yet, or if something else is asked of the engine.
        """
        with self.news:
            self._check_streams()
            if asked():
                return {}
            if not any(self._pending.values()):
                if self._once and all(not reader.isActive for reader in self._readers.values()):
                    self._check_streams()  # one may have failed since
                    return None if not any(self._pending.values()) else {}
                self.news.wait(0.05)
                return {}
            if not self._aligned():
                self.news.wait(0.02)
                return {}
            return self._take()

    def again(self, begun: dict[str, list[int]]) -> Taken:
        """The batches that a step had taken when it was interrupted."""
        for name, numbers in begun.items():
            waiting = [batch.number for batch in self._pending.get(name, ())]
            if name in self._pending and waiting[: len(numbers)] != numbers:
                folder = self._ingests[name].folder
                raise damaged(folder, f"the step under way took the batches {numbers}, and {waiting} are there")
        return {
            name: [self._pending[name].popleft() for _ in numbers]
            for name, numbers in begun.items()
            if name in self._pending
        }

    def forget(self, taken: Taken) -> None:
        """Remove the notes of batches that the log has taken over."""
        for name, batches in taken.items():
            for batch in batches:
                forget(self._storage, name, batch.number)

    def waiting(self) -> Iterable[Batch]:
        """The batches that wait to be taken."""
        return (batch for batches in self._pending.values() for batch in batches)

    def idle(self, taken: Taken) -> list[Stream]:
        """The streams that have had no row for longer than their idle timeout, and none on its way."""
        now = time.monotonic()
        self._seen |= dict.fromkeys(taken, now)
        with self.news:
            return [
                ingest.stream
                for name, ingest in self._ingests.items()
                if (timeout := ingest.stream.idle_timeout) is not None
                and not self._pending[name]
                and name not in self._taking  # its rows were let in by the watermark of before
                and not self._is_behind(name)
                and now - self._seen.setdefault(name, now) > timeout / 1e6
            ]

    def raise_floor(self, name: str, floor: int) -> None:
        """No row of a stream before this time is taken any more."""
        self._ingests[name].floor = floor

    def _take(self) -> Taken:
        taken: Taken = {}
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
        self.news.notify_all()
        return taken

    def _aligned(self) -> bool:
        """Whether no stream that has rows waiting would run ahead of one whose rows are about to come."""
        return not any(not waiting and self._is_behind(name) for name, waiting in self._pending.items())

    def _is_behind(self, name: str) -> bool:
        reader = self._readers.get(name)
        if reader is None or not reader.isActive:
            return False
        status = reader.status
        begins = status["message"].startswith("Initializing")
        busy = status["isTriggerActive"] and "Waiting" not in status["message"]
        return bool(begins or busy or status["isDataAvailable"])

    def _check_streams(self) -> None:
        for name, reader in self._readers.items():
            error = reader.exception()
            if error is not None and not self._stopping.is_set():
                source = self._ingests[name].stream.source
                assert source is not None
                cause = self._failures.get(name, error)
                if isinstance(cause, PenstockError):
                    raise cause
                raise explanation(f"the stream {name}", source, cause) from error


class _Stopped(Exception):
    """Raised into a stream's reader to end it without taking its batch."""


def _low(batch: Batch) -> int:
    return batch.low if batch.low is not None else -(2**62)
