"""Which rows of streams a row of a relation must be valid for: those that it is joined with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.compiler.logical import Plan, RelationScan, StreamScan
from penstock.compiler.scalar import Scalar
from penstock.compiler.shared import Shape, inputs_of


@dataclass(frozen=True, slots=True)
class Tie:
    """A relation and a stream at whose event time its row must be valid."""

    relation: RelationScan
    stream: StreamScan


def key_ties(source: Plan) -> tuple[Tie, ...]:
    """The ties that the keys of a join make."""
    return tuple(_ties(source, _together(source, ())))


def ties(shape: Shape) -> tuple[Tie, ...]:
    """All the ties of a template. A relation that no condition ties to a stream must be valid for all of them."""
    return tuple(_ties(shape.source, _together(shape.source, shape.residual), lonely=True))


def _together(source: Plan, residual: Iterable[Scalar]) -> list[frozenset[str]]:
    """The inputs that a key or a condition names together."""
    keys = getattr(source, "keys", ())
    found: list[frozenset[str]] = [frozenset().union(*(part.inputs for part in key.parts)) for key in keys]
    return found + [condition.inputs for condition in residual]


def _ties(source: Plan, together: list[frozenset[str]], *, lonely: bool = False) -> Iterator[Tie]:
    scans = inputs_of(source)
    streams = [scan for scan in scans if isinstance(scan, StreamScan)]
    for scan in scans:
        if isinstance(scan, RelationScan) and scan.valid is not None:
            own = [stream for stream in streams if any({scan.alias, stream.alias} <= names for names in together)]
            yield from (Tie(scan, stream) for stream in own or (streams if lonely else ()))
