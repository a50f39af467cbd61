"""A session: queries over a catalog, run on Spark over one state folder."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from penstock.api import CatalogLike, CompiledQueries, compiled
from penstock.catalog import Catalog, load_catalog
from penstock.compiler.program import Program, Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, did_you_mean
from penstock.grammar.parser import parse_statement
from penstock.grammar.source import Source
from penstock.project import FILE, find_project

if TYPE_CHECKING:
    from penstock.runtime.engine import Engine, StepReport
    from penstock.runtime.session import DataFrame, SparkSession


class QueryHandle:
    """A query of a session."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.name = name

    def results(self) -> DataFrame:
        """All the results so far, each once: `_ts` and the selected columns."""
        return self._session.results(self.name)

    @property
    def status(self) -> str:
        """`running`, `waiting` for a run, or `dropped`."""
        if self.name not in self._session.queries:
            return "dropped"
        return "running" if self._session.is_running else "waiting"


class Session:
    """Queries, a catalog, a state folder and a Spark session.

    `project` is a `penstock.yml` or the folder it is in; or give a catalog and a state folder. Queries are registered
    before a run; `run` works until the streams have ended (`once`), for a time, or until `stop`.
    """

    def __init__(
        self,
        project: str | os.PathLike[str] | None = None,
        *,
        catalog: CatalogLike = None,
        state: str | os.PathLike[str] | None = None,
        spark: SparkSession | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._spark = spark
        self._spark_settings: tuple[tuple[str, str], ...] = ()
        self._root: Path | None = None
        program = Program(Catalog(), Settings(), {})
        if project is not None:
            path = Path(project)
            found = find_project(path.parent if path.name == FILE else path)
            program = found.program()
            self._root = found.root
            self._spark_settings = found.spark
            state = state or found.state
        if catalog is not None:
            program = Program(load_catalog(catalog), program.settings, program.queries)
        if state is None:
            raise PenstockError(
                "a session needs a state folder", hint='Give  state="folder"  or a project.', label="no-state"
            )
        self.state_folder = str(state)
        self._program = Program(program.catalog, program.settings.with_all(settings or {}), program.queries)
        self._compiled: CompiledQueries | None = None
        self._engine: Engine | None = None
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._stop = threading.Event()
        self.on_step: Callable[[StepReport], None] | None = None

    # Queries

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries."""
        return tuple(self._program.queries)

    def register(self, name: str, text: str) -> QueryHandle:
        """Add a query; wrong text raises `PenstockError` and changes nothing."""
        self._refuse_while_running("added")
        script = Script(name, Source(f"<{name}>", text))
        added = read_program([script], self._program.catalog, self._program.settings)
        if len(added.queries) != 1:
            raise PenstockError(
                f"expected one query, found {len(added.queries)}",
                hint="Register queries one by one.",
                label="not-one-query",
            )
        definition = next(iter(added.queries.values()))
        taken = {known.lower(): known for known in self._program.queries}
        if definition.name.lower() in taken:
            raise PenstockError(
                f"there is a query called '{taken[definition.name.lower()]}' already",
                hint="Drop it first, or choose another name.",
                label="duplicate-query",
            )
        program = Program(added.catalog, added.settings, {**self._program.queries, definition.name: definition})
        result = compiled(program)
        self._program, self._compiled = program, result
        return QueryHandle(self, definition.name)

    def drop(self, name: str) -> None:
        """Remove a query."""
        self._refuse_while_running("dropped")
        known = self._known(name)
        rest = {key: value for key, value in self._program.queries.items() if key != known}
        self._program, self._compiled = Program(self._program.catalog, self._program.settings, rest), None

    def query(self, name: str) -> QueryHandle:
        """The handle of a query."""
        return QueryHandle(self, self._known(name))

    def _known(self, name: str) -> str:
        for known in self._program.queries:
            if known.lower() == name.lower():
                return known
        raise PenstockError(
            f"there is no query called '{name}'",
            hint=did_you_mean(name, self._program.queries) or "There are none.",
            label="unknown-query",
        )

    def _refuse_while_running(self, what: str) -> None:
        if self.is_running:
            raise PenstockError(
                f"queries cannot be {what} while the session runs yet",
                hint="Stop the session first.",
                label="running",
            )

    @property
    def compiled(self) -> CompiledQueries:
        """The queries, compiled together."""
        if self._compiled is None:
            self._compiled = compiled(self._program)
        return self._compiled

    # Running

    @property
    def spark(self) -> SparkSession:
        """The Spark session, made when it is first needed."""
        if self._spark is None:
            from penstock.runtime.session import spark_session

            self._spark = spark_session(self._spark_settings)
        return self._spark

    @property
    def is_running(self) -> bool:
        """Whether a run goes on."""
        return self._engine is not None

    def run(self, *, once: bool = False, drain: bool = False, seconds: float | None = None) -> None:
        """Run here: what is available (`once`, or `drain`, which also closes every window), or for some seconds.

        Without any of them it runs until `stop` is called from elsewhere.
        """
        deadline = None if seconds is None else time.monotonic() + seconds

        def over() -> bool:
            return self._stop.is_set() or (deadline is not None and time.monotonic() >= deadline)

        self._stop.clear()
        self._run(once or drain, over)

    def start(self) -> None:
        """Run in the background until `stop`."""
        self._refuse_while_running("started")
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
        """Stop after the step that is under way."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None
            self._raise_failure()

    def _run_quietly(self, ready: threading.Event) -> None:
        try:
            self._run(False, self._stop.is_set, ready.set)
        except BaseException as failure:
            self._failure = failure
        finally:
            ready.set()

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _run(self, once: bool, over: Callable[[], bool], ready: Callable[[], None] = lambda: None) -> None:
        from penstock.runtime.engine import Engine
        from penstock.runtime.lock import Lock
        from penstock.runtime.metrics import Metrics
        from penstock.runtime.supported import refuse_unsupported

        plan = self.compiled.physical
        refuse_unsupported(plan)
        if not plan.operators:
            raise PenstockError(
                "there is no query to run", hint="Put one into queries/name.cql, or register one.", label="no-query"
            )
        folder = _local(self.state_folder)
        lock = Lock(folder) if folder is not None else None
        if lock is not None:
            lock.acquire()
        metrics = Metrics(folder / "metrics") if folder is not None else None

        def note(report: StepReport) -> None:
            if metrics is not None and self._engine is not None:
                metrics.add(report, self._engine.state)
            if self.on_step is not None:
                self.on_step(report)

        try:
            engine = Engine(self.spark, plan, self._program.catalog, self.state_folder, root=self._root, on_step=note)
            self._engine = engine
            try:
                engine.open()
                engine.start(once=once)
                ready()
                engine.run(until=over)
            finally:
                engine.stop()
        finally:
            self._engine = None
            if lock is not None:
                lock.release()

    # Looking

    def results(self, name: str) -> DataFrame:
        """All committed results of a query, each once."""
        from penstock.runtime.log import Log
        from penstock.runtime.results import Results, of_query, result_groups
        from penstock.runtime.storage import Storage

        known = self._known(name)
        plan = self.compiled[known].logical
        storage = Storage(self.spark, self.state_folder)
        state = Log(storage).last()
        groups = result_groups(self.compiled.physical)
        own = next((str(i) for i, (_, targets) in enumerate(groups) if any(t.has(known) for t in targets)), None)
        rows = Results(self.spark, storage).read(folder for folder in state.results if folder.split("-")[-1] == own)
        columns = [(ref.name, type_) for ref, type_ in plan.schema.items()]
        if rows is None:
            fields = ", ".join(f"`{column}` {type_}" for column, type_ in [("_ts", "timestamp"), *columns])
            return self.spark.createDataFrame([], fields)
        return of_query(rows, known, columns)

    def execute(self, text: str) -> list[dict[str, Any]]:
        """Carry out a SHOW statement; what it shows, as rows."""
        statement = parse_statement(Source("<statement>", text))
        if isinstance(statement, ast.Show):
            return self._show(statement.what.upper())
        raise PenstockError(
            "only SHOW can be carried out by a session yet",
            hint="Use  register,  drop  and  run.",
            label="not-yet",
        )

    def _show(self, what: str) -> list[dict[str, Any]]:
        from penstock.runtime import metrics
        from penstock.runtime.log import Log
        from penstock.runtime.storage import Storage

        if what == "SETTINGS":
            return [{"setting": key, "value": value} for key, value in self._program.settings.shown().items()]
        if what == "RELATIONS":
            return [{"relation": relation.name} for relation in self._program.catalog.relations]
        plan = self.compiled.physical
        if what == "PLAN":
            return [{"plan": line} for line in self.compiled.explain("physical").splitlines()]
        engine = self._engine
        state = engine.state if engine is not None else Log(Storage(self.spark, self.state_folder)).last()
        tables = {
            "STREAMS": metrics.stream_table,
            "QUERIES": metrics.query_table,
            "SLICES": metrics.slice_table,
            "STATE": metrics.state_table,
        }
        return tables[what](plan, state)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _local(folder: str) -> Path | None:
    """The folder as a path of this machine, if it is one."""
    if folder.startswith("file:"):
        return Path(folder.removeprefix("file:").replace("///", "/"))
    return None if "://" in folder else Path(folder)
