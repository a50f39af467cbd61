"""`penstock.compile` and what it gives."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

from penstock.catalog import Catalog, load_catalog
from penstock.compiler.compile import compile_program
from penstock.compiler.explain import explain_logical
from penstock.compiler.logical import Query
from penstock.compiler.program import Program, Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source

CatalogLike = str | os.PathLike[str] | Mapping[str, Any] | Catalog | None


@dataclass(frozen=True)
class CompiledQuery:
    """One query, compiled."""

    name: str
    logical: Query

    def explain(self) -> str:
        """The plan as text.

        >>> streams = {"T": {"schema": {"k": "int", "v": "double", "ts": "timestamp"}}}
        >>> print(compile("SELECT k, v FROM T WHERE v > 30", catalog={"streams": streams}).explain())
        Query query
           gives _ts timestamp, k int, v double
        └─ Project k := T.k, v := T.v
           └─ Filter T.v > 30
              └─ Stream T
        """
        return explain_logical(self.logical)

    def __str__(self) -> str:
        return self.explain()


@dataclass(frozen=True)
class CompiledQueries(Mapping[str, CompiledQuery]):
    """Many queries, compiled together; a mapping from their names."""

    catalog: Catalog
    settings: Settings
    queries: dict[str, CompiledQuery] = field(default_factory=dict)

    @property
    def logical(self) -> dict[str, Query]:
        """The logical plan of each query."""
        return {name: query.logical for name, query in self.queries.items()}

    def explain(self) -> str:
        """All the plans as text."""
        return "\n\n".join(query.explain() for query in self.queries.values())

    def __getitem__(self, name: str) -> CompiledQuery:
        return self.queries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __len__(self) -> int:
        return len(self.queries)

    def __str__(self) -> str:
        return self.explain()


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
    """
    base = Settings().with_all({"sharing": sharing, "objective": objective, **(settings or {})})
    known = Catalog() if catalog is None else load_catalog(catalog)
    if isinstance(queries, str):
        program = read_program([Script("query", Source("<query>", queries))], known, base)
        if len(program.queries) != 1:
            raise PenstockError(
                f"expected one query, found {len(program.queries)}",
                source=Source("<query>", queries),
                hint="Give several queries as a mapping of names to texts.",
                label="not-one-query",
            )
        return next(iter(compiled(program).queries.values()))
    scripts = [Script(name, Source(f"<{name}>", text)) for name, text in queries.items()]
    return compiled(read_program(scripts, known, base))


def compiled(program: Program) -> CompiledQueries:
    """A program's queries, compiled."""
    plans = compile_program(program)
    return CompiledQueries(
        program.catalog, program.settings, {name: CompiledQuery(name, plan) for name, plan in plans.items()}
    )
