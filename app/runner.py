"""The runs of a session: one at a time, here or in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from penstock import learning
from penstock.grammar.errors import PenstockError
from penstock.serve import Server
from penstock.standing import run_plan
from penstock.texts import compiled_texts

if TYPE_CHECKING:
    from penstock.runtime.engine import Engine, Migration, StepReport
    from penstock.session import Session


class Runner:
    """Begins and ends runs, and tells the session what they do."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.engine: Engine | None = None
        """What runs; None when nothing does."""
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._stop = threading.Event()

    def run(self, *, once: bool, drain: bool, seconds: float | None) -> None:
        """Run here until the streams have ended, for some seconds, or until told to stop."""
        deadline = None if seconds is None else time.monotonic() + seconds

        def over() -> bool:
            return self._stop.is_set() or (deadline is not None and time.monotonic() >= deadline)

        self._stop.clear()
        with self._session.explaining("the run cannot go on"):
            self._run(once or drain, over, drain=drain)

    def start(self) -> None:
        """Run in the background until told to stop."""
        if self.engine is not None:
            raise PenstockError("the session runs already", hint="Stop it first.", label="running")
        self._stop.clear()
        self._failure = None
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run_quietly, args=(ready,), name="penstock", daemon=True)
        self._thread.start()
        ready.wait()
        self._raise_failure()

    def request_stop(self) -> None:
        """Ask the run to stop after the step that is under way, and do not wait for it."""
        self._stop.set()

    def stop(self) -> None:
        """Stop after the step that is under way; raises what a run in the background has failed of."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None
            self._raise_failure()

    def refuse_unready(self, *, once: bool) -> None:
        """Raise an error if a run cannot begin, as far as that can be told before Spark is there."""
        self._refuse_nothing_to_do(once=once)
        with self._session.folder.held():
            pass

    def _refuse_nothing_to_do(self, *, once: bool) -> None:
        if once and not self._session.compiled.physical.operators:
            raise PenstockError(
                "there is no query to run", hint="Put one into queries/name.cql, or register one.", label="no-query"
            )

    def _run_quietly(self, ready: threading.Event) -> None:
        try:
            with self._session.explaining("the run cannot go on"):
                self._run(False, self._stop.is_set, ready.set)
        except BaseException as failure:
            self._failure = failure
        finally:
            ready.set()

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _run(
        self, once: bool, over: Callable[[], bool], ready: Callable[[], None] = lambda: None, *, drain: bool = False
    ) -> None:
        from penstock.runtime.engine import Engine
        from penstock.runtime.metrics import Metrics

        self._refuse_nothing_to_do(once=once)
        session, standing, readers = self._session, self._session.standing, self._session.readers
        folder = session.folder.local
        with ExitStack() as stack:
            stack.enter_context(session.folder.held())
            if folder is not None:
                stack.callback(self._serve(folder))
            stack.callback(self._has_ended)
            session.take_what_was_kept()
            metrics = Metrics(session.folder.metrics) if session.folder.metrics is not None else None

            def note(report: StepReport) -> None:
                if metrics is not None and self.engine is not None:
                    metrics.add(report, self.engine.state)
                readers.tell()
                if session.on_step is not None:
                    session.on_step(report)
                if self.engine is not None and report.step % learning.LEARNED == 0:
                    learning.learn(standing, self.engine, self.say, adapt=True)

            engine = Engine(
                session.spark, session.folder.path, root=session.root, on_step=note, read_up_to=readers.read_up_to
            )
            stack.callback(engine.stop)
            with standing.changing:  # what changes from here on is a migration
                engine.open(run_plan(standing.compiled), lambda texts: run_plan(compiled_texts(texts)))
                self.engine = engine
                session.folder.kept().forget()
            engine.start(once=once)
            ready()
            engine.run(until=over)
            if drain and not over():
                engine.drain()
                engine.settle()
            learning.learn(standing, engine, self.say, adapt=False)

    def _serve(self, folder: Path) -> Callable[[], None]:
        """Let other processes attach to the run; what ends that, once it is over."""
        server = Server(self._session, folder)
        server.start()

        def end() -> None:
            server.stop()
            if server.has_changed:
                self._session.keep_what_is_not_in_force()  # what was asked for too late to be put in force

        return end

    def _has_ended(self) -> None:
        self.engine = None
        self._session.readers.run_has_ended()

    def say(self, migration: Migration) -> None:
        """Tell who wants to know that another plan is in force."""
        if self._session.on_migration is not None:
            self._session.on_migration(migration)
