"""The partitions of a stream under selection push-down."""

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.compiler.cost.workload import QueryLoad, Selection, disjunction, distinct, survival


@dataclass(frozen=True)
class Part:
    """The rows of a stream that reach the same longest window."""

    fraction: float
    """How much of the stream it is."""
    queries: frozenset[int]
    """The positions of the queries that may want its rows."""
    passed: frozenset[Selection]
    """The selections that all its rows are known to pass."""


@dataclass(frozen=True)
class Partitioning:
    """Disjoint parts of a stream, and the selections a row is compared with to find its part."""

    parts: tuple[Part, ...]
    selections: frozenset[Selection]


def partitions(queries: Sequence[QueryLoad], stream: str) -> Partitioning:
    """Partition stream ``"a"`` or ``"b"`` by reach: the longest window of any query that accepts the row.

    So there are never more parts than windows, where one part for every combination of P selections
    would make 2^P. Rows that no query accepts are in no part.
    """
    selection_of: list[Selection | None] = [getattr(query, f"selection_{stream}") for query in queries]
    parts: list[Part] = []
    failed: frozenset[Selection] = frozenset()  # those of longer windows: no row that is left passes them
    for window in sorted({query.window for query in queries}, reverse=True):
        level = [s for s, query in zip(selection_of, queries, strict=True) if query.window == window]
        condition = disjunction(level)
        new = distinct(level) - failed
        if condition is not None and not new:
            continue
        wanted = frozenset(
            i for i, query in enumerate(queries) if query.window <= window and selection_of[i] not in failed
        )
        if condition is None:
            parts.append(Part(1.0 - survival(failed), wanted, frozenset()))
            break
        fraction = survival(failed | new) - survival(failed)
        parts.append(Part(fraction, wanted, new if len(new) == 1 else frozenset()))
        failed |= new
    return Partitioning(tuple(parts), failed)
