"""Routing: which queries a combination is a result of, in one pass for all of them.

The constants and windows of the queries are rows of a small table that combinations are matched with, so that
many queries cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from penstock.compiler.logical import Window
from penstock.compiler.scalar import PARAMETERS, ColumnRef, Constant, Scalar
from penstock.compiler.shared import Member, Shape
from penstock.compiler.validity import key_ties, ties
from penstock.runtime.columns import (
    AT,
    QUERY,
    RANK,
    SEEN,
    TIME,
    all_of,
    changing,
    column,
    flat_sql,
    literal,
    looked_up,
    quoted,
)
from penstock.runtime.probe import valid_sql
from penstock.runtime.reach import direction
from penstock.runtime.session import local_table

TEMPLATE = "_query._template"
NUMBER = "_number"
"""The place of a query among those whose results are written together; results are counted by it."""
FROM = "_query._from"
"""The event time from which on a query may use rows; older ones lack some of its columns."""
SINCE, UNTIL = "_query._since", "_query._until"
"""The times that a query is to answer for, while it is handed over."""
NEWEST = "_newest"
"""The time of a combination: that of its newest row."""
AGE = "_age"
"""How much older its oldest row is."""
END = "_end"
"""When the first row of a combination leaves its window, less the longest window of all."""
_EVER = -(2**62)
Columns = tuple[tuple[str, str], ...]
"""Names and types of output columns."""


@dataclass(frozen=True)
class Target:
    """A template with its queries."""

    shape: Shape
    members: tuple[Member, ...]


def is_uniform(targets: Iterable[Target]) -> bool:
    """Whether every query has one time window for all its streams."""
    return all(
        len({window for window in member.windows if window is not None}) <= 1 and "rows" not in target.shape.units
        for target in targets
        for member in target.members
    )


class Router:
    """Templates over one source, ready to be matched with its rows in every step."""

    def __init__(
        self,
        spark: SparkSession,
        targets: tuple[Target, ...],
        outputs: Columns,
        usable: Mapping[str, int] | None = None,
        spans: Mapping[tuple[str, str], tuple[int, int]] | None = None,
        first: int = 0,
        *,
        ends: bool = False,
    ) -> None:
        """`usable` says from which event time on a query may use rows, if not all; `first` is the first number.

        `spans` says for a scope and a query which times it is to answer for, if not all. With `ends`, results have a
        column that says when they are over.
        """
        self._ends = ends
        self.targets = targets
        self.uniform = is_uniform(targets)
        self._spark = spark
        self._outputs = outputs
        known = [member.query for target in targets for member in target.members]
        self._usable = {query: usable[query] for query in known if query in usable} if usable else {}
        scopes = {member.query: target.shape.scope for target in targets for member in target.members}
        found = {query: (spans or {}).get((scope, query)) for query, scope in scopes.items()}
        self._spans = {query: span for query, span in found.items() if span is not None}
        self.first = first
        self._table: str | None = None
        self._route = self._one if self.alone else self._many()

    @property
    def queries(self) -> list[str]:
        """The queries in the order of their numbers."""
        return [member.query for target in self.targets for member in target.members]

    @property
    def alone(self) -> bool:
        """Whether there is just one query."""
        return len(self.targets) == 1 and len(self.targets[0].members) == 1

    def routed(self, rows: str, *, numbered: bool, timed: bool = False) -> str:
        """The results of all the queries: `_query`, `_ts` and the output columns, NULL where a query has none.

        If `numbered`, also the number of the query. Rows that are `timed` have the time of their results already.
        """
        shape = self.targets[0].shape
        newest = NEWEST if timed else _newest(shape)
        times = [] if timed else [f"{newest} AS {NEWEST}"]
        if len(shape.streams) > 1:
            oldest = ", ".join(quoted(column(scan.alias, AT)) for _, scan in shape.streams)
            times.append(f"{newest} - LEAST({oldest}) AS {AGE}")
        return self._route(f"SELECT {', '.join(['*', *times])} FROM ({rows}) AS met", numbered)

    def close(self) -> None:
        """Remove the table of queries."""
        if self._table is not None:
            self._spark.catalog.dropTempView(self._table)

    def _one(self, timed: str, numbered: bool) -> str:
        """The results of the only query: nothing to look up."""
        (target,) = self.targets
        (member,) = target.members
        shape = target.shape
        conditions = [_with_literals(condition, member.constants) for condition in shape.conditions]
        sizes = [f"{window.size}L" if window else None for window in member.windows]
        windows = [*_window_conditions(shape, sizes), *_validity(shape)]
        if member.query in self._usable:
            windows.append(f"{_oldest(shape)} >= {changing(self._usable[member.query], NEWEST)}")
        if member.query in self._spans:
            since, until = self._spans[member.query]
            windows.append(f"{NEWEST} >= {changing(since, NEWEST)} AND {NEWEST} < {changing(until, NEWEST)}")
        own = {named.name: _with_literals(named.expr, member.constants) for named in shape.columns}
        shown = [f"{own.get(name, f'CAST(NULL AS {type_})')} AS {quoted(name)}" for name, type_ in self._outputs]
        known = [f"{literal(member.query)} AS {QUERY}", *([f"{self.first} AS {NUMBER}"] if numbered else [])]
        end = [f"{_end(shape, sizes)} AS {END}"] if self._ends else []
        columns = [*known, f"timestamp_micros({NEWEST}) AS {TIME}", *shown, *end]
        return f"SELECT {', '.join(columns)} FROM ({timed}) AS timed WHERE {all_of([*windows, *conditions])}"

    def _many(self) -> Callable[[str, bool], str]:
        """A way to match rows with a table of the queries."""
        queries = QueryTable(self.targets, self._usable, self._spans, self.first)
        envelope, condition = queries.envelope(), queries.condition()
        shown = [f"{queries.output(name, type_)} AS {quoted(name)}" for name, type_ in self._outputs]
        results = [f"timestamp_micros({NEWEST}) AS {TIME}", *shown]
        if self._ends:
            results.append(f"{queries.end()} AS {END}")

        def many(timed: str, numbered: bool) -> str:
            columns = ", ".join([QUERY, *([NUMBER] if numbered else []), *results])
            if self._table is None:
                self._table = f"penstock_queries_{uuid4().hex[:12]}"
                queries.frame(self._spark).createOrReplaceTempView(self._table)
            near = f"SELECT * FROM ({timed}) AS timed WHERE {envelope}"
            met = f"({near}) AS near JOIN {self._table} AS asked ON {condition}"
            return f"SELECT /*+ BROADCAST(asked) */ {columns} FROM {met}"

        return many


def _with_literals(scalar: Scalar, constants: tuple[Constant, ...]) -> str:
    text = flat_sql(scalar)
    for number in range(len(constants), 0, -1):
        text = text.replace(quoted(f"{PARAMETERS}.c{number}"), literal(constants[number - 1]))
    return text


def _newest(shape: Shape) -> str:
    """The time of a combination: that of its newest row."""
    times = [quoted(column(scan.alias, AT)) for _, scan in shape.streams]
    return times[0] if len(times) == 1 else f"GREATEST({', '.join(times)})"


def _oldest(shape: Shape) -> str:
    """The time of a combination's oldest row."""
    return NEWEST if len(shape.streams) == 1 else f"{NEWEST} - {AGE}"


