"""From texts to bound logical plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.catalog import Stream
from penstock.compiler.bind import DerivedStream, Entry, bind
from penstock.compiler.logical import Query
from penstock.compiler.program import Definition, Program
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, did_you_mean, raise_all

Known = Mapping[str, tuple[Definition, Query]]
"""Queries that are bound already, by name."""


def compile_program(program: Program, known: Known | None = None) -> dict[str, Query]:
    """The logical plan of every query, by name; all the errors of all the queries at once.

    What is known is not bound again, unless its text has changed or it reads a query that has; it must have been
    bound with the same catalog and settings.
    """
    return _Compiler(program, known or {}).run()


class _Compiler:
    """Binds queries, those that others read first."""

    def __init__(self, program: Program, known: Known) -> None:
        self.program = program
        self.known = known
        self.definitions = {name.lower(): definition for name, definition in program.queries.items()}
        self.plans: dict[str, Query] = {}
        self.errors: list[PenstockError] = []
        self.circles: dict[tuple[str, str], list[str]] = {}
        self.current = ""
        self.fresh: set[str] = set()
        """Queries that are bound anew."""

    def run(self) -> dict[str, Query]:
        for definition in self._in_order():
            self._shadowing(definition)
            self._plan(definition)
        raise_all(self.errors)
        return {name: self.plans[name.lower()] for name in self.program.queries}

    def _in_order(self) -> Iterator[Definition]:
        """Every query after those that it reads; what closes a circle is remembered. Not recursive: chains are long."""
        done: set[str] = set()
        for start in self.definitions:
            path = [] if start in done else [start]
            unread = [self._reads(start)]
            while path:
                read = unread[-1].pop(0) if unread[-1] else None
                if read is None:
                    unread.pop()
                    done.add(path[-1])
                    yield self.definitions[path.pop()]
                elif read in path:
                    self.circles[path[-1], read] = [*path[path.index(read) :], read]
                elif read not in done:
                    path.append(read)
                    unread.append(self._reads(read))

    def _reads(self, key: str) -> list[str]:
        """The queries that a query reads."""
        names = self.definitions[key].reads
        return [n.lower() for n in names if n.lower() in self.definitions and self.program.catalog.find(n) is None]

    def _shadowing(self, definition: Definition) -> None:
        entry = self.program.catalog.find(definition.name)
        if entry is not None:
            self.errors.append(
                PenstockError(
                    f"the query '{definition.name}' has the name of a {entry.kind}",
                    span=definition.body.span,
                    source=definition.source,
                    hint="Give the query another name.",
                    label="duplicate-query",
                )
            )

    def _plan(self, definition: Definition) -> None:
        self.current = definition.name.lower()
        before, plan = self.known.get(definition.name, (None, None))
        unchanged = before == definition and not any(map(self._is_other, definition.reads))
        if plan is not None and unchanged:
            self.plans[self.current] = plan
            return
        self.fresh.add(self.current)
        try:
            self.plans[self.current] = bind(
                definition.name, definition.body, definition.source, self._entry, self.program.settings
            )
        except PenstockError as error:
            self.errors.append(error)

    def _is_other(self, name: str) -> bool:
        """Whether something that a query reads is gone, or is asked otherwise than when the query was bound."""
        key = name.lower()
        if self.program.catalog.find(name) is not None:
            return False
        return key not in self.definitions or key in self.fresh or (self.current, key) in self.circles

    def _entry(self, item: ast.FromItem) -> Entry:
        entry = self.program.catalog.find(item.name)
        if entry is not None:
            return entry
        definition = self.definitions.get(item.name.lower())
        if definition is None:
            raise self._unknown(item)
        circle = self.circles.get((self.current, item.name.lower()))
        if circle is not None:
            raise PenstockError(
                f"a query cannot read its own results: {' → '.join(circle)}",
                span=item.span,
                hint="Break the circle.",
                label="circular-queries",
            )
        plan = self.plans.get(item.name.lower())
        if plan is None:
            raise PenstockError(
                f"the query '{definition.name}', which is read here, has errors",
                span=item.span,
                hint="Mend that query first.",
                label="broken-query",
            )
        return DerivedStream(definition.name, tuple((ref.name, type_) for ref, type_ in plan.schema.items()))

    def _unknown(self, item: ast.FromItem) -> PenstockError:
        queries = [name for name in self.program.queries if name.lower() != self.current]
        known = [*self.program.catalog.names, *queries]
        hint = did_you_mean(item.name, known)
        if not known:
            hint = "The catalog is empty. Define the stream with CREATE STREAM or in catalog/*.yml."
        elif not any(isinstance(entry, Stream) for entry in self.program.catalog.entries):
            hint += " No stream is defined: use CREATE STREAM or catalog/*.yml."
        return PenstockError(
            f"there is no stream, relation or query called '{item.name}'",
            span=item.span,
            hint=hint,
            label="unknown-source",
        )
