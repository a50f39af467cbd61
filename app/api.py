"""`penstock.compile` and what it gives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

from penstock.catalog import Catalog, load_catalog
from penstock.compiler.compile import compile_program
from penstock.compiler.estimate import Estimates, Measured
from penstock.compiler.explain import (
    cost_data,
    explain_changes,
    explain_cost,
    explain_logical,
    explain_physical,
    explain_shared,
    to_data,
    to_mermaid,
)
from penstock.compiler.garbage import collection_paused
from penstock.compiler.logical import Query
from penstock.compiler.optimize import Optimized, optimize, without
from penstock.compiler.physical import PhysicalPlan
from penstock.compiler.planner import plan_physical
from penstock.compiler.program import Definition, Program, Script, read_program
from penstock.compiler.rules import Context
from penstock.compiler.settings import Settings
from penstock.compiler.shared import SharedPlan
from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source, Span
from penstock.picture import Picture, Run, cell, page

KINDS = ("logical", "shared", "physical", "cost")
FORMATS = ("text", "json", "mermaid", "html")
CatalogLike = str | os.PathLike[str] | Mapping[str, Any] | Catalog | None


class Planned:
    """What one compiled query and many have in common: plans, made when they are asked for."""

    catalog: Catalog
    settings: Settings

    @property
    def estimates(self) -> Estimates:
        """What is known of the data."""
        return Estimates(self.catalog)

    def _logical_plans(self) -> tuple[Query, ...]:
        raise TypeError("only the classes below have plans")

    @cached_property
    def optimized(self) -> Optimized:
        """The shared plan, and what each rule did to get there."""
        with collection_paused():
            return optimize(self._logical_plans(), Context(self.settings, self.estimates))

    @property
    def shared(self) -> SharedPlan:
        """The shared plan."""
        return self.optimized.plan

    @cached_property
    def physical(self) -> PhysicalPlan:
        """The operators that are run."""
        return plan_physical(self.shared)

    def explain(self, kind: str = "logical", *, verbose: bool = False, format: str = "text") -> str:
        """The plan as text: its logical, shared or physical form, or its cost; `verbose` adds what each rule did.

        The format may also be json, mermaid for a drawing of the physical plan, or html for a page that shows the
        shared plan.

        >>> streams = {"T": {"schema": {"k": "int", "v": "double", "ts": "timestamp"}}}
        >>> print(compile("SELECT k, v FROM T WHERE v > 30", catalog={"streams": streams}).explain())
        Query query
           gives _ts timestamp, k int, v double
        └─ Project k := T.k, v := T.v
           └─ Filter T.v > 30
              └─ Stream T
        """
        if format not in FORMATS or kind.lower() not in KINDS:
            raise ValueError(f"explain gives {', '.join(KINDS)} as {', '.join(FORMATS)}, not {kind} as {format}")
        if format == "json":
            return json.dumps(self._data(kind.lower()), indent=2, ensure_ascii=False)
        if format == "mermaid":
            return to_mermaid(self.physical)
        if format == "html":
            return page(self.picture())
        text = self._text(kind.lower())
        return f"{text}\n\n{explain_changes(self.optimized)}" if verbose else text

    def _text(self, kind: str) -> str:
        if kind == "shared":
            return explain_shared(self.shared)
        if kind == "physical":
            return explain_physical(self.physical)
        if kind == "cost":
            return explain_cost(self.shared, self.estimates, self.settings.sharing)
        return "\n\n".join(map(explain_logical, self._logical_plans()))

    def _data(self, kind: str) -> list[dict[str, Any]]:
        if kind == "logical":
            return [
                {"query": plan.name, "logical": explain_logical(plan).splitlines()} for plan in self._logical_plans()
            ]
        if kind == "cost":
            return cost_data(self.shared, self.estimates)
        return to_data(self.physical)

    def picture(self, run: Run | None = None) -> Picture:
        """What a page or a notebook shows: the shared plan, with what a run has measured if there was one."""
        return Picture(self._title, self.shared, self.physical, self.estimates, self.settings, self._texts, run)

    @property
    def _title(self) -> str:
        return "Shared plan"

    @property
    def _texts(self) -> Mapping[str, str]:
        return {}

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return cell(self.picture())


@dataclass(frozen=True)
class CompiledQuery(Planned):
    """One query, compiled.

    >>> hot = penstock.compile("SELECT LocationId FROM Temperature WHERE Value > 30", catalog="sensors/catalog")
    >>> hot.columns
    (('LocationId', 'int'),)
    """

    name: str
    logical: Query
    catalog: Catalog = field(repr=False)
    settings: Settings = field(repr=False)

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The names and types of the columns of its results, beside `_ts`."""
        return tuple((ref.name, type_) for ref, type_ in self.logical.schema.items())

    def _logical_plans(self) -> tuple[Query, ...]:
        return (self.logical,)

    @property
    def _title(self) -> str:
        return self.name


