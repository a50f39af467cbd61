"""Watching a project's query files while it runs: what appears, changes or disappears is registered, altered or
dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable

from penstock.compiler.program import Program
from penstock.grammar.errors import PenstockError, render
from penstock.project import Project
from penstock.session import Session

_EVERY = 0.25
Snapshot = dict[str, tuple[int, int]]


class Watcher:
    """Looks at the files now and then; a change counts when it is seen twice, so that no half file is read."""

    def __init__(self, session: Session, project: Project, say: Callable[[str], None]) -> None:
        self._session = session
        self._project = project
        self._say = say
        self._known: Snapshot | None = None  # the files may have changed since the session read them
        self._before = self._snapshot()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="penstock-watch", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def look(self) -> None:
        """Take over what has changed; a mistake is said and changes nothing."""
        seen = self._snapshot()
        steady, self._before = seen == self._before, seen
        if not steady or seen == self._known:
            return
        self._known = seen
        try:
            self._session.change(self._program())
        except PenstockError as error:
            self._say(f"{render(error)}\nNothing is changed; the queries that ran go on.")

    def _watch(self) -> None:
        while not self._stop.wait(_EVERY):
            self.look()

    def _program(self) -> Program:
        """What the files say, with what was given to the session otherwise."""
        program, own = self._project.program(), self._session.program
        catalog = program.catalog
        for entry in own.catalog.entries:
            if catalog.find(entry.name) is None and entry.origin is not None and entry.origin.source.name[:1] == "<":
                catalog = catalog.with_entry(entry)
        registered = {name: query for name, query in own.queries.items() if query.is_registered}
        return Program(catalog, program.settings, {**registered, **program.queries})

    def _snapshot(self) -> Snapshot:
        found = {}
        for file in self._project.query_files():
            try:
                status = file.stat()
            except FileNotFoundError:
                continue  # it has just gone
            found[file.name] = (status.st_mtime_ns, status.st_size)
        return found
