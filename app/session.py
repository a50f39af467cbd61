"""A session: queries over a catalog, run on Spark over one state folder, changed while they run."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

from penstock.api import CatalogLike, CompiledQueries, compiled
from penstock.catalog import Catalog, load_catalog
from penstock.compiler.adapt import is_worth
from penstock.compiler.program import Definition, Program, Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.errors import PenstockError, did_you_mean
from penstock.grammar.source import Source
from penstock.live import Live, Readers, Subscription
from penstock.project import FILE, Project, find_project
from penstock.statements import carry_out, with_window
from penstock.texts import compiled_texts, texts_of, with_registered
from penstock.verbosity import Verbosity, say, verbosity

if TYPE_CHECKING:
    from penstock.compiler.estimate import Measured
    from penstock.compiler.warm import Start
    from penstock.runtime.engine import Engine, Migration, StepReport
    from penstock.runtime.log import State
    from penstock.runtime.plans import RunPlan
    from penstock.runtime.session import DataFrame, Row, SparkSession
    from penstock.runtime.spark_log import SparkLog
    from penstock.runtime.storage import Storage

_LEARNED = 16
"""After so many steps what has been measured is taken over; a plan is in force for at least as many."""


class QueryHandle:
    """A query of a session."""

    def __init__(self, session: Session, name: str, columns: list[tuple[str, str]]) -> None:
        self._session = session
        self._columns = columns
        self.name = name

    def results(self) -> DataFrame:
        """All the results so far, each once: `_ts` and the selected columns.

        Spark reads them when something is done with them. While a run goes on their files are merged now and then, so
        do that soon, or ask again.
        """
        return self._session.results(self.name, self._columns)

    @overload
    def stream(self, callback: None = None, *, from_start: bool = False) -> Iterator[Row]: ...
    @overload
    def stream(self, callback: Callable[[DataFrame], None], *, from_start: bool = False) -> Subscription: ...
    def stream(
        self, callback: Callable[[DataFrame], None] | None = None, *, from_start: bool = False
    ) -> Iterator[Row] | Subscription:
        """The results that are committed from now on, each once, as they come; `from_start`, those before them too.

        Without a `callback`, an iterator of rows, which waits for more while a run goes on. With one, it is called with
        a DataFrame of what is new, in a thread of its own, until `stop` of what is returned, or the end of a run.
        """
        waits = callback is not None
        live = Live(self._session, self.name, self._columns, from_start=from_start, waits=waits)
        return iter(live) if callback is None else Subscription(live, callback)

    @property
    def status(self) -> str:
        """`running`, `waiting` for a run, or `dropped`."""
        if self.name not in self._session.queries:
            return "dropped"
        return "running" if self._session.is_running else "waiting"

    @property
    def complete_from(self) -> str | None:
        """The time from which on the results are complete, `the start`, or None if that is not known yet."""
        rows = self._session.execute("SHOW QUERIES")
        found: str | None = next((row["complete from"] for row in rows if row["query"] == self.name), None)
        return found


class Session:
    """Queries, a catalog, a state folder and a Spark session.

    `project` is a `penstock.yml` or the folder it is in; or give a catalog and a state folder. Queries are registered,
    altered and dropped at any time; those that were registered stand until they are dropped, also over the end of the
    session. `run` works until the streams have ended (`once`), for a time, or until `stop`.
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
        self.project: Project | None = None
        program = Program(Catalog(), Settings(), {})
        if project is not None:
            path = Path(project)
            self.project = find_project(path.parent if path.name == FILE else path)
            program = self.project.program()
            self._root = self.project.root
            self._spark_settings = self.project.spark
            state = state or self.project.state
        if catalog is not None:
            program = Program(load_catalog(catalog), program.settings, program.queries)
        if state is None:
            raise PenstockError(
                "a session needs a state folder", hint='Give  state="folder"  or a project.', label="no-state"
            )
        local = _local(str(state))  # Spark may have been started in another folder
        self.state_folder = str(state) if local is None else str(local.resolve())
        self._program = replace(program, settings=program.settings.with_all(settings or {}))
        self._compiled: CompiledQueries | None = None
        self._changing = threading.RLock()
        self._engine: Engine | None = None
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._stop = threading.Event()
        self.readers = Readers()
        self.on_step: Callable[[StepReport], None] | None = None
        self.on_migration: Callable[[Migration], None] | None = None
        self._restored: set[str] = set()
        with self.explaining(f"the state folder {self.state_folder} cannot be used"):
            self._restore()

    def _restore(self) -> None:
        """Take over the queries that were registered before."""
        texts = self._texts_in_force()
        if texts is not None:
            files = set(self._program.queries)
            self._program = with_registered(self._program, texts)
            self._restored = set(self._program.queries) - files

    def _texts_in_force(self) -> dict[str, Any] | None:
        """What the plan in force in the state folder was made from."""
        from penstock.runtime.log import Log
        from penstock.runtime.plans import Plans

        storage = self._storage()
        version = Log(storage).last().plan
        return Plans(storage).read(version) if version else None

    # Queries

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries."""
        return tuple(self._program.queries)

    @property
    def program(self) -> Program:
        """The catalog, the settings and the queries."""
        return self._program

    def register(self, name: str, text: str) -> QueryHandle:
        """Add a query, at once if a run goes on; wrong text raises `PenstockError` and changes nothing.

        The same query again changes nothing.
        """
        with self._changing:
            program, definition = self.with_definition(name, text)
            taken = {known.lower(): known for known in self._program.queries}
            before = taken.get(definition.name.lower())
            if before is not None and before not in self._restored:
                same_name = replace(definition, name=before)
                again = self.compiled.changed(replace(program, queries={before: same_name}))
                if _meaning(again, before) != _meaning(self.compiled, before):
                    raise PenstockError(
                        f"there is a query called '{before}' already",
                        hint="Alter it, drop it first, or choose another name.",
                        label="duplicate-query",
                    )
                return self.query(before)
            self.change(program)
            self._restored.discard(definition.name)
            return self.query(definition.name)

    def alter(self, name: str, text: str | None = None, *, window: str | None = None) -> QueryHandle:
        """Put another query, or another window, in place of a query's own, at once if a run goes on."""
        with self._changing:
            known = self._known(name)
            if (text is None) == (window is None):
                raise PenstockError(
                    "give either a text or a window", hint='Write  alter("hot", window="10 min").', label="bad-alter"
                )
            changed = text if text is not None else with_window(self._program.queries[known], window or "")
            program, definition = self.with_definition(known, changed)
            if definition.name != known:
                raise PenstockError(
                    f"the text is of a query called '{definition.name}', not '{known}'",
                    hint="Give the SELECT alone, or register a new query.",
                    label="other-name",
                )
            self.change(program)
            return self.query(known)

    def drop(self, name: str) -> None:
        """Remove a query, at once if a run goes on; its results so far stay."""
        with self._changing:
            self.change(self._program.without_query(self._known(name)))

    def query(self, name: str) -> QueryHandle:
        """The handle of a query."""
        known = self._known(name)
        return QueryHandle(self, known, _columns(self.compiled, known))

    def with_definition(self, name: str, text: str) -> tuple[Program, Definition]:
        """The program with the query that a text defines, in place of the one of that name if there is one."""
        script = Script(name, Source(f"<{name}>", text))
        added = read_program([script], self._program.catalog, self._program.settings)
        if len(added.queries) != 1:
            raise PenstockError(
                f"expected one query, found {len(added.queries)}",
                hint="Register queries one by one.",
                label="not-one-query",
            )
        (definition,) = added.queries.values()
        program = Program(added.catalog, added.settings, self._program.queries)
        return program.with_query(definition), definition

    def change_by(self, make: Callable[[], Program]) -> Migration | None:
        """Change the program into another one that is made from it."""
        with self._changing:
            return self.change(make())

    def change(self, program: Program) -> Migration | None:
        """Put another program in place of this one; if a run goes on, between two of its steps.

        A mistake in it raises `PenstockError` and changes nothing.
        """
        with self._changing:
            changed = self.compiled.changed(program)
            engine, migration = self._engine, None
            if engine is not None:
                plan = _run_plan(changed)
                if plan.texts != engine.plan.texts:
                    migration = engine.migrate(plan)
                else:
                    changed = self.compiled  # the plan in force, whatever has been measured since
            self._program, self._compiled = program, changed
            if migration is not None and self.on_migration is not None:
                self.on_migration(migration)
            return migration

    def _known(self, name: str) -> str:
        for known in self._program.queries:
            if known.lower() == name.lower():
                return known
        raise PenstockError(
            f"there is no query called '{name}'",
            hint=did_you_mean(name, self._program.queries) or "There are none.",
            label="unknown-query",
        )

    @property
    def compiled(self) -> CompiledQueries:
        """The queries, compiled together."""
        if self._compiled is None:  # no lock once they are: a step may ask while a change waits for its end
            with self._changing:
                self._compiled = self._compiled or compiled(self._program, measured=self._measured_before())
        return self._compiled

    # Running

    @property
    def spark(self) -> SparkSession:
        """The Spark session, made when it is first needed."""
        if self._spark is None:
            from penstock.runtime.session import spark_session

            self._spark = spark_session(self._spark_settings, log=self._spark_log())
        return self._spark

    def _spark_log(self) -> SparkLog:
        """What is wanted of Spark's log."""
        from penstock.runtime.spark_log import SparkLog

        if verbosity() is not Verbosity.DEBUG:
            return SparkLog("warn" if verbosity() is Verbosity.VERBOSE else "off")
        folder = _local(self.state_folder) or Path(tempfile.gettempdir())
        file = folder / "logs" / "spark.log"
        say(f"Spark's log: {file}")
        return SparkLog(file=file)

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
        with self.explaining("the run cannot go on"):
            self._run(once or drain, over, drain=drain)

    def refuse_unready(self, *, once: bool) -> None:
        """Raise an error if a run cannot begin, as far as that can be told before Spark is there."""
        self._refuse_nothing_to_do(once=once)
        folder = _local(self.state_folder)
        if folder is not None:
            from penstock.runtime.lock import Lock

            lock = Lock(folder)
            lock.acquire()
            lock.release()

    def _refuse_nothing_to_do(self, *, once: bool) -> None:
        if once and not self.compiled.physical.operators:
            raise PenstockError(
                "there is no query to run", hint="Put one into queries/name.cql, or register one.", label="no-query"
            )

    def start(self) -> None:
        """Run in the background until `stop`."""
        if self.is_running:
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
        """Stop after the step that is under way."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None
            self._raise_failure()

    def _run_quietly(self, ready: threading.Event) -> None:
        try:
            with self.explaining("the run cannot go on"):
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
        from penstock.runtime.lock import Lock
        from penstock.runtime.metrics import Metrics

        self._refuse_nothing_to_do(once=once)
        folder = _local(self.state_folder)
        lock = Lock(folder) if folder is not None else None
        if lock is not None:
            lock.acquire()
        metrics = Metrics(folder / "metrics") if folder is not None else None

        def note(report: StepReport) -> None:
            if metrics is not None and self._engine is not None:
                metrics.add(report, self._engine.state)
            self.readers.tell()
            if self.on_step is not None:
                self.on_step(report)
            if self._engine is not None and report.step % _LEARNED == 0:
                self._learn(self._engine, adapt=self._adapts)

        try:
            read_up_to = self.readers.read_up_to
            engine = Engine(self.spark, self.state_folder, root=self._root, on_step=note, read_up_to=read_up_to)
            try:
                with self._changing:  # what changes from here on is a migration
                    engine.open(_run_plan(self.compiled), lambda texts: _run_plan(compiled_texts(texts)))
                    self._engine = engine
                engine.start(once=once)
                ready()
                engine.run(until=over)
                if drain and not over():
                    engine.drain()
                    engine.settle()
                self._learn(engine, adapt=False)
            finally:
                engine.stop()
        finally:
            self._engine = None
            self.readers.run_has_ended()
            if lock is not None:
                lock.release()

    @contextmanager
    def explaining(self, what: str) -> Iterator[None]:
        """Say failures of Spark and of the system in one sentence that begins with `what` cannot be done.

        The whole of it is kept in a file of the state folder.
        """
        try:
            yield
        except Exception as error:
            if isinstance(error, PenstockError) and error.__cause__ is None:
                raise
            from penstock.runtime.failures import comes_from_spark, failure, keep_details
            from penstock.runtime.records import damaged

            if isinstance(error, FileNotFoundError) and str(error.filename).startswith(self.state_folder):
                raise damaged(error.filename, "it is not there") from error
            told = error if isinstance(error, PenstockError) else failure(what, error)
            if told is None:
                raise
            folder = _local(self.state_folder)
            wanted = folder is not None and folder.is_dir() and comes_from_spark(error.__cause__ or error)
            file = keep_details(error, folder) if folder is not None and wanted else None
            if file is not None:
                told.hint = f"{told.hint}\nThe details are in {file}."
            if told is error:
                raise
            raise told from error

    # Learning

    @property
    def _adapts(self) -> bool:
        """Whether statistics decide anything: where chains are cut, or the orders of joins of more than two inputs."""
        many = any(len(join.source.inputs) > 2 for join in self.compiled.shared.joins)
        return many or self._program.settings.objective == "auto"

    def _measured_before(self) -> Measured:
        """What the runs before have measured."""
        from penstock.runtime.statistics import read_measured

        return read_measured(self._storage())

    def _learn(self, engine: Engine, *, adapt: bool) -> None:
        """Between two steps, in the run's own thread: take over what has been measured.

        To `adapt`, a plan is made with it, and put in force if that is worth it and the last one has been for a while.
        """
        if not self._changing.acquire(blocking=False):
            return  # a change waits for the step to end
        try:
            known, measured = self.compiled, engine.statistics.measured()
            self._compiled = known.with_measured(measured)
            if not adapt or engine.steps_since_migration < _LEARNED:
                return
            better = known.changed(self._program, measured)
            if is_worth(known.shared, better.shared, better.estimates):
                migration = engine.migrate(_run_plan(better))
                self._compiled = better
                if migration is not None and self.on_migration is not None:
                    self.on_migration(migration)
        finally:
            self._changing.release()

    # Looking

    def results(self, name: str, columns: list[tuple[str, str]] | None = None) -> DataFrame:
        """All committed results of a query, each once; of one that was dropped, if its columns are given."""
        if name in self._program.queries or columns is None:
            name = self._known(name)
            columns = _columns(self.compiled, name)
        return self.committed(self.state()[0], name, columns)

    def committed(self, state: State, name: str, columns: list[tuple[str, str]], *, after: int = 0) -> DataFrame:
        """The results of a query that are in a state; `after` a step, those of later ones."""
        from penstock.runtime.results import Results
        from penstock.runtime.storage import Storage

        engine = self._engine
        results = Results(self.spark, Storage(self.spark, self.state_folder)) if engine is None else engine.results
        return results.of_query(state, name, columns, after=after)

    def execute(self, text: str) -> list[dict[str, Any]]:
        """Carry out a statement: SHOW, DESCRIBE, EXPLAIN, CREATE, ALTER, DROP or SET; what it shows, as rows."""
        return carry_out(self, Source("<statement>", text))

    def state(self) -> tuple[State, dict[str, Start]]:
        """What is true after the last step, and since when queries are complete."""
        from penstock.runtime.log import Log
        from penstock.runtime.plans import Plans

        engine = self._engine
        if engine is not None:
            return engine.state, engine.starts
        storage = self._storage()
        state = Log(storage).last()
        return state, Plans(storage).read_starts(state.starts)

    def relation_counts(self, name: str) -> dict[str, int | None]:
        """How many rows a relation had when it was read last, and how many could not be; None before it was."""
        known = None if self._engine is None else self._engine.relations.shown().get(name)
        rows, unreadable = known if known is not None else (None, None)
        return {"rows": rows, "unreadable": unreadable}

    @property
    def in_force(self) -> CompiledQueries:
        """The queries of the plan that is in force in the state folder; none before the first run."""
        texts = self._texts_in_force() if self._engine is None else self._engine.plan.texts
        if texts is not None and texts == texts_of(self.compiled):
            return self.compiled
        empty = CompiledQueries(self._program.catalog, self._program.settings)
        return empty if texts is None else compiled_texts(texts)

    def starts_under(self, queries: CompiledQueries) -> dict[str, Start]:
        """Since when queries would be complete if they were put in force now."""
        from penstock.runtime.migrate import migrated, readings_of

        state, starts = self.state()
        return migrated(state, _run_plan(self.in_force), _run_plan(queries), starts, readings_of(state))[1]

    def _storage(self) -> Storage:
        """The state folder; Spark is needed for it only if it is not on this machine."""
        from penstock.runtime.storage import Storage

        return Storage(None if _local(self.state_folder) is not None else self.spark, self.state_folder)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _run_plan(queries: CompiledQueries) -> RunPlan:
    from penstock.runtime.plans import RunPlan

    return RunPlan(queries.physical, queries.catalog, texts_of(queries))


def _meaning(queries: CompiledQueries, name: str) -> tuple[object, object]:
    """What two queries have in common that are the same, however they are written."""
    template = queries.shared.members[name]
    return template.shape, next(member for member in template.members if member.query == name)


def _columns(queries: CompiledQueries, name: str) -> list[tuple[str, str]]:
    return [(ref.name, type_) for ref, type_ in queries[name].logical.schema.items()]


def _local(folder: str) -> Path | None:
    """The folder as a path of this machine, if it is one."""
    if folder.startswith("file:"):
        return Path(folder.removeprefix("file:").replace("///", "/"))
    return None if "://" in folder else Path(folder)