@dataclass(frozen=True)
class CompiledQueries(Planned, Mapping[str, CompiledQuery]):
    """Many queries, compiled together; a mapping from their names.

    >>> join = "SELECT A.LocationId FROM Temperature A, Humidity B WHERE A.LocationId = B.LocationId WINDOW"
    >>> queries = penstock.compile({"near": f"{join} 1 min", "far": f"{join} 1 hour"}, catalog="sensors/catalog")
    >>> list(queries), len(queries.shared.joins), len(queries.only(["near"]))
    (['near', 'far'], 1, 1)
    """

    catalog: Catalog
    settings: Settings
    queries: dict[str, CompiledQuery] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict, repr=False)
    measured: Measured = field(default_factory=Measured, repr=False)

    @property
    def estimates(self) -> Estimates:
        return Estimates(self.catalog, self.measured)

    def changed(self, program: Program, measured: Measured | None = None) -> CompiledQueries:
        """Another program, compiled: what both have in common is not compiled again."""
        new = compiled(program, self, measured or self.measured)
        if program.settings.sharing == self.settings.sharing and program.catalog == self.catalog:
            kept = {name for name, plan in new.logical.items() if name in self and self[name].logical is plan}
            context = Context(new.settings, new.estimates)
            with collection_paused():
                base = without(self.shared, [name for name in self if name not in kept], context)
                added = [plan for name, plan in new.logical.items() if name not in kept]
                optimized = optimize(added, context, base.plan) if added else base
            new.__dict__["optimized"] = optimized  # in place of the one that would be made from scratch
        return new

    def with_measured(self, measured: Measured) -> CompiledQueries:
        """The same plan, with what has been measured since it was made."""
        same = replace(self, measured=measured)
        same.__dict__["optimized"] = self.optimized
        return same

    @property
    def logical(self) -> dict[str, Query]:
        """The logical plan of each query."""
        return {name: query.logical for name, query in self.queries.items()}

    def _logical_plans(self) -> tuple[Query, ...]:
        return tuple(query.logical for query in self.queries.values())

    @property
    def _texts(self) -> Mapping[str, str]:
        return {name: self.definitions[name].text for name in self.queries if name in self.definitions}

    def only(self, names: Iterable[str]) -> CompiledQueries:
        """These queries alone, as though the others were not there."""
        return replace(self, queries={name: self.queries[name] for name in names})

    def __getitem__(self, name: str) -> CompiledQuery:
        return self.queries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __len__(self) -> int:
        return len(self.queries)


@overload
def compile(
    queries: str,
    catalog: CatalogLike = None,
    *,
    sharing: str = "slice",
    objective: str = "memory",
    settings: Mapping[str, Any] | None = None,
) -> CompiledQuery: ...
@overload
def compile(
    queries: Mapping[str, str],
    catalog: CatalogLike = None,
    *,
    sharing: str = "slice",
    objective: str = "memory",
    settings: Mapping[str, Any] | None = None,
) -> CompiledQueries: ...
def compile(
    queries: str | Mapping[str, str],
    catalog: CatalogLike = None,
    *,
    sharing: str = "slice",
    objective: str = "memory",
    settings: Mapping[str, Any] | None = None,
) -> CompiledQuery | CompiledQueries:
    """Compile one query text, or a mapping of names to texts, against a catalog.

    The catalog is a folder or file of YAML, a dict of the same shape, or a `Catalog`. CREATE STREAM and CREATE
    RELATION statements before the query add to it. Wrong input raises `PenstockError`, which says where and why.

    Many queries share one plan; `sharing` is slice, or for comparison none, pull-up or push-down, and `objective` says
    whether the state is cut for the least memory, the least cpu or as statistics tell (auto). `settings` has more.

    >>> query = penstock.compile("SELECT LocationId, Value FROM Temperature", catalog="sensors/catalog")
    >>> query.name, query.catalog.names
    ('query', ('Humidity', 'Temperature'))
    >>> penstock.compile("SELECT Valu FROM Temperature", catalog="sensors/catalog")
    Traceback (most recent call last):
    penstock.grammar.errors.PenstockError: <query>:1:8: error: unknown column 'Valu'
      SELECT Valu FROM Temperature
             ^^^^
      Did you mean Value?
      A text stands in single quotes.
    """
    base = Settings().with_all({"sharing": sharing, "objective": objective, **(settings or {})})
    known = Catalog() if catalog is None else load_catalog(catalog)
    if isinstance(queries, str):
        program = read_program([Script("query", Source("<query>", queries))], known, base)
        if len(program.queries) != 1:
            second = [definition.body.span for definition in program.queries.values()][1:2]
            raise PenstockError(
                f"expected one query, found {len(program.queries)}",
                span=second[0] if second else Span(len(queries), len(queries) + 1),
                source=Source("<query>", queries),
                hint="Give several queries as a mapping of names to texts.",
                label="not-one-query",
            )
        return next(iter(compiled(program).queries.values()))
    scripts = [Script(name, Source(f"<{name}>", text)) for name, text in queries.items()]
    with collection_paused():
        return compiled(read_program(scripts, known, base))


def compiled(
    program: Program, before: CompiledQueries | None = None, measured: Measured | None = None
) -> CompiledQueries:
    """A program's queries, compiled; those that were compiled before with the same catalog and settings are kept."""
    known = {}
    if before is not None and (before.catalog, before.settings) == (program.catalog, program.settings):
        known = {name: (definition, before[name].logical) for name, definition in before.definitions.items()}
    with collection_paused():
        plans = compile_program(program, known)
    queries = {name: CompiledQuery(name, plan, program.catalog, program.settings) for name, plan in plans.items()}
    return CompiledQueries(program.catalog, program.settings, queries, program.queries, measured or Measured())
