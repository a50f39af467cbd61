"""Aggregates in parts: which columns partial aggregates have, how they are made, added up and finished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.compiler.logical import Named
from penstock.compiler.scalar import AggregateCall, Scalar, aggregate_call
from penstock.compiler.shared import Shape
from penstock.runtime.columns import quoted

SET, FROM, TO = "_set", "_from", "_to"
"""The combinations that are counted together, and the spans of the first instant and of the end."""


@dataclass(frozen=True)
class Measure:
    """A column of partial aggregates: how it is made from rows, and how several become one."""

    name: str
    type: str
    made: str
    added: str

    @property
    def sum(self) -> str:
        """Several of them as one."""
        return f"CAST({self.added}({self.name}) AS {self.type})"


class Parts:
    """The aggregates of a shape in parts. Values that are counted once each are kept as keys, like groups."""

    def __init__(self, shape: Shape) -> None:
        self.groups = shape.groups
        self.calls = [(named, aggregate_call(named.expr)) for named in shape.aggregates]
        self.measures = [m for number, (named, call) in enumerate(self.calls) for m in _measures(number, named, call)]

    @property
    def values(self) -> tuple[Named, ...]:
        """What is needed of every row, by name: groups and arguments."""
        arguments = (
            Named(name, argument)
            for number, (_, call) in enumerate(self.calls)
            for name, argument in zip(_arguments(number, call), call.arguments, strict=True)
        )
        return (*self.groups, *arguments)

    @property
    def keys(self) -> list[Named]:
        """What partial aggregates are kept apart by, besides the set and the spans."""
        distinct = [
            Named(name, argument)
            for number, (_, call) in enumerate(self.calls)
            if call.distinct
            for name, argument in zip(_arguments(number, call), call.arguments, strict=True)
        ]
        return [*self.groups, *distinct]

    @property
    def names(self) -> list[str]:
        """The names of all keys, as SQL."""
        return [SET, FROM, TO, *(quoted(key.name) for key in self.keys)]

    @property
    def schema(self) -> str:
        """The columns of partial aggregates with their types."""
        keys = (f"{quoted(key.name)} {key.expr.type}" for key in self.keys)
        measures = (f"{measure.name} {measure.type}" for measure in self.measures)
        return ", ".join([f"{SET} string, {FROM} bigint, {TO} bigint", *keys, *measures])

    def made(self, rows: str) -> str:
        """Rows with values and spans, as partial aggregates."""
        measures = [f"CAST({m.made} AS {m.type}) AS {m.name}" for m in self.measures]
        return f"SELECT {', '.join([*self.names, *measures])} FROM ({rows}) AS rows GROUP BY {', '.join(self.names)}"

    def added(self, partials: str, by: list[str]) -> str:
        """Partial aggregates added up by their keys and something else, whenever they begin."""
        names = [SET, TO, *(quoted(key.name) for key in self.keys), *by]
        sums = [f"{measure.sum} AS {measure.name}" for measure in self.measures]
        return f"SELECT {', '.join([*names, *sums])} FROM ({partials}) AS parts GROUP BY {', '.join(names)}"

    def finished(self, partials: str, by: list[str]) -> str:
        """The aggregates themselves, for each group and what else they are computed by."""
        whole = [f"{self._whole(n, named, call)} AS {named.name}" for n, (named, call) in enumerate(self.calls)]
        return self._grouped(partials, by, whole)

    def computed(self, rows: str, by: list[str]) -> str:
        """The aggregates from rows with values, without parts."""
        whole = [f"{_direct(number, call)} AS {named.name}" for number, (named, call) in enumerate(self.calls)]
        return self._grouped(rows, by, whole)

    def _grouped(self, rows: str, by: list[str], whole: list[str]) -> str:
        names = [*by, *(quoted(group.name) for group in self.groups)]
        return f"SELECT {', '.join([*names, *whole])} FROM ({rows}) AS parts GROUP BY {', '.join(names)}"

    def _whole(self, number: int, named: Named, call: AggregateCall) -> str:
        if call.distinct:
            return _direct(number, call)
        own = {measure.name[0]: measure.sum for measure in self.measures if measure.name[1:] == str(number)}
        return f"CAST({own['p']} / {own['n']} AS {named.expr.type})" if call.name == "avg" else own["p"]


def _measures(number: int, named: Named, call: AggregateCall) -> Iterator[Measure]:
    if call.distinct:
        return
    arguments = ", ".join(_arguments(number, call)) or "1"
    if call.name == "avg":
        type_ = _sum_type(call.arguments[0])
        yield Measure(f"p{number}", type_, f"sum(CAST({arguments} AS {_wide(call.arguments[0])}))", "sum")
        yield Measure(f"n{number}", "bigint", f"count({arguments})", "sum")
    else:
        added = "sum" if call.name == "count" else call.name
        yield Measure(f"p{number}", named.expr.type, f"{call.name}({arguments})", added)


def _direct(number: int, call: AggregateCall) -> str:
    arguments = ", ".join(_arguments(number, call)) or "*"
    return f"{call.name}({'DISTINCT ' if call.distinct else ''}{arguments})"


def _arguments(number: int, call: AggregateCall) -> list[str]:
    letter = "d" if call.distinct else "v"
    return [f"{letter}{number}_{place}" for place in range(len(call.arguments))]


def _wide(argument: Scalar) -> str:
    return argument.type if argument.type.startswith("decimal") else "double"


def _sum_type(argument: Scalar) -> str:
    """The type of a sum: of decimals, one with ten digits more."""
    if not argument.type.startswith("decimal"):
        return "double"
    digits, scale = (int(part) for part in argument.type[len("decimal(") : -1].split(","))
    return f"decimal({min(38, digits + 10)},{scale})"
