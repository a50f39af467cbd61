"""The queries that share one window join of two streams: what the cost of sharing depends on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from penstock.compiler.cost._check import fraction, non_negative, positive


@dataclass(frozen=True)
class Selection:
    """A predicate σ on the rows of one stream; selections of one stream with equal names are the same."""

    name: str
    selectivity: float

    def __post_init__(self) -> None:
        fraction(f"the selectivity of {self.name}", self.selectivity)


@dataclass(frozen=True)
class QueryLoad:
    """One query: its window W on both streams, and its selections, if any."""

    window: float
    selection_a: Selection | None = None
    selection_b: Selection | None = None

    def __post_init__(self) -> None:
        positive("a window", self.window)


@dataclass(frozen=True)
class SharedJoin:
    """The join of streams A and B that the queries have in common.

    The rates λ_A and λ_B are in rows per unit time; the join selectivity S⋈ is the fraction of all
    pairs of rows that match.
    """

    rate_a: float
    rate_b: float
    join_selectivity: float
    queries: tuple[QueryLoad, ...]

    def __post_init__(self) -> None:
        non_negative("rate_a", self.rate_a)
        non_negative("rate_b", self.rate_b)
        fraction("join_selectivity", self.join_selectivity)
        if not self.queries:
            raise ValueError("a shared join needs at least one query")
        for stream in ("a", "b"):
            known: dict[str, float] = {}
            for selection in distinct(getattr(query, f"selection_{stream}") for query in self.queries):
                if known.setdefault(selection.name, selection.selectivity) != selection.selectivity:
                    raise ValueError(f"{selection.name} has two selectivities on stream {stream.upper()}")

    @property
    def rates(self) -> float:
        """λ_A + λ_B: all the rows that arrive per unit time."""
        return self.rate_a + self.rate_b

    @property
    def windows(self) -> tuple[float, ...]:
        """The distinct windows of the queries, ascending."""
        return tuple(sorted({query.window for query in self.queries}))


@dataclass(frozen=True)
class Cost:
    """What a shared plan needs: rows kept as state, and comparisons per unit time by their purpose."""

    memory: float
    """C_m with M_t = 1: the rows in the states of all joins."""
    probe: float = 0.0
    """New rows compared with the rows of the other stream's state."""
    purge: float = 0.0
    """New rows that look for expired rows at the end of a state."""
    route: float = 0.0
    """Results compared with windows, to find the queries they belong to."""
    filter: float = 0.0
    """Rows and results compared with selections."""
    union: float = 0.0
    """Results of several joins merged in the order of time."""
    split: float = 0.0
    """Rows compared with selections to find the partition they belong to."""

    @property
    def total(self) -> float:
        """C_p: all comparisons per unit time."""
        return self.probe + self.purge + self.route + self.filter + self.union + self.split


def distinct(selections: Iterable[Selection | None]) -> frozenset[Selection]:
    """The different selections among these, without the missing ones."""
    return frozenset(selection for selection in selections if selection is not None)


def disjunction(selections: Iterable[Selection | None]) -> frozenset[Selection] | None:
    """The selections one of which a row must pass, or None when some query takes every row."""
    found = list(selections)
    return None if None in found else distinct(found)


def survival(condition: frozenset[Selection] | None) -> float:
    """The fraction of rows that pass a disjunction, taking different selections as independent."""
    if condition is None:
        return 1.0
    if len(condition) == 1:  # exactly its selectivity, not 1 - (1 - s)
        return next(iter(condition)).selectivity
    return 1.0 - math.prod(1.0 - selectivity for selectivity in sorted(s.selectivity for s in condition))
