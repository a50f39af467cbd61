"""The shared plan: many queries as templates over shared joins, over one chain for each stream.

Rules change it step by step: `queries` become `templates`, these get `joins` with probe orders and `chains` of
slices. What is here is data; `rules/` says how it comes about, `physical.py` what is run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from penstock.compiler.logical import Join, Named, Plan, Query, RelationScan, Sink, StreamScan, Window
from penstock.compiler.scalar import Constant, Scalar


@dataclass(frozen=True, slots=True)
class Member:
    """A query of a template: its name, a window for each input, and its constants c1, c2, …"""

    query: str
    windows: tuple[Window | None, ...]
    constants: tuple[Constant, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """What the queries of a template have in common.

    `source` is their signature: the inputs under canonical names, without windows, and the keys. Conditions are
    over its columns and the parameters `_query.c1`, `_query.c2`, …, whose types are `parameters`. A `scope`
    that is not empty keeps the template's state apart from that of the other scopes.
    """

    source: Plan
    units: tuple[str, ...]
    selections: tuple[tuple[Scalar, ...], ...]
    residual: tuple[Scalar, ...]
    columns: tuple[Named, ...]
    parameters: tuple[str, ...] = ()
    groups: tuple[Named, ...] = ()
    aggregates: tuple[Named, ...] = ()
    slide: int | None = None
    having: tuple[Scalar, ...] = ()
    sink: Sink | None = None
    scope: str = ""

    @property
    def inputs(self) -> tuple[StreamScan | RelationScan, ...]:
        """The inputs of the source, in order."""
        return inputs_of(self.source)

    @property
    def streams(self) -> tuple[tuple[int, StreamScan], ...]:
        """The inputs that are streams, with their positions."""
        return tuple((i, scan) for i, scan in enumerate(self.inputs) if isinstance(scan, StreamScan))

    @property
    def keeps_state(self) -> bool:
        """Whether rows must be kept for later: a row alone, or with relations, is done with at once."""
        return len(self.streams) > 1 or "rows" in self.units

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """What a combination must meet to be a result of a member, besides the keys and the windows."""
        return (*(c for selection in self.selections for c in selection), *self.residual)


@dataclass(frozen=True, slots=True)
class Template:
    """Queries that differ in windows and constants only."""

    shape: Shape
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class SharedJoin:
    """A join that templates share, and for the new rows of each stream the order in which they probe the others."""

    source: Join
    scope: str
    orders: tuple[tuple[str, ...], ...]

    @property
    def streams(self) -> tuple[StreamScan, ...]:
        """The inputs that are streams."""
        return tuple(scan for scan in inputs_of(self.source) if isinstance(scan, StreamScan))

    @property
    def name(self) -> str:
        """The inputs and keys as text."""
        inputs = ", ".join(scan.alias for scan in inputs_of(self.source))
        return f"{inputs} on {' and '.join(map(str, self.source.keys)) or 'every combination'}"


@dataclass(frozen=True, slots=True)
class Fact:
    """A valid row of a relation whose expressions `theirs` equal a stream's `own`.

    If it `limits`, it must also be valid at the times of all rows that are still to come.
    """

    relation: str
    valid: tuple[str, str]
    own: tuple[Scalar, ...]
    theirs: tuple[Scalar, ...]
    limits: bool

    @property
    def column(self) -> str:
        """The name of the column that says until when a row has one."""
        pairs = zip(self.own, self.theirs, strict=True)
        text = "\n".join([self.relation, *self.valid, *(f"{a.sql} {b.sql}" for a, b in pairs)])
        return f"_until_{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows of a stream that meet conditions over `_query.c1`, …; each line of `rows` is constants and a reach.

    Without all of the `facts` a row is not wanted either.
    """

    conditions: tuple[Scalar, ...]
    parameters: tuple[str, ...]
    rows: tuple[tuple[tuple[Constant, ...], int], ...]
    facts: tuple[Fact, ...] = ()

    @property
    def reach(self) -> int:
        """The longest reach."""
        return max(reach for _, reach in self.rows)


@dataclass(frozen=True, slots=True)
class Chain:
    """The kept rows of a stream, cut by age (or, in `rows`, by how many rows came since) at the boundaries.

    A row is wanted by whatever it meets in `wanted`; the largest reach among these says how far down the chain
    it goes. A row that meets none is dropped. `windows` are those the queries put on the stream, ascending. When
    `partitioned`, the rows of each reach are kept apart.
    """

    stream: str
    timestamp: str
    columns: tuple[str, ...]
    wanted: tuple[Wanted, ...]
    windows: tuple[int, ...] = ()
    boundaries: tuple[int, ...] = (0,)
    rows: bool = False
    scope: str = ""
    partitioned: bool = False

    @property
    def reach(self) -> int:
        """The age at which every row is dropped; 0 if none is kept."""
        return max(wanted.reach for wanted in self.wanted)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that it is looked for when rows come, one for each column."""
        found = {fact.column: fact for wanted in self.wanted for fact in wanted.facts}
        return tuple(found[name] for name in sorted(found))

    @property
    def slices(self) -> tuple[tuple[int, int], ...]:
        """The ages between neighbouring boundaries."""
        return tuple(zip(self.boundaries, self.boundaries[1:], strict=False))


@dataclass(frozen=True)
class SharedPlan:
    """Everything that runs together."""

    queries: tuple[Query, ...] = ()
    templates: tuple[Template, ...] = ()
    joins: tuple[SharedJoin, ...] = ()
    chains: tuple[Chain, ...] = ()

    @cached_property
    def members(self) -> dict[str, Template]:
        """The template of each query."""
        return {member.query: template for template in self.templates for member in template.members}

    def names(self) -> Iterator[str]:
        """The names of all the queries."""
        yield from (query.name for query in self.queries)
        yield from self.members


def inputs_of(source: Plan) -> tuple[StreamScan | RelationScan, ...]:
    """The scans below a signature."""
    scans = source.inputs if isinstance(source, Join) else (source,)
    return tuple(scan for scan in scans if isinstance(scan, StreamScan | RelationScan))
