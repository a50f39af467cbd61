"""What queries and shared plans mean, computed by nested loops in plain Python: slow and obviously right.

It follows the definitions: a combination of one row of each input is a result at the largest of its times if it
meets the conditions and all its rows are in their windows then; aggregates look at the combinations whose rows are in
their windows at the instant. A shared plan must give every query the same answers, with only the rows that its
chains have kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from sqlglot import exp

from penstock.compiler.logical import (
    Aggregate,
    Filter,
    Join,
    Key,
    Named,
    Plan,
    Query,
    RelationScan,
    StreamScan,
    Window,
)
from penstock.compiler.scalar import PARAMETERS, Constant, Scalar
from penstock.compiler.scalar.value import type_name
from penstock.compiler.shared import Chain, Member, Shape, SharedPlan, Template
from penstock.tests.evaluate import SECOND, Environment, Value, aggregate, evaluate, micros

Row = dict[str, Value]
Answers = list[tuple[int, tuple[Value, ...]]]
Scan = StreamScan | RelationScan

AFTER = 20 * SECOND
"""How long after the last row aggregates are still computed: rows in a window of the last 5 rows stay for ever."""


def answers(query: Query, rows: dict[str, list[Row]], relations: dict[str, list[Row]]) -> Answers:
    """The times and values that a query gives, in no order."""
    return Reference(rows, relations).answers(query)


def shared_answers(plan: SharedPlan, rows: dict[str, list[Row]], relations: dict[str, list[Row]]) -> dict[str, Answers]:
    """The answers of every query of a shared plan."""
    return Reference(rows, relations).shared_answers(plan)


@dataclass(frozen=True)
class Asked:
    """A query in parts, whatever plan it comes from."""

    inputs: tuple[Scan, ...]
    windows: tuple[Window | None, ...]
    keys: tuple[Key, ...]
    conditions: tuple[Scalar, ...]
    columns: tuple[Named, ...]
    groups: tuple[Named, ...] = ()
    aggregates: tuple[Named, ...] = ()
    slide: int | None = None
    having: tuple[Scalar, ...] = ()
    constants: tuple[tuple[tuple[str, str], Value], ...] = ()
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Taken:
    """A row of an input: its values, and of a stream its time and its position."""

    values: Environment
    ts: int | None = None
    position: int = 0


@dataclass(frozen=True)
class Combination:
    """One row of each input, and the largest of their times."""

    parts: tuple[Taken, ...]
    values: Environment
    time: int


@dataclass
class Reference:
    """The interpreter, over the rows of streams, in the order in which they came, and of relations."""

    rows: dict[str, list[Row]]
    relations: dict[str, list[Row]]
    known: dict[Asked, tuple[Combination, ...]] = field(default_factory=dict)

    def answers(self, query: Query) -> Answers:
        """The answers of one query."""
        asked = _asked(query)
        return self._results(asked, self._combinations(asked))

    def shared_answers(self, plan: SharedPlan) -> dict[str, Answers]:
        """The answers of every query, with the rows alone that the chains keep."""
        found = {query.name: self.answers(query) for query in plan.queries}
        for template in plan.templates:
            chains = _chains(plan, template.shape) if plan.chains else ()
            for member in template.members:
                asked = _asked_by(template.shape, member)
                combinations = self._combinations(asked)
                if chains:
                    combinations = tuple(c for c in combinations if self._is_kept(c, template, chains))
                found[member.query] = self._results(asked, combinations)
        return found

    # Combinations

    def _combinations(self, asked: Asked) -> tuple[Combination, ...]:
        if asked not in self.known:
            self.known[asked] = tuple(self._combine(asked))
        return self.known[asked]

    def _combine(self, asked: Asked) -> list[Combination]:
        _check_types(asked)
        constants = dict(asked.constants)
        on_one = [c for c in asked.conditions if len(c.inputs - {PARAMETERS}) == 1]
        on_many = [c for c in asked.conditions if c not in on_one]
        taken = []
        for scan in asked.inputs:
            own = [c for c in on_one if scan.alias in c.inputs]
            taken.append([row for row in self._scanned(scan) if _meets(own, {**row.values, **constants})])
        result = []
        for parts in product(*taken):
            time = max(part.ts for part in parts if part.ts is not None)
            if not self._in_windows(asked, parts, time) or not _valid(asked, parts):
                continue
            values = {name: value for part in parts for name, value in part.values.items()} | constants
            if _agree(asked.keys, values) and _meets(on_many, values):
                result.append(Combination(parts, values, time))
        return result

    def _scanned(self, scan: Scan) -> list[Taken]:
        rows = self.relations[scan.relation] if isinstance(scan, RelationScan) else self.rows[scan.stream]
        result = []
        for position, row in enumerate(rows):
            values = {(scan.alias, name): row[name] for name, _ in scan.columns}
            ts = row[scan.timestamp] if isinstance(scan, StreamScan) else None
            result.append(Taken(values, ts, position))
        return result

    def _in_windows(self, asked: Asked, parts: tuple[Taken, ...], time: int) -> bool:
        """Whether all the rows are in their windows at this time."""
        return all(
            window is None or 0 <= self._age(scan, part, time, rows=window.rows) < window.size
            for scan, window, part in zip(asked.inputs, asked.windows, parts, strict=True)
        )

    def _age(self, scan: StreamScan, part: Taken, time: int, *, rows: bool) -> int:
        """How long ago a row was, or how many rows of its stream came after it, ordered by time and position."""
        if not rows:
            return time - part.ts
        order = [(row[scan.timestamp], position) for position, row in enumerate(self.rows[scan.stream])]
        return sum((part.ts, part.position) < other and other[0] <= time for other in order)

    # Results

    def _results(self, asked: Asked, combinations: tuple[Combination, ...]) -> Answers:
        if asked.slide is None:
            return [(found.time, _projected(asked, found.values)) for found in combinations]
        result = []
        for (instant, group), rows in self._groups(asked, combinations).items():
            values = dict(asked.constants)
            values |= {("", named.name): value for named, value in zip(asked.groups, group, strict=True)}
            values |= {("", named.name): aggregate(named.expr.tree, rows) for named in asked.aggregates}
            if _meets(asked.having, values):
                result.append((instant, _projected(asked, values)))
        return result

    def _groups(
        self, asked: Asked, combinations: tuple[Combination, ...]
    ) -> dict[tuple[int, tuple[Value, ...]], list[Environment]]:
        """The rows of each group at each instant; who is out of a window once does not come back."""
        groups: dict[tuple[int, tuple[Value, ...]], list[Environment]] = {}
        last = max((row[scan.timestamp] for scan in _streams(asked) for row in self.rows[scan.stream]), default=0)
        for found in combinations:
            group = tuple(_grouped(evaluate(named.expr.tree, found.values)) for named in asked.groups)
            instant = -(-found.time // asked.slide) * asked.slide
            while instant <= last + AFTER and self._in_windows(asked, found.parts, instant):
                groups.setdefault((instant, group), []).append(found.values)
                instant += asked.slide
        return groups

    # Chains

    def _is_kept(self, found: Combination, template: Template, chains: tuple[Chain | None, ...]) -> bool:
        """Whether all the rows of a combination are still in their chains when it comes about."""
        inputs = template.shape.inputs
        return all(
            chain is None or self._in_chain(part, scan, chain, found.time, template.shape)
            for part, scan, chain in zip(found.parts, inputs, chains, strict=True)
        )

    def _in_chain(self, part: Taken, scan: StreamScan, chain: Chain, time: int, shape: Shape) -> bool:
        reach = reach_of(chain, {name: value for (_, name), value in part.values.items()})
        if reach is None:
            return False
        age = self._age(scan, part, time, rows=chain.rows)
        if not shape.keeps_state:
            return age == 0
        return age < end_of(chain, reach)


def reach_of(chain: Chain, row: Row) -> int | None:
    """How far down the chain a row goes; None if nobody wants it."""
    values = {(chain.stream, name): value for name, value in row.items()}
    reaches = [
        reach
        for wanted in chain.wanted
        for constants, reach in wanted.rows
        if _meets(wanted.conditions, values | dict(_parameters(wanted.parameters, constants)))
    ]
    return max(reaches, default=None)


def end_of(chain: Chain, reach: int) -> int:
    """The age at which a row of this reach is dropped: at the end of the slice it reaches into."""
    if chain.partitioned or len(chain.boundaries) == 1:
        return reach
    return min(boundary for boundary in chain.boundaries if boundary >= reach)


def _chains(plan: SharedPlan, shape: Shape) -> tuple[Chain | None, ...]:
    """The chain of each input of a shape; None for relations."""
    used = [*shape.conditions, *(named.expr for named in (*shape.groups, *shape.aggregates, *shape.columns))]
    used += [part for key in getattr(shape.source, "keys", ()) for part in key.parts]
    result: list[Chain | None] = []
    for scan, unit in zip(shape.inputs, shape.units, strict=True):
        if isinstance(scan, RelationScan):
            result.append(None)
            continue
        place = (shape.scope, scan.stream, unit == "rows" and shape.keeps_state)
        (chain,) = [chain for chain in plan.chains if (chain.scope, chain.stream, chain.rows) == place]
        needed = {ref.name for scalar in used for ref in scalar.columns if ref.input == scan.alias}
        assert {*needed, scan.timestamp} <= set(chain.columns), f"{chain.stream} does not keep {needed}"
        result.append(chain)
    return tuple(result)


def _asked(query: Query) -> Asked:
    """A plan of one query in parts; its filters may stand anywhere."""
    nodes = [node for node in query.walk() if isinstance(node, Plan)]
    above = next((place for place, node in enumerate(nodes) if isinstance(node, Aggregate)), 0)
    grouping = nodes[above] if isinstance(nodes[above], Aggregate) else None
    having = [c for node in nodes[:above] if isinstance(node, Filter) for c in node.conditions]
    conditions = [c for node in nodes[above:] if isinstance(node, Filter) for c in node.conditions]
    joins = [node for node in nodes if isinstance(node, Join)]
    conditions += [c for join in joins for c in join.residual]
    scans = tuple(node for node in nodes if isinstance(node, Scan))
    return Asked(
        inputs=scans,
        windows=tuple(scan.window if isinstance(scan, StreamScan) else None for scan in scans),
        keys=tuple(key for join in joins for key in join.keys),
        conditions=tuple(conditions),
        columns=query.input.columns,
        groups=grouping.groups if grouping else (),
        aggregates=grouping.aggregates if grouping else (),
        slide=grouping.slide if grouping else None,
        having=tuple(having),
    )


def _asked_by(shape: Shape, member: Member) -> Asked:
    """A member of a template in parts: the shape with its windows and constants."""
    return Asked(
        inputs=shape.inputs,
        windows=member.windows,
        keys=getattr(shape.source, "keys", ()),
        conditions=shape.conditions,
        columns=shape.columns,
        groups=shape.groups,
        aggregates=shape.aggregates,
        slide=shape.slide,
        having=shape.having,
        constants=_parameters(shape.parameters, member.constants),
        parameters=shape.parameters,
    )


_PYTHON = {"int": int, "bigint": int, "double": float, "string": str}


def _parameters(types: tuple[str, ...], constants: tuple[Constant, ...]) -> tuple[tuple[tuple[str, str], Value], ...]:
    """Constants as the values of `_query.c1`, `_query.c2`, …; each must be of the type it is said to be."""
    result = []
    for number, (type_, constant) in enumerate(zip(types, constants, strict=True), 1):
        assert type_ not in _PYTHON or type(constant) is _PYTHON[type_], f"{constant!r} is no {type_}"
        value = micros(constant) if type_ in ("timestamp", "date") else constant
        result.append(((PARAMETERS, f"c{number}"), value))
    return tuple(result)


def _check_types(asked: Asked) -> None:
    """Every expression must take the columns of the inputs, and the parameters, for what they are."""
    schema = {ref: type_ for scan in asked.inputs for ref, type_ in scan.schema.items()}
    schema |= {(PARAMETERS, f"c{number}"): type_ for number, type_ in enumerate(asked.parameters, 1)}
    scalars = [*asked.conditions, *asked.having, *(part for key in asked.keys for part in key.parts)]
    scalars += [named.expr for named in (*asked.groups, *asked.aggregates, *asked.columns)]
    for scalar in scalars:
        for node in scalar.tree.find_all(exp.Column):
            expected = schema.get((node.table, node.name), type_name(node))
            assert type_name(node) == expected, f"{scalar}: {node} is {expected}, not {type_name(node)}"


def _streams(asked: Asked) -> list[StreamScan]:
    return [scan for scan in asked.inputs if isinstance(scan, StreamScan)]


def _valid(asked: Asked, parts: tuple[Taken, ...]) -> bool:
    """Whether the rows of relations are valid at the times of the rows that they are joined with; of all, if of none.

    Two inputs are joined when a key or a condition names both.
    """
    together = [frozenset().union(*(part.inputs for part in key.parts)) for key in asked.keys]
    together += [condition.inputs for condition in asked.conditions]
    times = {scan.alias: part.ts for scan, part in zip(asked.inputs, parts, strict=True) if part.ts is not None}
    for scan, part in zip(asked.inputs, parts, strict=True):
        if isinstance(scan, RelationScan) and scan.valid is not None:
            begin, end = (part.values[scan.alias, name] for name in scan.valid)
            own = [alias for alias in times if any({alias, scan.alias} <= names for names in together)]
            if not all(begin <= times[alias] < end for alias in own or times):
                return False
    return True


def _agree(keys: tuple[Key, ...], values: Environment) -> bool:
    """Whether the parts of each key are equal and not null."""
    for key in keys:
        first, *rest = (evaluate(part.tree, values) for part in key.parts)
        if first is None or any(other is None or other != first for other in rest):
            return False
    return True


def _grouped(value: Value) -> Value:
    """-0.0 and 0.0 are one group, called 0.0."""
    return value + 0.0 if isinstance(value, float) else value


def _meets(conditions: tuple[Scalar, ...] | list[Scalar], values: Environment) -> bool:
    return all(evaluate(condition.tree, values) is True for condition in conditions)


def _projected(asked: Asked, values: Environment) -> tuple[Value, ...]:
    return tuple(evaluate(column.expr.tree, values) for column in asked.columns)
