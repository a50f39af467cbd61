"""Logical plans: what a query asks for, bound and typed, before any decision on how to get it.

Nodes are frozen and compare by structure. Constructors check that every expression uses only columns its
input has, so that a plan that exists is a plan that makes sense.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.compiler.scalar import ColumnRef, Scalar
from penstock.grammar.durations import format_duration
from penstock.grammar.tree import Node

Schema = dict[ColumnRef, str]


@dataclass(frozen=True, slots=True)
class Window:
    """The last `size` microseconds, or the last `size` rows."""

    size: int
    rows: bool = False

    def __str__(self) -> str:
        return f"{self.size} row{'s' * (self.size != 1)}" if self.rows else format_duration(self.size)


@dataclass(frozen=True, slots=True)
class Named:
    """An expression and the name of the column it becomes."""

    name: str
    expr: Scalar

    def __str__(self) -> str:
        return self.expr.sql if self.expr.sql == self.name else f"{self.name} := {self.expr}"


@dataclass(frozen=True, slots=True)
class Plan(Node):
    """A node of a logical plan."""

    @property
    def schema(self) -> Schema:
        """The columns it gives and their types, in order."""
        raise TypeError(f"{type(self).__name__} has no schema")

    def describe(self) -> str:
        """One line for EXPLAIN."""
        raise TypeError(f"{type(self).__name__} has no description")


@dataclass(frozen=True, slots=True)
class StreamScan(Plan):
    """The rows of a stream that are in its window; `derived` when the stream is another query's results."""

    stream: str
    alias: str
    columns: tuple[tuple[str, str], ...]
    timestamp: str
    window: Window | None = None
    derived: bool = False

    @property
    def schema(self) -> Schema:
        return {ColumnRef(self.alias, name): type_ for name, type_ in self.columns}

    def describe(self) -> str:
        kind = "Query" if self.derived else "Stream"
        return f"{kind} {_named(self.stream, self.alias)}" + (f" [{self.window}]" if self.window else "")


@dataclass(frozen=True, slots=True)
class RelationScan(Plan):
    """The rows of a relation, with the columns that hold their validity if they have one."""

    relation: str
    alias: str
    columns: tuple[tuple[str, str], ...]
    valid: tuple[str, str] | None = None

    @property
    def schema(self) -> Schema:
        return {ColumnRef(self.alias, name): type_ for name, type_ in self.columns}

    def describe(self) -> str:
        valid = f" valid [{self.valid[0]}, {self.valid[1]})" if self.valid else ""
        return f"Relation {_named(self.relation, self.alias)}{valid}"


@dataclass(frozen=True, slots=True)
class Key:
    """Expressions over different inputs that must all be equal and not null."""

    parts: tuple[Scalar, ...]

    def __str__(self) -> str:
        return " = ".join(part.sql for part in self.parts)


@dataclass(frozen=True, slots=True)
class Join(Plan):
    """Combinations of one row of each input, all in their windows, that agree in the keys and meet the residual."""

    inputs: tuple[Plan, ...]
    keys: tuple[Key, ...] = ()
    residual: tuple[Scalar, ...] = ()

    def __post_init__(self) -> None:
        _check(self, self.schema, [*(part for key in self.keys for part in key.parts), *self.residual])
        for key in self.keys:
            if len(key.parts) < 2 or any(len(part.inputs) != 1 for part in key.parts):
                raise ValueError(f"not a join key: {key}")

    @property
    def schema(self) -> Schema:
        return {ref: type_ for child in self.inputs for ref, type_ in child.schema.items()}

    def describe(self) -> str:
        parts = []
        if self.keys:
            parts.append("on " + " and ".join(map(str, self.keys)))
        if self.residual:
            parts.append("where " + " and ".join(map(_bracketed, self.residual)))
        return "Join " + (" ".join(parts) or "every combination")


@dataclass(frozen=True, slots=True)
class Filter(Plan):
    """The rows that meet every condition."""

    input: Plan
    conditions: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        _check(self, self.input.schema, self.conditions)

    @property
    def schema(self) -> Schema:
        return self.input.schema

    def describe(self) -> str:
        return "Filter " + " and ".join(map(_bracketed, self.conditions))


@dataclass(frozen=True, slots=True)
class Aggregate(Plan):
    """Groups and their aggregates at every instant that is a multiple of `slide` microseconds."""

    input: Plan
    groups: tuple[Named, ...]
    aggregates: tuple[Named, ...]
    slide: int

    def __post_init__(self) -> None:
        _check(self, self.input.schema, [named.expr for named in (*self.groups, *self.aggregates)])

    @property
    def schema(self) -> Schema:
        return {ColumnRef("", named.name): named.expr.type for named in (*self.groups, *self.aggregates)}

    def describe(self) -> str:
        groups = ", ".join(map(str, self.groups)) or "everything"
        aggregates = ", ".join(map(str, self.aggregates))
        computed = f" computing {aggregates}" if aggregates else ""
        return f"Aggregate every {format_duration(self.slide)} by {groups}{computed}"


@dataclass(frozen=True, slots=True)
class Project(Plan):
    """The columns of the answer."""

    input: Plan
    columns: tuple[Named, ...]

    def __post_init__(self) -> None:
        _check(self, self.input.schema, [named.expr for named in self.columns])

    @property
    def schema(self) -> Schema:
        return {ColumnRef("", named.name): named.expr.type for named in self.columns}

    def describe(self) -> str:
        return "Project " + ", ".join(map(str, self.columns))


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a query's results go if not into the shared results store."""

    format: str
    path: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        options = ", ".join(f"{name} = '{value}'" for name, value in self.options)
        return self.format + (f" '{self.path}'" if self.path else "") + (f" ({options})" if options else "")


@dataclass(frozen=True, slots=True)
class Query(Plan):
    """The root: a named query and where its results go."""

    name: str
    input: Plan
    sink: Sink | None = None

    @property
    def schema(self) -> Schema:
        return self.input.schema

    def describe(self) -> str:
        return f"Query {self.name}" + (f" into {self.sink}" if self.sink else "")


def _check(node: Plan, schema: Schema, expressions: list[Scalar] | tuple[Scalar, ...]) -> None:
    for expression in expressions:
        for ref in expression.columns:
            if ref not in schema:
                raise ValueError(f"{type(node).__name__}: {expression} uses {'.'.join(ref)}, which its input lacks")


def _named(name: str, alias: str) -> str:
    return name if name == alias else f"{name} {alias}"


def _bracketed(condition: Scalar) -> str:
    return f"({condition})" if " OR " in condition.sql else condition.sql
