"""From texts to bound logical plans."""

from __future__ import annotations

from penstock.catalog import Stream
from penstock.compiler.bind import DerivedStream, Entry, bind
from penstock.compiler.logical import Query
from penstock.compiler.program import Definition, Program
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, did_you_mean, raise_all


def compile_program(program: Program) -> dict[str, Query]:
    """The logical plan of every query, by name; all the errors of all the queries at once."""
    return _Compiler(program).run()


class _Compiler:
    """Binds queries, those that others read first."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.definitions = {name.lower(): definition for name, definition in program.queries.items()}
        self.plans: dict[str, Query] = {}
        self.failed: set[str] = set()
        self.errors: list[PenstockError] = []
        self.underway: list[str] = []

    def run(self) -> dict[str, Query]:
        for definition in self.program.queries.values():
            self._shadowing(definition)
            self._plan(definition)
        raise_all(self.errors)
        return {name: self.plans[name.lower()] for name in self.program.queries}

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

    def _plan(self, definition: Definition) -> Query | None:
        key = definition.name.lower()
        if key in self.plans or key in self.failed:
            return self.plans.get(key)
        self.underway.append(key)
        try:
            self.plans[key] = bind(
                definition.name, definition.body, definition.source, self._entry, self.program.settings
            )
        except PenstockError as error:
            self.errors.append(error)
            self.failed.add(key)
        finally:
            self.underway.pop()
        return self.plans.get(key)

    def _entry(self, item: ast.FromItem) -> Entry:
        entry = self.program.catalog.find(item.name)
        if entry is not None:
            return entry
        definition = self.definitions.get(item.name.lower())
        if definition is None:
            raise self._unknown(item)
        if item.name.lower() in self.underway:
            circle = [*self.underway[self.underway.index(item.name.lower()) :], item.name.lower()]
            raise PenstockError(
                f"a query cannot read its own results: {' → '.join(circle)}",
                span=item.span,
                hint="Break the circle.",
                label="circular-queries",
            )
        plan = self._plan(definition)
        if plan is None:
            raise PenstockError(
                f"the query '{definition.name}', which is read here, has errors",
                span=item.span,
                hint="Mend that query first.",
                label="broken-query",
            )
        return DerivedStream(definition.name, tuple((ref.name, type_) for ref, type_ in plan.schema.items()))

    def _unknown(self, item: ast.FromItem) -> PenstockError:
        known = [*self.program.catalog.names, *self.program.queries]
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