def _end(shape: Shape, windows: list[str | None]) -> str:
    """When the first row leaves its window, less the longest window."""
    sizes = [(scan, window) for scan, window in zip(shape.inputs, windows, strict=False) if window is not None]
    if len({window for _, window in sizes}) <= 1:
        return _oldest(shape)
    ends = ", ".join(f"{quoted(column(scan.alias, AT))} + {window}" for scan, window in sizes)
    return f"LEAST({ends}) - GREATEST({', '.join(window for _, window in sizes)})"


def _validity(shape: Shape) -> list[str]:
    """Rows of relations are valid at the times of the rows that other conditions than keys join them with."""
    done = key_ties(shape.source)
    return [valid_sql(tie) for tie in ties(shape) if tie not in done]


def _window_conditions(shape: Shape, windows: list[str | None]) -> list[str]:
    """Every row is in its window at the time of the result."""
    bounds = [
        (scan, shape.units[position] == "rows", window)
        for position, scan in shape.streams
        if (window := windows[position]) is not None
    ]
    if "rows" in shape.units:
        return [_counted(scan.alias, window) if rows else _aged(scan.alias, window) for scan, rows, window in bounds]
    if len(shape.streams) == 1:
        return []
    if len({window for _, _, window in bounds}) == 1 and len(bounds) == len(shape.streams):
        return [f"{AGE} < {bounds[0][2]}"]
    return [_aged(scan.alias, window) for scan, _, window in bounds]


