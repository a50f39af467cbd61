"""The three-query workloads of the State-Slice paper's section 7.2, priced for every strategy."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.compiler.cost.sharing import STRATEGIES, sharing_cost
from penstock.compiler.cost.workload import Cost, QueryLoad, Selection, SharedJoin

WINDOWS = {
    "mostly-small": (5.0, 10.0, 30.0),
    "uniform": (10.0, 20.0, 30.0),
    "mostly-large": (20.0, 25.0, 30.0),
}
"""Table 3's window distributions, in seconds."""

S_SIGMA = (0.2, 0.5, 0.8)
"""Table 3's selectivities of the selection."""

S_JOIN = (0.025, 0.1, 0.4)
"""Table 3's join selectivities."""


@dataclass(frozen=True)
class Setting:
    """One of the 27 combinations at one rate, and what each strategy costs there."""

    windows: str
    s_sigma: float
    s_join: float
    rate: float
    costs: Mapping[str, Cost] = field(hash=False)

    @property
    def cheapest(self) -> str:
        """The strategy with the fewest comparisons."""
        return min(self.costs, key=lambda strategy: self.costs[strategy].total)


def three_queries(windows: Iterable[float], s_sigma: float, s_join: float, rate: float) -> SharedJoin:
    """Q1 without a selection, Q2 and Q3 with the same selection on A, at windows W_1, W_2 and W_3."""
    w1, w2, w3 = windows
    sigma = Selection("σ", s_sigma)
    queries = (QueryLoad(w1), QueryLoad(w2, sigma), QueryLoad(w3, sigma))
    return SharedJoin(rate, rate, s_join, queries)


def table_3(rates: Iterable[float] = (20.0, 40.0, 60.0, 80.0)) -> tuple[Setting, ...]:
    """Every setting of table 3 at every rate.

    At the paper's rates slicing takes the fewest comparisons everywhere. It would not at much lower ones:
    what slicing saves (routing, probing) grows with λ², while the purges and unions of a longer chain
    grow with λ. Against push-down it saves the routing, 4λ²·S_σ·S⋈·W_3, and pays 7λ more, so that
    it loses below λ = 7 / (4·S_σ·S⋈·W_3): at 11.7 rows per second for the most selective setting.
    """
    settings = []
    for rate in rates:
        for name, windows in WINDOWS.items():
            for s_sigma in S_SIGMA:
                for s_join in S_JOIN:
                    join = three_queries(windows, s_sigma, s_join, rate)
                    costs = {strategy: sharing_cost(join, strategy) for strategy in STRATEGIES}
                    settings.append(Setting(name, s_sigma, s_join, rate, costs))
    return tuple(settings)
