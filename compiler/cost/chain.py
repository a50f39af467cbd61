"""Where to cut the window state of a shared join into slices (State-Slice, sections 5 and 6)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from penstock.compiler.cost.chain_load import ChainLoad, Survival

OBJECTIVES = ("memory", "cpu", "auto")
"""What a chain can be built for."""

MEMORY_TOLERANCE = 0.1
"""How much more memory than the least the objective ``auto`` spends on fewer comparisons."""


@dataclass(frozen=True)
class Chain:
    """A chain of sliced joins and what it costs.

    ``cost`` counts what depends on the cuts: probes, purges, routing inside merged slices and the overhead
    of the operators, per unit time. Unions are left out, as in the paper's comparison of two chains,
    and so are the queries' own selections on their results.
    """

    boundaries: tuple[float, ...]
    cost: float
    memory: float

    @property
    def slices(self) -> tuple[tuple[float, float], ...]:
        """The links of the chain: the ages (start, end) between neighbouring boundaries."""
        return tuple(pairwise(self.boundaries))

    def __len__(self) -> int:
        return len(self.boundaries) - 1


def build_chain(
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
    objective: str = "memory",
) -> Chain:
    """The best chain for queries with these windows, one number per query, in any order.

    ``selectivities`` holds for each query the fraction of stream A's rows that its selection accepts; the
    fraction that reaches a slice is estimated from it as though the selections were independent. A
    planner that knows better passes ``survival`` instead: for each distinct window, ascending, the fraction
    of rows that some query with at least that window wants (or a function of the window). Stream B has
    the same two arguments with ``_b``. ``csys`` is the overhead of a row in an operator, in comparisons.

    Objectives: ``memory`` cuts at every window, which keeps the least state; ``cpu`` takes the fewest
    comparisons, merging slices where purges and operators cost more than routing; ``auto`` is ``cpu``
    unless that needs over a tenth more memory than the least, and then ``memory``.
    """
    load = ChainLoad.of(
        windows,
        rate_a=rate_a,
        rate_b=rate_b,
        join_selectivity=join_selectivity,
        selectivities=selectivities,
        selectivities_b=selectivities_b,
        survival=survival,
        survival_b=survival_b,
        csys=csys,
    )
    return best_chain(load, objective)


def best_chain(load: ChainLoad, objective: str = "memory") -> Chain:
    """The best chain for a load; the objectives are those of ``build_chain``."""
    if objective not in OBJECTIVES:
        raise ValueError(f"unknown objective {objective!r}: use one of {', '.join(OBJECTIVES)}")
    finest = chain_through(load, range(len(load.nodes)))
    if objective == "memory":
        return finest
    cheapest = chain_through(load, _shortest_path(load))
    if objective == "auto" and cheapest.memory > (1 + MEMORY_TOLERANCE) * finest.memory:
        return finest
    return cheapest


def chain_through(load: ChainLoad, path: Sequence[int]) -> Chain:
    """The chain cut at these nodes of the load, which ascend from 0 to its last node."""
    if len(path) < 2 or path[0] != 0 or path[-1] != len(load.windows):
        raise ValueError(f"a path leads from node 0 to node {len(load.windows)}, not {tuple(path)}")
    edges = list(pairwise(path))
    return Chain(
        boundaries=tuple(load.nodes[node] for node in path),
        cost=sum(load.edge_length(i, j) for i, j in edges),
        memory=sum(load.edge_memory(i, j) for i, j in edges),
    )


def _shortest_path(load: ChainLoad) -> list[int]:
    """The nodes of the path from first to last with the smallest sum of edge lengths, in O(N²).

    Edges only lead forward, so one pass in node order does. The length of an edge is spelled out here
    because there are half a million of them for a thousand windows; of two equally long paths the one whose
    last cut is later wins, so that merging has to save something.
    """
    nodes = load.nodes
    last = len(nodes) - 1
    selectivity = load.join_selectivity
    operator_cost = load.operator_cost
    shortest = [0.0] + [float("inf")] * last
    came_from = [0] * (last + 1)
    for i in range(last):
        start, so_far = nodes[i], shortest[i] + operator_cost
        rate = load.pair_rate(i)
        growth = rate * selectivity
        for j in range(i + 1, last + 1):
            length = so_far + rate * (nodes[j] - start)
            if length <= shortest[j]:
                shortest[j] = length
                came_from[j] = i
            rate += growth
    path = [last]
    while path[-1]:
        path.append(came_from[path[-1]])
    return path[::-1]
