"""Facts: rows of relations without which a row of a stream cannot be part of any result, so that it need not be kept.

In a star-streaming join rows of several streams meet in a row of a relation that is valid at the times of all of them.
A row that no such row is valid for is not kept, and one whose last such row ends is done with.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.compiler.logical import RelationScan, StreamScan
from penstock.compiler.scalar import Scalar, renamed
from penstock.compiler.shared import Fact, Shape
from penstock.compiler.validity import key_ties, ties


def facts_of(shape: Shape, stream: StreamScan) -> tuple[Fact, ...]:
    """The facts that rows of a stream need to be kept for a template."""
    return tuple(_facts(shape, stream)) if shape.keeps_state else ()


def _facts(shape: Shape, stream: StreamScan) -> Iterator[Fact]:
    others = {scan.alias for _, scan in shape.streams}
    for tie in key_ties(shape.source):
        if tie.stream != stream:
            continue
        tied = {other.stream.alias for other in ties(shape) if other.relation == tie.relation}
        own, theirs = zip(*_keys(shape, stream, tie.relation), strict=True)
        assert tie.relation.valid is not None
        yield Fact(tie.relation.relation, tie.relation.valid, own, theirs, tied == others)


def _keys(shape: Shape, stream: StreamScan, relation: RelationScan) -> Iterator[tuple[Scalar, Scalar]]:
    """The expressions over a stream and over a relation that a join says are equal, over both by name."""
    for key in getattr(shape.source, "keys", ()):
        parts = {next(iter(part.inputs)): part for part in key.parts}
        if stream.alias in parts and relation.alias in parts:
            yield (
                renamed(parts[stream.alias], {stream.alias: stream.stream}),
                renamed(parts[relation.alias], {relation.alias: relation.relation}),
            )
