"""The load on a chain of sliced joins, and what each slice of it costs (State-Slice, sections 5 and 6)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from penstock.compiler.cost._check import fraction, non_negative, positive

Survival = Sequence[float] | Callable[[float], float]
"""For every distinct window, ascending, the fraction of a stream's rows that some query with at least that
window wants; or a function from a window to that fraction."""

_ROUNDING = 1e-9


@dataclass(frozen=True)
class ChainLoad:
    """The nodes and edges of figure 14: distinct windows, and the sliced joins between any two of them.

    Node 0 is age 0 and node i the i-th window. The edge (i, j) is the slice from node i to node j, which
    serves the j - i windows after node i.
    """

    windows: tuple[float, ...]
    rate_a: float
    rate_b: float
    join_selectivity: float
    csys: float
    survival_a: tuple[float, ...]
    survival_b: tuple[float, ...]

    @classmethod
    def of(
        cls,
        windows: Iterable[float],
        *,
        rate_a: float = 1.0,
        rate_b: float = 1.0,
        join_selectivity: float = 0.1,
        selectivities: Iterable[float] | None = None,
        selectivities_b: Iterable[float] | None = None,
        survival: Survival | None = None,
        survival_b: Survival | None = None,
        csys: float = 0.0,
    ) -> "ChainLoad":
        """The load of queries with these windows; the arguments are those of ``build_chain``."""
        per_query = list(windows)
        if not per_query:
            raise ValueError("a chain needs at least one window")
        for window in per_query:
            positive("a window", window)
        non_negative("rate_a", rate_a)
        non_negative("rate_b", rate_b)
        non_negative("csys", csys)
        fraction("join_selectivity", join_selectivity)
        return cls(
            windows=tuple(sorted({float(window) for window in per_query})),
            rate_a=rate_a,
            rate_b=rate_b,
            join_selectivity=join_selectivity,
            csys=csys,
            survival_a=_survival(per_query, selectivities, survival),
            survival_b=_survival(per_query, selectivities_b, survival_b),
        )

    @property
    def nodes(self) -> tuple[float, ...]:
        """The ages at which the chain may be cut: 0 and every window."""
        return (0.0, *self.windows)

    @property
    def operator_cost(self) -> float:
        """What a slice costs however wide it is: rows that enter the chain purge it and pass through it.

        As in the paper's equation 3 they count in every slice, also where a selection holds them back.
        """
        return (1 + self.csys) * (self.rate_a * self.survival_a[0] + self.rate_b * self.survival_b[0])

    def pair_rate(self, i: int) -> float:
        """The pairs that a slice after node i compares, per unit of its width and time.

        All its rows are those that reach its first window, also when the selections of later windows
        would hold back some (section 6.2).
        """
        return 2 * self.rate_a * self.survival_a[i] * self.rate_b * self.survival_b[i]

    def edge_length(self, i: int, j: int) -> float:
        """l(i, j): comparisons per unit time of the slice from node i to node j.

        They are the probes, a purge by every row, a comparison of every result with each window
        inside the slice, and the overhead of one operator.
        """
        width = self._width(i, j)
        return self.pair_rate(i) * width * (1 + self.join_selectivity * (j - i - 1)) + self.operator_cost

    def edge_memory(self, i: int, j: int) -> float:
        """The rows of both streams that the slice from node i to node j holds."""
        return (self.rate_a * self.survival_a[i] + self.rate_b * self.survival_b[i]) * self._width(i, j)

    def _width(self, i: int, j: int) -> float:
        if not 0 <= i < j <= len(self.windows):
            raise ValueError(f"no slice runs from node {i} to node {j}")
        return self.windows[j - 1] - (self.windows[i - 1] if i else 0.0)


def _survival(
    windows: Sequence[float], selectivities: Iterable[float] | None, given: Survival | None
) -> tuple[float, ...]:
    """The fraction of rows that reach each slice of the finest chain."""
    ascending = sorted({float(window) for window in windows})
    if given is None:
        return _independent(windows, ascending, selectivities)
    if selectivities is not None:
        raise ValueError("give either selectivities or survival for a stream, not both")
    found = tuple(given(window) for window in ascending) if callable(given) else tuple(given)
    if len(found) != len(ascending):
        raise ValueError(f"there are {len(found)} survival fractions for {len(ascending)} distinct windows")
    for value in found:
        fraction("a survival fraction", value)
    if any(later > earlier + _ROUNDING for earlier, later in pairwise(found)):
        raise ValueError("survival cannot rise with the window: what a longer one wants reaches all slices before")
    return found


def _independent(
    windows: Sequence[float], ascending: Sequence[float], selectivities: Iterable[float] | None
) -> tuple[float, ...]:
    """1 - Π (1 - s) over the queries that reach each slice, as though their selections were independent."""
    if selectivities is None:
        return (1.0,) * len(ascending)
    per_query = list(selectivities)
    if len(per_query) != len(windows):
        raise ValueError(f"there are {len(per_query)} selectivities for {len(windows)} windows")
    rejected = dict.fromkeys(ascending, 1.0)  # by all the queries with this window
    for window, selectivity in zip(windows, per_query, strict=True):
        fraction("a selectivity", selectivity)
        rejected[float(window)] *= 1.0 - selectivity
    survivors: list[float] = []
    by_all = 1.0
    for window in reversed(ascending):
        by_all *= rejected[window]
        survivors.append(1.0 - by_all)
    return tuple(reversed(survivors))
