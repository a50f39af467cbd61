"""Results as they come: what every step commits, given to those who wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from penstock.runtime.log import State
    from penstock.runtime.session import DataFrame, Row
    from penstock.session import Session


class Readers:
    """Those who take results step by step: how far they have read, and the news that there are more."""

    def __init__(self) -> None:
        self.news = threading.Condition()
        self.runs = 0
        """How many runs have ended."""
        self._read: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    def tell(self) -> None:
        """Wake everyone up: a step is done."""
        with self.news:
            self.news.notify_all()

    def run_has_ended(self) -> None:
        """Wake everyone up: for now nothing more comes."""
        with self.news:
            self.runs += 1
            self.news.notify_all()

    def read_up_to(self) -> int | None:
        """The step up to which everyone has read; None if there is nobody."""
        return min(list(self._read.values()), default=None)

    def has_read(self, reader: object, step: int) -> None:
        """Take note of how far somebody has read; what comes after that is kept apart."""
        self._read[reader] = step

    def leave(self, reader: object) -> None:
        """Somebody reads no more."""
        self._read.pop(reader, None)


class Live:
    """The results of one query that steps commit from now on, each once; it ends when the run does, or the query goes.

    Without a run it gives what has been committed since it was made, or waits for one.
    """

    def __init__(
        self, session: Session, query: str, columns: list[tuple[str, str]], *, from_start: bool, waits: bool
    ) -> None:
        self._session = session
        self._runs = session.readers.runs if waits else None
        self._query = query
        self._columns = columns
        self._closed = False
        session.readers.has_read(self, 0)  # before it is asked how far the run is: nothing is merged meanwhile
        self._read = 0 if from_start else session.state()[0].step
        session.readers.has_read(self, self._read)

    def __iter__(self) -> Iterator[Row]:
        for rows in self.batches():
            yield from rows.orderBy("_ts").toLocalIterator()

    def batches(self) -> Iterator[DataFrame]:
        """What has come since the last one, as soon as there is something."""
        try:
            while (state := self._next()) is not None:
                rows = self._session.committed(state, self._query, self._columns, after=self._read)
                if not rows.isEmpty():
                    yield rows
                self._read = state.step
                self._session.readers.has_read(self, state.step)
        finally:
            self.close()

    def _next(self) -> State | None:
        """The state when it is one whose results have not been read; None when there are no more to come."""
        with self._session.readers.news:
            while not self._closed:
                over = self._is_over()  # asked first: the last step is done before the run has ended
                state = self._session.state()[0]
                if state.step > self._read:
                    return state
                if over:
                    return None
                self._session.readers.news.wait()
        return None

    def _is_over(self) -> bool:
        """Whether nothing more will come: the query is gone, or the run has ended."""
        if self._query not in self._session.queries:
            return True
        if self._runs is None:
            return not self._session.is_running
        return self._session.readers.runs > self._runs

    def close(self) -> None:
        """Wait no more."""
        self._closed = True
        self._session.readers.leave(self)
        self._session.readers.tell()


class Subscription:
    """A function that is called with new results, in a thread of its own, until `stop` or the end of a run."""

    def __init__(self, live: Live, callback: Callable[[DataFrame], None]) -> None:
        self._live = live
        self._callback = callback
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="penstock-live", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            for rows in self._live.batches():
                self._callback(rows)
        except BaseException as failure:
            self._failure = failure

    def wait(self) -> None:
        """Wait until the run has ended and everything has been given; raises what the function raised."""
        self._thread.join()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def stop(self) -> None:
        """Give no more; raises what the function raised."""
        self._live.close()
        if threading.current_thread() is not self._thread:
            self.wait()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
