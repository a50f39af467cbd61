"""A session: queries over a catalog, run on Spark over one state folder, changed while they run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from penstock.api import CatalogLike, CompiledQueries
from penstock.catalog import Catalog, load_catalog
from penstock.compiler.program import Definition, Program, Script, read_program
from penstock.compiler.settings import Settings
from penstock.explaining import explaining
from penstock.folder import StateFolder
from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source
from penstock.live import Readers
from penstock.picture import Picture, cell, measured_run
from penstock.project import FILE, Project, find_project
from penstock.query import QueryHandle, columns_of
from penstock.runner import Runner
from penstock.standing import Standing, run_plan
from penstock.statements import carry_out, with_window
from penstock.texts import compiled_texts, texts_of, with_registered
from penstock.verbosity import Verbosity, say, verbosity

if TYPE_CHECKING:
    from penstock.compiler.warm import Start
    from penstock.runtime.engine import Migration, StepReport
    from penstock.runtime.log import State
    from penstock.runtime.session import DataFrame, SparkSession
    from penstock.runtime.spark_log import SparkLog

__all__ = ["QueryHandle", "Session"]


class Session:
    """Queries, a catalog, a state folder and a Spark session.

    `project` is a `penstock.yml` or the folder it is in; or give a catalog and a state folder. Queries are registered,
    altered and dropped at any time; those that were registered stand until they are dropped, also over the end of the
    session. `run` works until the streams have ended (`once`), for a time, or until `stop`.

    With `spark` it runs on a Spark that is there. Its session is neither changed nor stopped: where its settings would
    change what queries mean, they run in a session beside it. Results are given in the one it was given.

    >>> with penstock.Session("sensors") as session:  # a folder with a penstock.yml
    ...     hot = session.register("hot", "SELECT LocationId, Value FROM Temperature WHERE Value > 30")
    ...     session.run(once=True)
    ...     hot.results().orderBy("_ts").show()
    +-------------------+----------+-----+
    |                _ts|LocationId|Value|
    +-------------------+----------+-----+
    |2026-01-01 00:00:00|         1| 31.5|
    |2026-01-01 00:01:00|         2| 35.0|
    +-------------------+----------+-----+
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
        self._spark = None if spark is None else _fitting(spark)
        self._given_spark = spark
        self._spark_settings: tuple[tuple[str, str], ...] = ()
        self.root: Path | None = None
        """What the paths of sources are below; the current folder if None."""
        self.project: Project | None = None
        program = Program(Catalog(), Settings(), {})
        if project is not None:
            path = Path(project)
            self.project = find_project(path.parent if path.name == FILE else path)
            program = self.project.program()
            self.root = self.project.root
            self._spark_settings = self.project.spark
            state = state or self.project.remote or self.project.state
        if catalog is not None:
            program = Program(load_catalog(catalog), program.settings, program.queries)
        if state is None:
            raise PenstockError(
                "a session needs a state folder", hint='Give  state="folder"  or a project.', label="no-state"
            )
        self.folder = StateFolder(str(state), lambda: self.spark)
        program = replace(program, settings=program.settings.with_all(settings or {}))
        self.standing = Standing(program, self.folder.measured)
        self.readers = Readers()
        self.on_step: Callable[[StepReport], None] | None = None
        self.on_migration: Callable[[Migration], None] | None = None
        self._runner = Runner(self)
        self._restored: set[str] = set()
        self._kept: dict[str, Any] | None = None
        with self.explaining(f"the state folder {self.state_folder} cannot be used"):
            self._restore()

    def _restore(self) -> None:
        """Take over the queries that were registered before."""
        self._kept = self.folder.kept().read()
        texts = self._kept or self.folder.texts_in_force()
        if texts is not None:
            own = {name: query for name, query in self.program.queries.items() if name not in self._restored}
            self.standing.take(with_registered(replace(self.program, queries=own), texts))
            self._restored = set(self.queries) - set(own)

    def keep(self) -> None:
        """Note what was registered while nothing runs: the next session has it, and the next run begins with it."""
        with self.standing.changing, self.folder.held():
            self.keep_what_is_not_in_force()

    def keep_what_is_not_in_force(self) -> None:
        """The same, for who holds the state folder."""
        kept, texts = self.folder.kept(), texts_of(self.compiled)
        self._kept = None if texts == self.folder.texts_in_force() else texts
        if self._kept is None:
            kept.forget()
        else:
            kept.write(texts)

    def take_what_was_kept(self) -> None:
        """Take over what another session has noted since this one was made."""
        with self.standing.changing:
            if self.folder.kept().read() not in (None, self._kept):
                self._restore()

    @property
    def state_folder(self) -> str:
        """Where what a run keeps is."""
        return self.folder.path

    # Queries

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries."""
        return tuple(self.program.queries)

    @property
    def program(self) -> Program:
        """The catalog, the settings and the queries."""
        return self.standing.program

    @property
    def compiled(self) -> CompiledQueries:
        """The queries, compiled together."""
        return self.standing.compiled

    def register(self, name: str, text: str) -> QueryHandle:
        """Add a query, at once if a run goes on; wrong text raises `PenstockError` and changes nothing.

        The same query again changes nothing.

        >>> session = penstock.Session("sensors")
        >>> hot = session.register("hot", "SELECT LocationId FROM Temperature WHERE Value > 30")
        >>> hot.name, hot.columns, hot.status
        ('hot', [('LocationId', 'int')], 'waiting')
        """
        with self.standing.changing:
            program, definition = self.with_definition(name, text)
            taken = {known.lower(): known for known in self.queries}
            before = taken.get(definition.name.lower())
            if before is not None and before not in self._restored:
                same_name = replace(definition, name=before)
                if not self.standing.is_same(before, replace(program, queries={before: same_name})):
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
        """Put another query, or another window, in place of a query's own, at once if a run goes on.

        >>> session = penstock.Session("sensors")
        >>> session.alter("near", window="5 min").columns
        [('LocationId', 'int'), ('t', 'double'), ('h', 'double')]
        >>> session.alter("near", "SELECT LocationId FROM Humidity").columns
        [('LocationId', 'int')]
        """
        with self.standing.changing:
            known = self.standing.known(name)
            if (text is None) == (window is None):
                raise PenstockError(
                    "give either a text or a window", hint='Write  alter("hot", window="10 min").', label="bad-alter"
                )
            changed = text if text is not None else with_window(self.program.queries[known], window or "")
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
        """Remove a query, at once if a run goes on; its results so far stay.

        >>> session = penstock.Session("sensors")
        >>> session.drop("near")
        >>> session.queries
        ()
        """
        with self.standing.changing:
            self.change(self.program.without_query(self.standing.known(name)))

    def query(self, name: str) -> QueryHandle:
        """The handle of a query.

        >>> penstock.Session("sensors").query("near").columns
        [('LocationId', 'int'), ('t', 'double'), ('h', 'double')]
        """
        known = self.standing.known(name)
        return QueryHandle(self, known, columns_of(self.compiled, known))

    def with_definition(self, name: str, text: str) -> tuple[Program, Definition]:
        """The program with the query that a text defines, in place of the one of that name if there is one."""
        script = Script(name, Source(f"<{name}>", text))
        added = read_program([script], self.program.catalog, self.program.settings)
        if len(added.queries) != 1:
            raise PenstockError(
                f"expected one query, found {len(added.queries)}",
                hint="Register queries one by one.",
                label="not-one-query",
            )
        (definition,) = added.queries.values()
        program = Program(added.catalog, added.settings, self.program.queries)
        return program.with_query(definition), definition

    def change_by(self, make: Callable[[], Program]) -> Migration | None:
        """Change the program into another one that is made from it."""
        with self.standing.changing:
            return self.change(make())

    def change(self, program: Program) -> Migration | None:
        """Put another program in place of this one; if a run goes on, between two of its steps.

        A mistake in it raises `PenstockError` and changes nothing.
        """
        with self.standing.changing:
            changed = self.compiled.changed(program)
            engine, migration = self._runner.engine, None
            if engine is not None:
                plan = run_plan(changed)
                if plan.texts != engine.plan.texts:
                    migration = engine.migrate(plan)
                else:
                    changed = self.compiled  # the plan in force, whatever has been measured since
            self.standing.take(program, changed)
            self.readers.tell()
            if migration is not None and self.on_migration is not None:
                self.on_migration(migration)
            return migration

    def execute(self, text: str | Source) -> list[dict[str, Any]]:
        """Carry out a statement: SHOW, DESCRIBE, EXPLAIN, CREATE, ALTER, DROP or SET; what it shows, as rows.

        >>> session = penstock.Session("sensors")
        >>> session.execute("CREATE QUERY warm AS SELECT LocationId FROM Temperature WHERE Value > 25")
        []
        >>> [row["query"] for row in session.execute("SHOW QUERIES")]
        ['near', 'warm']
        """
        return carry_out(self, Source("<statement>", text) if isinstance(text, str) else text)

    # Running

    @property
    def spark(self) -> SparkSession:
        """The Spark session, made when it is first needed."""
        if self._spark is None:
            from penstock.runtime.session import spark_session

            self._given_spark = spark_session(self._spark_settings, log=self._spark_log())
            self._spark = _fitting(self._given_spark)
        return self._spark

    def _spark_log(self) -> SparkLog:
        """What is wanted of Spark's log."""
        from penstock.runtime.spark_log import SparkLog

        if verbosity() is not Verbosity.DEBUG:
            return SparkLog("warn" if verbosity() is Verbosity.VERBOSE else "off")
        file = (self.folder.local or Path(tempfile.gettempdir())) / "logs" / "spark.log"
        say(f"Spark's log: {file}")
        return SparkLog(file=file)

    @property
    def is_running(self) -> bool:
        """Whether a run goes on."""
        return self._runner.engine is not None

    def run(self, *, once: bool = False, drain: bool = False, seconds: float | None = None) -> None:
        """Run here: what is available (`once`, or `drain`, which also closes every window), or for some seconds.

        Without any of them it runs until `stop` is called from elsewhere. What has been read is not read again: the
        next run goes on where this one ends.
        """
        self._runner.run(once=once, drain=drain, seconds=seconds)

    def refuse_unready(self, *, once: bool) -> None:
        """Raise an error if a run cannot begin, as far as that can be told before Spark is there."""
        self._runner.refuse_unready(once=once)

    def start(self) -> None:
        """Run in the background until `stop`; queries may come, change and go meanwhile."""
        self._runner.start()

    def request_stop(self) -> None:
        """Ask the run to stop after the step that is under way, and do not wait for it."""
        self._runner.request_stop()

    def stop(self) -> None:
        """Stop after the step that is under way; raises what the run in the background has failed with."""
        self._runner.stop()

    def explaining(self, what: str) -> AbstractContextManager[None]:
        """Say failures of Spark and of the system in one sentence that begins with `what` cannot be done.

        The whole of it is kept in a file of the state folder.
        """
        return explaining(what, self.folder)

    # Looking

    def results(self, name: str, columns: list[tuple[str, str]] | None = None) -> DataFrame:
        """All committed results of a query, each once; of one that was dropped, if its columns are given."""
        if name in self.program.queries or columns is None:
            name = self.standing.known(name)
            columns = columns_of(self.compiled, name)
        return self.committed(self.state()[0], name, columns)

    def committed(self, state: State, name: str, columns: list[tuple[str, str]], *, after: int = 0) -> DataFrame:
        """The results of a query that are in a state; `after` a step, those of later ones."""
        from penstock.runtime.results import Results
        from penstock.runtime.storage import Storage

        engine = self._runner.engine
        results = Results(self.spark, Storage(self.spark, self.state_folder)) if engine is None else engine.results
        return results.of_query(state, name, columns, after=after, spark=self._given_spark)

    def picture(self, names: Iterable[str] | None = None) -> Picture:
        """The shared plan, of some queries alone if they are named, and what has been measured in the state folder."""
        queries = self.compiled if names is None else self.compiled.only(names)
        title = "Shared plan" if self.project is None else self.project.name
        return replace(queries.picture(measured_run(self, queries)), title=title)

    def _repr_html_(self) -> str:
        return cell(self.picture())

    def state(self) -> tuple[State, dict[str, Start]]:
        """What is true after the last step, and since when queries are complete."""
        engine = self._runner.engine
        return self.folder.state() if engine is None else (engine.state, engine.starts)

    def relation_counts(self, name: str) -> dict[str, int | None]:
        """How many rows a relation had when it was read last, and how many could not be; None before it was."""
        engine = self._runner.engine
        known = None if engine is None else engine.relations.shown().get(name)
        rows, unreadable = known if known is not None else (None, None)
        return {"rows": rows, "unreadable": unreadable}

    @property
    def in_force(self) -> CompiledQueries:
        """The queries of the plan that is in force in the state folder; none before the first run."""
        engine = self._runner.engine
        texts = self.folder.texts_in_force() if engine is None else engine.plan.texts
        if texts is not None and texts == texts_of(self.compiled):
            return self.compiled
        empty = CompiledQueries(self.program.catalog, self.program.settings)
        return empty if texts is None else compiled_texts(texts)

    def starts_under(self, queries: CompiledQueries) -> dict[str, Start]:
        """Since when queries would be complete if they were put in force now."""
        from penstock.runtime.migrate import migrated, readings_of

        state, starts = self.state()
        return migrated(state, run_plan(self.in_force), run_plan(queries), starts, readings_of(state))[1]

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _fitting(spark: SparkSession) -> SparkSession:
    from penstock.runtime.session import fitting

    return fitting(spark)
