"""Where statements are carried out: by the run that goes on over a project's state folder, or in a session here."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.answers import answer
from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source
from penstock.names import Names
from penstock.outcome import Outcome
from penstock.project import FILE, find_project
from penstock.session import Session
from penstock.verbosity import Verbosity, say
from penstock.watch import Watcher
from penstock.wire import Line, Message, address_of, call, error_of

if TYPE_CHECKING:
    from penstock.runtime.session import SparkSession

_KEPT = ("registered.json", "plans")
"""What of the state folder says which queries stand."""


@dataclass(frozen=True)
class Batch:
    """Some rows of results; `columns` are those of all the batches, and `said` what is to be said at the end."""

    columns: list[str]
    rows: list[list[Any]]
    said: str = ""


class Place:
    """Carries out statements for a project.

    If another process runs it, that process does, from the moment it is there to the moment it ends; else a session
    here. Both are asked in the same way, so that what is asked for can be given up at any time.
    """

    def __init__(self, folder: Path, spark: SparkSession | None = None) -> None:
        self._project = find_project(folder)
        self._address = address_of(self._project.state)
        self._spark = spark
        self._own: Session | None = None
        self._seen: object = None
        self._has_begun = False
        self._watching = ExitStack()
        if self.other_process is None:
            self._session()

    @property
    def name(self) -> str:
        """What the project is called."""
        return self._project.name

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self._project.root

    @property
    def other_process(self) -> int | None:
        """The process that runs the project, if another one does."""
        line = self._call()
        if line is None:
            return None
        with line, suppress(OSError):  # it may hang up at any time
            line.send({"do": "greet"})
            found = line.receive()
            return None if found is None else int(found["process"])
        return None

    @property
    def steps(self) -> int | None:
        """How many steps the run that was begun here has made; None if there is none."""
        own = self._own
        return own.state()[0].step if own is not None and own.is_running else None

    # Statements

    def execute(self, source: Source) -> Outcome:
        """Carry out a statement."""
        (reply,) = self._ask("execute", name=source.name, text=source.text)
        if self._own is not None:
            self._seen = self._look()
        return Outcome(reply["rows"], reply["said"])

    def names(self) -> Names:
        """The names that are known."""
        (reply,) = self._ask("names")
        return Names.of(reply["names"])

    def results(self, query: str, limit: int) -> Iterator[Batch]:
        """The last results of a query."""
        return self._batches("results", query=query, limit=limit)

    def tail(self, query: str) -> Iterator[Batch]:
        """The results of a query from now on."""
        return self._batches("tail", query=query)

    def select(self, source: Source) -> Iterator[Batch]:
        """The results, from now on, of a SELECT that stands for as long as they are read."""
        return self._batches("select", name=source.name, text=source.text)

    # A run here

    def start(self) -> None:
        """Begin a run here, in the background; the project's files are watched while it goes on."""
        other = self.other_process
        if other is not None:
            raise PenstockError(
                f"process {other} runs this project already",
                hint="Statements given here change that run; stop it where it was begun.",
                label="running",
            )
        session = self._session()
        if session.is_running:
            raise PenstockError("a run goes on here already", hint="End it with  .stop", label="running")
        session.refuse_unready(once=False)
        say("starting Spark", Verbosity.NORMAL if self._spark is None else Verbosity.VERBOSE)
        self._has_begun = True
        try:
            session.start()
        except BaseException:
            self.stop()
            raise
        self._spark = session.spark
        if session.project is not None:
            self._watching.enter_context(Watcher(session, session.project, say))

    def stop(self) -> bool:
        """End the run that was begun here, after the step that is under way; whether there was one.

        Raises what it has failed of.
        """
        if not self._has_begun or self._own is None:
            return False
        self._has_begun = False
        self._watching.close()
        try:
            self._own.stop()
        finally:
            self._seen = self._look()
        return True

    def look_after_the_run(self) -> None:
        """Raise what the run that was begun here has failed of, if it has."""
        if self._has_begun and self._own is not None and not self._own.is_running:
            self.stop()

    # Asking

    def _batches(self, do: str, **more: Any) -> Iterator[Batch]:
        columns: list[str] = []
        for reply in self._ask(do, **more):
            columns = reply.get("columns", columns)
            yield Batch(columns, reply.get("rows", []), reply.get("said", ""))

    def _ask(self, do: str, **more: Any) -> Iterator[Message]:
        """What is replied, until it is all; to stop reading is to give it up."""
        with self._line() as line, suppress(OSError):  # it may hang up at any time
            line.send({"do": do, **more})
            while (reply := line.receive()) is not None:
                if "done" in reply:
                    return
                if "error" in reply:
                    raise error_of(reply["error"])
                if "failure" in reply:
                    raise RuntimeError(reply["failure"])
                yield reply
        raise PenstockError(
            "the run has ended before it has answered",
            hint="Ask again: SHOW QUERIES shows what stands now.",
            label="failed",
        )

    def _call(self) -> Line | None:
        """A connection to the run of another process, if there is one."""
        return None if self._has_begun else call(self._address)

    def _line(self) -> Line:
        line = self._call()
        if line is not None:
            self._own = None  # what it knows is out of date from now on
            return line
        session = self._session()
        here, there = (Line(end) for end in socket.socketpair())
        threading.Thread(target=_answer, args=(session, there), name="penstock-answer", daemon=True).start()
        return here

    def _session(self) -> Session:
        """The session here; another one when files of the project or its state were changed from elsewhere."""
        self.look_after_the_run()
        if self._own is not None and self._own.is_running:
            return self._own
        seen = self._look()
        if self._own is None or seen != self._seen:
            self._own = Session(self._project.root, spark=self._spark)
            self._seen = seen
        return self._own

    def _look(self) -> object:
        """What the files look like that decide what a session knows."""
        project = self._project
        places = (project.root / FILE, project.catalog, project.queries, *(project.state / name for name in _KEPT))
        found = []
        for file in (file for place in places for file in (place, *place.rglob("*"))):
            with suppress(FileNotFoundError):  # it has just gone, or was never there
                status = file.stat()
                found.append((file, status.st_mtime_ns, status.st_size))
        return sorted(found)


def _answer(session: Session, line: Line) -> None:
    with suppress(OSError):
        message = line.receive()
        if message is not None:
            answer(session, line, message)
