"""Cut every chain into slices."""

from __future__ import annotations

from dataclasses import replace

from penstock.compiler.cost import build_chain
from penstock.compiler.rules.context import Context
from penstock.compiler.shared import Chain, SharedPlan
from penstock.compiler.survival import match_fraction, survival

SECOND = 1_000_000


def slice_state(plan: SharedPlan, context: Context) -> SharedPlan:
    """The boundaries of every chain, by sharing strategy and objective.

    `slice` cuts at the queries' windows: at all of them for the least memory, at those on the shortest path for the
    least work. `push-down` keeps the rows of each reach apart; `pull-up` and `none` have one slice.
    """
    return replace(plan, chains=tuple(_cut(chain, plan, context) for chain in plan.chains))


def _cut(chain: Chain, plan: SharedPlan, context: Context) -> Chain:
    windows = list(chain.windows)
    if not windows:
        return replace(chain, boundaries=(0,))
    sharing, objective = context.settings.sharing, context.settings.objective
    if sharing == "push-down":
        parts = sorted({reach for wanted in chain.wanted for _, reach in wanted.rows if reach > 0})
        return replace(chain, boundaries=(0, *parts), partitioned=True)
    if sharing in ("pull-up", "none"):
        return replace(chain, boundaries=(0, windows[-1]))
    if chain.rows or objective == "memory" or len(windows) == 1:
        return replace(chain, boundaries=(0, *windows))
    return replace(chain, boundaries=(0, *_cheapest(chain, windows, plan, context)))


def _cheapest(chain: Chain, windows: list[int], plan: SharedPlan, context: Context) -> list[int]:
    """The boundaries that cost the fewest comparisons, the other streams of all its joins taken as one."""
    estimates = context.estimates
    rates: dict[str, float] = {}
    fewest = 1.0
    for join in plan.joins:
        streams = [scan for scan in join.streams if join.scope == chain.scope]
        if not any(scan.stream == chain.stream for scan in streams):
            continue
        others = list(streams)
        others.remove(next(scan for scan in streams if scan.stream == chain.stream))
        rates |= {scan.stream: estimates.rate(scan.stream) for scan in others}
        fewest = min(fewest, match_fraction(join, estimates))
    partners = [other for other in plan.chains if other.stream in rates and other.scope == chain.scope]
    total = sum(rates.values()) or 1.0

    def partner_survival(window: float) -> float:
        shares = [rates[other.stream] * survival(other, window * SECOND, estimates) for other in partners]
        return min(1.0, sum(shares) / total)

    built = build_chain(
        [window / SECOND for window in windows],
        rate_a=estimates.rate(chain.stream),
        rate_b=total,
        join_selectivity=fewest,
        survival=lambda window: survival(chain, window * SECOND, estimates),
        survival_b=partner_survival,
        csys=estimates.csys,
        objective=context.settings.objective,
    )
    exact = {window / SECOND: window for window in windows}
    return [exact[boundary] for boundary in built.boundaries[1:]]
