"""From files of tests to tests, with every mistake in them at its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from penstock.api import CompiledQueries
from penstock.catalog import Stream
from penstock.catalog.fields import Fields
from penstock.catalog.nodes import Node, read_yaml
from penstock.compiler.settings import Settings
from penstock.grammar.errors import PenstockError, did_you_mean, raise_all
from penstock.grammar.files import read_source
from penstock.project import TEST_SUFFIX
from penstock.testing.csv_text import Cell, cells_of_file, cells_of_text
from penstock.testing.model import Case, Row, Table
from penstock.testing.values import DAY, Value, is_nested, nested, parse

_SHARED = ("query", "rows", "settings", "tolerance")
FILE_KEYS = ("day", *_SHARED, "tests")
TEST_KEYS = (*_SHARED, "at", "expect")
_ROWS = "a list of rows, lines of CSV, or the name of a .csv file"
Columns = Sequence[tuple[str, str]]


def read_cases(files: Sequence[Path], queries: CompiledQueries) -> list[Case]:
    """The tests of files, in order; all the mistakes in all of them at once."""
    cases: list[Case] = []
    errors: list[PenstockError] = []
    for file in files:
        try:
            reader = _Reader(file, queries)
            cases += reader.read(read_yaml(read_source(file)))
            errors += reader.errors
        except PenstockError as error:
            errors.append(error)
    raise_all(errors)
    return cases


@dataclass(frozen=True)
class _Common:
    """What a file says for all of its tests, and a test for itself."""

    query: str | None
    rows: Mapping[str, Table]
    settings: Settings
    tolerance: float


class _Reader(Fields):
    """Reads one file of tests."""

    def __init__(self, file: Path, queries: CompiledQueries) -> None:
        super().__init__()
        self._file = file
        self._queries = queries
        self._day = DAY

    def read(self, root: Node) -> list[Case]:
        """The tests of the file."""
        keys = self.mapping(root, "a mapping with the key tests", FILE_KEYS)
        self._day = self._read_day(keys.get("day"))
        common = self._common(keys, _Common(None, {}, self._queries.settings, 0.0))
        tests = list(self.named(keys.get("tests"), "a mapping of name to test"))
        if not tests and not self.errors:
            self.fail(
                root,
                "there is no test in the file",
                hint="Write  tests:  and below it names of tests.",
                label="no-test",
            )
        cases = [self._case(name, node, common) for name, node in tests]
        return [case for case in cases if case is not None]

    def _read_day(self, node: Node | None) -> date:
        text = self.text(node, "a date such as 2026-01-31")
        if node is not None and text is not None:
            try:
                return date.fromisoformat(text)
            except ValueError:
                self.wrong_kind(node, "a date such as 2026-01-31")
        return DAY

    def _common(self, keys: Mapping[str, Node], before: _Common) -> _Common:
        rows = {**before.rows}
        for name, node in self.named(keys.get("rows"), "a mapping of stream or relation to rows"):
            entry = self._queries.catalog.find(name)
            if entry is None:
                hint = did_you_mean(name, self._queries.catalog.names)
                message = f"there is no stream or relation called '{name}'"
                self.fail(node, message, hint=hint, label="unknown-source", on_key=True)
                continue
            must = (entry.timestamp,) if isinstance(entry, Stream) else ()
            columns = [(column.name, column.type) for column in entry.columns]
            rows[entry.name] = self._table(node, columns, must)
        settings = before.settings
        for name, node in self.named(keys.get("settings"), "a mapping of setting to value"):
            try:
                settings = settings.with_text(name, node.text)
            except PenstockError as error:
                on_key = error.label == "unknown-setting"
                self.fail(node, error.message, hint=error.hint, label=error.label, on_key=on_key)
        tolerance = self.number(keys.get("tolerance"), "how far numbers may be apart, such as 0.01")
        return _Common(
            self._query(keys.get("query")) or before.query,
            rows,
            settings,
            before.tolerance if tolerance is None else abs(tolerance),
        )

    def _query(self, node: Node | None) -> str | None:
        name = self.text(node, "the name of a query")
        if node is None or name is None:
            return None
        known = {query.lower(): query for query in self._queries}
        if name.lower() not in known:
            hint = did_you_mean(name, self._queries)
            self.fail(node, f"there is no query called '{name}'", hint=hint, label="unknown-query")
        return known.get(name.lower())

    def _case(self, name: str, node: Node, common: _Common) -> Case | None:
        keys = self.mapping(node, "a mapping with the keys rows and expect", TEST_KEYS)
        before = len(self.errors)
        own = self._common(keys, common)
        query = own.query or self._query_of_file(node, has_own="query" in keys)
        if "expect" not in keys and node.kind in ("mapping", "nothing"):
            hint = "Write the results that must come, or  expect: []  if there must be none."
            self.fail(node, "the key expect is missing", hint=hint, label="missing-key", on_key=True)
        if query is None or len(self.errors) > before:
            return None
        columns = [("_ts", "timestamp"), *self._queries[query].columns]
        expected = self._table(keys["expect"], columns, named_alike=True)
        at = self._at(keys.get("at"))
        return Case(name, query, node.place, own.rows, expected, own.settings, self._day, at, own.tolerance)

    def _query_of_file(self, node: Node, *, has_own: bool) -> str | None:
        """The query that the file is named after."""
        if has_own:
            return None  # it is wrong, which has been said
        name = self._file.name.removesuffix(TEST_SUFFIX)
        known = {query.lower(): query for query in self._queries}
        if name.lower() not in known:
            hint = f"{did_you_mean(name, self._queries)}\nName the query with  query:  or the file after it."
            message = f"there is no query called '{name}', which the file is named after"
            self.fail(node, message, hint=hint, label="unknown-query", on_key=True)
        return known.get(name.lower())

    def _at(self, node: Node | None) -> frozenset[datetime] | None:
        if node is None:
            return None
        times = [self._value(item, "timestamp") for item in (node.items() if node.kind == "list" else [node])]
        return frozenset(time for time in times if time is not None)

    # Rows

    def _table(self, node: Node, columns: Columns, must: tuple[str, ...] = (), *, named_alike: bool = False) -> Table:
        """Rows with some of the columns; those that `must` be there are named. Of results all rows name the same."""
        if node.kind == "nothing":
            return Table(tuple(columns))
        if node.kind == "list":
            return self._listed(node, columns, must, named_alike=named_alike)
        if node.kind == "text" and "\n" in node.text:
            return self._of_csv(node, cells_of_text(node), columns, must)
        if node.kind == "text" and node.text.lower().endswith(".csv"):
            file = self._file.parent / node.text
            try:
                return self._of_csv(node, cells_of_file(file), columns, must)
            except PenstockError as error:
                if error.source is not None:
                    raise
                self.locate(node, error)
                return Table(tuple(columns))
        self.wrong_kind(node, _ROWS, "Write a row as  - {column: value, …}.")
        return Table(tuple(columns))

    def _listed(self, node: Node, columns: Columns, must: tuple[str, ...], *, named_alike: bool) -> Table:
        rows: list[dict[str, Value]] = []
        known = {name.lower(): (name, type_) for name, type_ in columns}
        for item in node.items():
            row: dict[str, Value] = {}
            for name, cell in self.named(item, "a row: {column: value, …}"):
                found = known.get(name.lower())
                if found is None:
                    hint = did_you_mean(name, [name for name, _ in columns])
                    self.fail(cell, f"there is no column '{name}'", hint=hint, label="unknown-column", on_key=True)
                elif cell.kind != "nothing" or found[0] not in must:
                    row[found[0]] = self._value(cell, found[1])
            for name in must:
                if name not in row and item.kind == "mapping":
                    self.fail(item, f"the row has no {name}", hint="It is the event time of the row.", label="no-time")
            if named_alike and rows and row.keys() != rows[0].keys() and item.kind == "mapping":
                other = ", ".join(sorted(row.keys() ^ rows[0].keys()))
                hint = f"It differs from the first row in {other}. A column that no row names is not compared."
                self.fail(item, "the rows of expect must all name the same columns", hint=hint, label="other-columns")
            rows.append(row)
        named = [column for column in columns if not named_alike or not rows or column[0] in rows[0]]
        return Table(tuple(named), tuple(tuple(row.get(name) for name, _ in named) for row in rows))

    def _of_csv(self, node: Node, lines: list[list[Cell]], columns: Columns, must: tuple[str, ...]) -> Table:
        known = {name.lower(): (name, type_) for name, type_ in columns}
        head, *others = lines or [[]]
        named: list[tuple[str, str]] = []
        for cell in head:
            found = known.get((cell.text or "").lower())
            if found is None or found in named:
                what = (
                    f"there is no column '{cell.text or ''}'"
                    if found is None
                    else f"the column {found[0]} is there twice"
                )
                hint = (
                    f"{did_you_mean(cell.text or '', [name for name, _ in columns])}\nThe first line names the columns."
                )
                self.errors.append(cell.error(what, hint=hint, label="unknown-column"))
            else:
                named.append(found)
        if len(named) < len(head) or not lines:
            return Table(tuple(columns))
        missing = [name for name in must if name not in {name for name, _ in named}]
        if missing:
            hint = "It is the event time of the rows."
            self.errors.append(head[-1].error(f"there is no column {missing[0]}", hint=hint, label="no-time"))
        return Table(tuple(named), tuple(self._line(line, named, must) for line in others))

    def _line(self, line: list[Cell], named: Columns, must: tuple[str, ...]) -> Row:
        if len(line) != len(named):
            found = f"expected {len(named)} values, found {len(line)}"
            hint = "Put a text with a comma in quotes." if len(line) > len(named) else "An empty value needs its comma."
            self.errors.append(line[-1].error(found, hint=hint, label="wrong-count"))
            return ()
        values: list[Value] = []
        for cell, (name, type_) in zip(line, named, strict=True):
            values.append(self._cell(cell, type_))
            if cell.text is None and name in must:
                hint = "It is the event time of the row."
                self.errors.append(cell.error(f"the row has no {name}", hint=hint, label="no-time"))
        return tuple(values)

    def _cell(self, cell: Cell, type_: str) -> Value:
        if cell.text is None:
            return None
        if is_nested(type_):
            self.errors.append(cell.error(f"CSV cannot hold {type_}", hint="List the rows.", label="wrong-value"))
            return None
        try:
            return parse(cell.text, type_, self._day)
        except PenstockError as error:
            self.errors.append(cell.error(error.message, hint=error.hint or "", label=error.label or ""))
            return None

    def _value(self, node: Node, type_: str) -> Value:
        if node.kind == "nothing":
            return None
        if is_nested(type_):
            if node.kind not in ("mapping", "list"):
                self.wrong_kind(node, f"a value of type {type_}")
                return None
            return nested(_plain(node))
        if node.kind not in ("text", "number", "boolean"):
            self.wrong_kind(node, f"a value of type {type_}")
            return None
        try:
            return parse(node.text, type_, self._day)
        except PenstockError as error:
            self.locate(node, error)
            return None


def _plain(node: Node) -> object:
    """A part of a tree as Python has it."""
    if node.kind == "mapping":
        return {name: _plain(child) for name, child in node.entries([]).items()}
    return [_plain(item) for item in node.items()] if node.kind == "list" else node.value