def _aged(alias: str, window: str) -> str:
    return f"{NEWEST} - {quoted(column(alias, AT))} < {window}"


def _counted(alias: str, window: str) -> str:
    """A row is among the last ones of its stream."""
    return f"{quoted(column(alias, SEEN))} - {quoted(column(alias, RANK))} < {window}"


class QueryTable:
    """The table of all the queries of some templates over one source, and expressions over its columns.

    A parameter's column is shared by all templates that have one of its type in its place.
    """

    def __init__(
        self,
        targets: tuple[Target, ...],
        usable: Mapping[str, int],
        spans: Mapping[str, tuple[int, int]],
        first: int,
    ) -> None:
        self.targets = targets
        self.usable = usable
        self.spans = spans
        self.first = first
        self.slots: list[dict[ColumnRef, ColumnRef]] = []
        self.types: dict[str, str] = {}
        for target in targets:
            counts: dict[str, int] = {}
            slots = {}
            for number, type_ in enumerate(target.shape.parameters, 1):
                counts[type_] = counts.get(type_, 0) + 1
                name = f"{PARAMETERS}.{type_}{counts[type_]}"
                self.types[name] = type_
                slots[ColumnRef(PARAMETERS, f"c{number}")] = ColumnRef("", name)
            self.slots.append(slots)
        self.uniform = is_uniform(targets)

    def frame(self, spark: SparkSession, more: Mapping[str, Any] | None = None) -> DataFrame:
        """The table, one row for each query, with columns more."""
        windows = [f"{PARAMETERS}._w{i}" for i in range(self._windows())]
        names: list[str] = []
        templates: list[int] = []
        sizes: list[list[int | None]] = [[] for _ in windows]
        values: dict[str, list[Constant]] = {name: [] for name in self.types}
        for index, (target, slots) in enumerate(zip(self.targets, self.slots, strict=True)):
            places = [slot.name for slot in slots.values()]
            for member in target.members:
                names.append(member.query)
                templates.append(index)
                for own, window in zip(sizes, member.windows, strict=False):
                    own.append(None if window is None else window.size)
                known = dict(zip(places, member.constants, strict=True))
                for name, column_values in values.items():
                    column_values.append(known.get(name))
        columns = {QUERY: pa.array(names, pa.string()), TEMPLATE: pa.array(templates, pa.int32())}
        columns[NUMBER] = pa.array(range(self.first, self.first + len(names)), pa.int32())
        if self.usable:
            columns[FROM] = pa.array([self.usable.get(name, _EVER) for name in names], pa.int64())
        if self.spans:
            ends = [self.spans.get(name, (_EVER, -_EVER)) for name in names]
            columns[SINCE] = pa.array([since for since, _ in ends], pa.int64())
            columns[UNTIL] = pa.array([until for _, until in ends], pa.int64())
        columns |= {name: pa.array(own, pa.int64()) for name, own in zip(windows, sizes, strict=True)}
        columns |= {name: pa.array(own, _arrow(self.types[name])) for name, own in values.items()}
        return local_table(spark, pa.table({**columns, **(more or {})}))

    def condition(self) -> str:
        """What makes a combination a result of a query."""
        bounds: list[str | None] = [quoted(f"{PARAMETERS}._w{0 if self.uniform else i}") for i in range(self._inputs())]
        shape = self.targets[0].shape
        windows = _window_conditions(shape, bounds if self._windows() else [None] * self._inputs())
        texts = [
            all_of(flat_sql(condition, slots) for condition in target.shape.conditions)
            for target, slots in zip(self.targets, self.slots, strict=True)
        ]
        conditions = [*windows, self._by_template(texts)]
        conditions += [self._by_template([all_of(_validity(target.shape)) for target in self.targets])]
        if self.usable:
            conditions.append(f"{_oldest(shape)} >= {quoted(FROM)}")
        if self.spans:
            conditions.append(f"{NEWEST} >= {quoted(SINCE)} AND {NEWEST} < {quoted(UNTIL)}")
        return all_of(conditions)

    def end(self) -> str:
        """When a combination is over."""
        shape = self.targets[0].shape
        if self.uniform:
            return _oldest(shape)
        return _end(shape, [quoted(f"{PARAMETERS}._w{i}") for i, _ in shape.streams])

    def envelope(self) -> str:
        """What every result of any query meets: the loosest of the constants, and the longest window."""
        alternatives = []
        for target in self.targets:
            texts = []
            for condition in target.shape.conditions:
                loosest = _loosest(condition, target)
                if loosest is not None:
                    texts.append(loosest)
            if self._windows() and self.uniform:
                longest = max(_size(member.windows[0]) or 0 for member in target.members)
                texts.append(f"{AGE} < {changing(longest, NEWEST)}")
            alternatives.append(all_of(texts))
        return " OR ".join(f"({text})" for text in dict.fromkeys(alternatives))

    def having(self) -> str:
        """What a group must meet to be a result of a query."""
        return self._by_template(
            [
                all_of(flat_sql(condition, slots) for condition in target.shape.having)
                for target, slots in zip(self.targets, self.slots, strict=True)
            ]
        )

    def output(self, name: str, type_: str) -> str:
        """An output column, which each template computes in its own way."""
        texts = []
        for target, slots in zip(self.targets, self.slots, strict=True):
            own = next((named for named in target.shape.columns if named.name == name), None)
            texts.append(flat_sql(own.expr, slots) if own else f"CAST(NULL AS {type_})")
        return self._by_template(texts)

    def _by_template(self, texts: list[str]) -> str:
        if len(set(texts)) == 1:
            return texts[0]
        groups: dict[str, list[int]] = {}
        for index, text in enumerate(texts):
            groups.setdefault(text, []).append(index)
        *branches, (last, _) = groups.items()
        cases = [f"WHEN {quoted(TEMPLATE)} IN ({', '.join(map(str, where))}) THEN {text}" for text, where in branches]
        return f"CASE {' '.join(cases)} ELSE {last} END"

    def _inputs(self) -> int:
        return len(self.targets[0].shape.inputs)

    def _windows(self) -> int:
        """How many window columns there are."""
        shape = self.targets[0].shape
        if len(shape.streams) == 1 and "rows" not in shape.units:
            return 0
        return 1 if self.uniform else self._inputs()


def _loosest(condition: Scalar, target: Target) -> str | None:
    """The condition with the constant that accepts most; None if there is no such one."""
    numbers = [int(ref.name[1:]) for ref in condition.columns if ref.input == PARAMETERS]
    if not numbers:
        return flat_sql(condition)
    looser = direction(condition)
    if len(numbers) != 1 or not looser:
        return None
    (number,) = numbers
    values = [member.constants[number - 1] for member in target.members]
    best = min(values) if looser == "less" else max(values)  # type: ignore[type-var]
    known = looked_up([f"CAST({literal(best)} AS {target.shape.parameters[number - 1]})"], 0, NEWEST)
    return flat_sql(condition).replace(quoted(f"{PARAMETERS}.c{number}"), known)


def _arrow(type_: str) -> Any:
    """The type of a constant as Arrow has it."""
    plain = {
        "int": pa.int32(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "string": pa.string(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }
    return plain[type_]


def _size(window: Window | None) -> int | None:
    return None if window is None else window.size
