"""Tests on the real engine: those with the same rows and settings share a run, as queries over one catalog do."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from penstock.catalog import Catalog
from penstock.catalog.parts import SourceSpec
from penstock.compiler.program import Definition, Program
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError
from penstock.session import Session
from penstock.testing.compare import compare
from penstock.testing.model import Case, Outcome, Row, Table
from penstock.testing.values import as_input, from_result

if TYPE_CHECKING:
    from penstock.runtime.session import SparkSession

_AT_ONCE = 2
"""So many runs go on at the same time: while one waits for a small job of Spark, the other has something to do."""


def grouped(cases: Sequence[Case]) -> list[list[Case]]:
    """The tests, those together that can share a run."""
    groups: list[list[Case]] = []
    for case in cases:
        alike = (own for own in groups if (own[0].rows, own[0].settings) == (case.rows, case.settings))
        group = next(alike, None)
        if group is None:
            groups.append(group := [])
        group.append(case)
    return groups


def run_cases(cases: Sequence[Case], program: Program, spark: SparkSession) -> Iterator[Outcome]:
    """What came of every test, as they are done; nothing of the project is read or written but its definitions."""
    from penstock.runtime.session import beside

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="penstock-test") as pool:
        runs: list[Future[list[Outcome]]] = []
        try:
            runs = [pool.submit(lambda own: _run(own, program, beside(spark)), own) for own in grouped(cases)]
            for done in as_completed(runs):
                yield from done.result()
        finally:
            for run in runs:
                run.cancel()


def _run(cases: Sequence[Case], program: Program, spark: SparkSession) -> list[Outcome]:
    """What came of tests with the same rows and settings."""
    began = time.perf_counter()
    try:
        with TemporaryDirectory(prefix="penstock-test-", ignore_cleanup_errors=True) as folder:
            found = _results(cases, program, spark, Path(folder))
    except PenstockError as error:
        seconds = (time.perf_counter() - began) / len(cases)
        return [Outcome(case, seconds, error=error) for case in cases]
    seconds = (time.perf_counter() - began) / len(cases)
    return [_outcome(case, seconds, found[case.query]) for case in cases]


def _outcome(case: Case, seconds: float, found: Table) -> Outcome:
    """A test beside the results of its query."""
    places = [found.columns.index(column) for column in case.expected.columns]
    rows = [row for row in found.rows if case.at is None or row[0] in case.at]
    came = [tuple(row[place] for place in places) for row in rows]
    types = [type_ for _, type_ in case.expected.columns]
    return Outcome(case, seconds, len(came), compare(case.expected.rows, came, types, case.tolerance))


def _results(cases: Sequence[Case], program: Program, spark: SparkSession, folder: Path) -> dict[str, Table]:
    """What the queries of some tests give for their rows."""
    catalog = _with_rows(program.catalog, cases[0].rows, folder)
    queries = _needed({case.query for case in cases}, program)
    with Session(catalog=catalog, state=folder / "state", spark=spark) as session:
        session.change(Program(catalog, cases[0].settings, queries))
        session.run(drain=True)
        for shown in (*session.execute("SHOW STREAMS"), *session.execute("SHOW RELATIONS")):
            if shown["unreadable"]:
                raise PenstockError(
                    f"{shown['unreadable']} of the rows of {shown.get('stream') or shown['relation']} cannot be read",
                    hint="Compare the arrays, maps and structs in them with the types of their columns.",
                    label="wrong-value",
                )
        return {name: _table(session, name) for name in {case.query for case in cases}}


def _table(session: Session, name: str) -> Table:
    columns = (("_ts", "timestamp"), *session.compiled[name].columns)
    rows = session.results(name).toArrow().to_pydict()
    values = [[from_result(value, type_) for value in rows[name]] for name, type_ in columns]
    return Table(columns, tuple(zip(*values, strict=True)))


def _needed(names: set[str], program: Program) -> dict[str, Definition]:
    """Queries and those that they read; all of them give their results here, and not where INSERT INTO says."""
    known = {name.lower(): name for name in program.queries}
    needed: dict[str, Definition] = {}
    waiting = sorted(names)
    while waiting:
        name = known.get(waiting.pop().lower())
        if name is not None and name not in needed:
            definition = program.queries[name]
            body = definition.body
            needed[name] = replace(definition, body=body.select if isinstance(body, ast.InsertInto) else body)
            waiting += [read for read in definition.reads if program.catalog.find(read) is None]
    return needed


def _with_rows(catalog: Catalog, tables: Mapping[str, Table], folder: Path) -> Catalog:
    """The catalog with streams and relations that hold the rows of a test, and otherwise nothing."""
    sources = {}
    for number, name in enumerate(catalog.names):  # a name may have signs that a file must not have
        own = folder / f"rows{number}"
        own.mkdir()
        _write(own / "rows.json", tables.get(name, Table(())))
        sources[name] = SourceSpec("json", str(own))
    return Catalog(
        # Nobody waits for the rows of a test, however long they take.
        tuple(replace(stream, source=sources[stream.name], idle_timeout=None) for stream in catalog.streams),
        tuple(replace(relation, source=sources[relation.name]) for relation in catalog.relations),
    )


def _write(file: Path, table: Table) -> None:
    with file.open("w", encoding="utf-8") as out:
        for row in table.rows:
            out.write(f"{json.dumps(_as_inputs(table, row), ensure_ascii=False)}\n")


def _as_inputs(table: Table, row: Row) -> dict[str, object]:
    return {name: as_input(value, type_) for (name, type_), value in zip(table.columns, row, strict=True)}
