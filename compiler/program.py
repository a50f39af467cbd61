"""A program: the catalog, the settings and the queries that a set of texts defines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from penstock.catalog import Catalog
from penstock.compiler.definitions import define
from penstock.compiler.settings import Settings
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, raise_all
from penstock.grammar.parser import parse_script
from penstock.grammar.printer import to_sql
from penstock.grammar.source import Source


@dataclass(frozen=True)
class Script:
    """A text of statements; its bare SELECTs are called `name`."""

    name: str
    source: Source


@dataclass(frozen=True)
class Definition:
    """A query by name, not yet bound."""

    name: str
    body: ast.QueryBody
    source: Source

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The names it reads from, as they are written."""
        return tuple(item.name for item in self.body.find_all(ast.FromItem))

    @cached_property
    def text(self) -> str:
        """The query, written anew."""
        return to_sql(self.body)

    @property
    def is_registered(self) -> bool:
        """Whether it was given to a session, not found in a file."""
        return self.source.name.startswith("<")


@dataclass(frozen=True)
class Program:
    """What a set of scripts defines."""

    catalog: Catalog
    settings: Settings
    queries: dict[str, Definition]

    def with_query(self, definition: Definition) -> Program:
        """The program with one query more, or with another one in place of that of its name."""
        return replace(self, queries={**self.queries, definition.name: definition})

    def without_query(self, name: str) -> Program:
        """The program with one query less."""
        return replace(self, queries={key: value for key, value in self.queries.items() if key != name})


def read_program(scripts: Iterable[Script], catalog: Catalog, settings: Settings) -> Program:
    """Read scripts into one program; all the errors of all the scripts at once."""
    reader = _Reader(catalog, settings)
    for script in scripts:
        try:
            reader.read(script)
        except PenstockError as error:
            reader.errors.append(error)
    raise_all(reader.errors)
    return Program(reader.catalog, reader.settings, reader.queries)


class _Reader:
    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self.catalog = catalog
        self.settings = settings
        self.queries: dict[str, Definition] = {}
        self.errors: list[PenstockError] = []
        self._taken: dict[str, Definition] = {}

    def read(self, script: Script) -> None:
        statements = parse_script(script.source)
        bare = [s for s in statements if isinstance(s, ast.Select | ast.InsertInto)]
        for statement in statements:
            try:
                self._statement(statement, script, bare)
            except PenstockError as error:
                error.span = error.span or statement.span
                self.errors.append(error.located(script.source))

    def _statement(self, node: ast.Statement, script: Script, bare: list[ast.QueryBody]) -> None:
        match node:
            case ast.Select() | ast.InsertInto():
                number = "" if len(bare) == 1 else f"_{1 + next(i for i, b in enumerate(bare) if b is node)}"
                self._query(script.name + number, node, script, node)
            case ast.CreateQuery():
                self._query(node.name, node.body, script, node)
            case ast.CreateStream() | ast.CreateRelation():
                self.catalog = self.catalog.with_entry(define(node, script.source))
            case ast.SetSetting():
                self.settings = self.settings.with_text(node.name, node.value)
            case _:
                raise PenstockError(
                    "this statement changes or asks about a running session, it defines nothing",
                    hint="A file holds SELECT, INSERT INTO, CREATE and SET. To change a query, edit its text.",
                    label="not-a-definition",
                )

    def _query(self, name: str, body: ast.QueryBody, script: Script, node: ast.Statement) -> None:
        first = self._taken.get(name.lower())
        if first is not None:
            line, _ = first.source.position(first.body.span.start)
            raise PenstockError(
                f"there are two queries called '{name}'",
                span=node.span,
                hint=f"The other one is in {first.source.name}, line {line}. Rename one of them.",
                label="duplicate-query",
            )
        self._taken[name.lower()] = self.queries[name] = Definition(name, body, script.source)
