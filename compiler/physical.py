"""The physical plan: what is run, as operators shaped for Spark, without Spark.

Every operator has an id made from what it is (not from its state, its members or the other queries), so that two
plans can be compared operator by operator and a running one can be changed into another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeVar

from penstock.compiler.logical import Join, Plan, RelationScan
from penstock.compiler.shared import Chain, Member, Shape, SharedJoin, inputs_of
from penstock.compiler.tally import Tally
from penstock.grammar.durations import format_duration

Kind = TypeVar("Kind", bound="Operator")
RESULTS = "results"
"""The store that takes the results of queries without INSERT INTO."""


@dataclass(frozen=True)
class Operator:
    """A node of the physical plan; `inputs` are the ids of the operators it reads."""

    kind: ClassVar[str] = ""
    inputs: tuple[str, ...]

    @cached_property
    def id(self) -> str:
        """Its kind and a digest of what it is."""
        digest = hashlib.blake2b("\n".join(self.identity()).encode(), digest_size=4).hexdigest()
        return f"{self.kind}-{digest}"

    def identity(self) -> Iterable[str]:
        """The texts that make it the same operator in another plan."""
        raise TypeError(f"{type(self).__name__} has no identity")

    def state(self) -> str:
        """What it keeps between steps, and what bounds that."""
        return "none"


@dataclass(frozen=True)
class Ingest(Operator):
    """Reads a stream once for everybody: casts, sets bad rows aside, tags the reach of each row for every chain."""

    kind: ClassVar[str] = "ingest"
    stream: str
    timestamp: str
    columns: tuple[tuple[str, str], ...]
    derived: bool = False

    def identity(self) -> Iterable[str]:
        return (self.stream, str(self.derived))


@dataclass(frozen=True)
class KeepChain(Operator):
    """Keeps the rows of a stream, sliced by age, for all the probes that read them."""

    kind: ClassVar[str] = "chain"
    chain: Chain

    def identity(self) -> Iterable[str]:
        return (self.chain.scope, self.chain.stream, str(self.chain.rows))

    def state(self) -> str:
        if not self.chain.reach:
            return "none: no row is needed again"
        longest = f"{self.chain.reach} rows" if self.chain.rows else format_duration(self.chain.reach)
        return f"bounded: rows of the last {longest}" if not self.chain.rows else f"bounded: the last {longest}"


@dataclass(frozen=True)
class Probe(Operator):
    """Joins the new rows of each stream with the chains of the others and the relations, in the order best for it."""

    kind: ClassVar[str] = "probe"
    join: SharedJoin

    def identity(self) -> Iterable[str]:
        return (self.join.scope, *signature_text(self.join.source))

    @property
    def relations(self) -> tuple[RelationScan, ...]:
        """The relations it looks into."""
        return tuple(scan for scan in inputs_of(self.join.source) if isinstance(scan, RelationScan))

    def state(self) -> str:
        names = ", ".join(scan.relation for scan in self.relations)
        return f"none of its own: reads the chains and {names}" if names else "none of its own: reads the chains"


@dataclass(frozen=True)
class Route(Operator):
    """Finds the queries that a combination is a result of, by their windows and constants, which are data."""

    kind: ClassVar[str] = "route"
    shape: Shape
    members: tuple[Member, ...]

    def identity(self) -> Iterable[str]:
        return shape_text(self.shape)


@dataclass(frozen=True)
class AggregateWindows(Operator):
    """Adds combinations up into partial aggregates by group and time, from which any number of templates read."""

    kind: ClassVar[str] = "aggregate"
    tally: Tally

    def identity(self) -> Iterable[str]:
        return (*shape_text(self.tally.shape), str(self.tally.grain))

    def state(self) -> str:
        return f"bounded: partial aggregates by group and time, for {format_duration(self.tally.longest)}"


@dataclass(frozen=True)
class Write(Operator):
    """Writes results: into the shared store, in one pass for all the queries of a template, or into a sink."""

    kind: ClassVar[str] = "sink"
    shape: Shape

    def identity(self) -> Iterable[str]:
        return shape_text(self.shape)

    @property
    def target(self) -> str:
        """Where to, as text."""
        return str(self.shape.sink) if self.shape.sink else RESULTS


@dataclass(frozen=True)
class PhysicalPlan:
    """The operators, each after those it reads."""

    operators: tuple[Operator, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Operator]:
        """The operators by id."""
        return {operator.id: operator for operator in self.operators}

    def of_kind(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """The operators of a kind."""
        return tuple(operator for operator in self.operators if isinstance(operator, kind))

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The names of all the queries."""
        return tuple(sorted(member.query for route in self.of_kind(Route) for member in route.members))


def signature_text(source: Plan) -> tuple[str, ...]:
    """A signature as texts."""
    keys = source.keys if isinstance(source, Join) else ()
    return (*(scan.describe() for scan in inputs_of(source)), *map(str, keys))


def shape_text(shape: Shape) -> tuple[str, ...]:
    """A shape as texts."""
    return (
        shape.scope,
        *signature_text(shape.source),
        " ".join(shape.units),
        *(condition.sql for condition in shape.conditions),
        *shape.parameters,
        *map(str, (*shape.groups, *shape.aggregates)),
        str(shape.slide),
        *(condition.sql for condition in shape.having),
        *(f"{column.name} := {column.expr}" for column in shape.columns),
        str(shape.sink),
    )
