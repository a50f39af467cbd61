"""The load on a chain, as the cost model wants it: the stream on one side, all that its rows are joined with on the
other."""

from __future__ import annotations

from penstock.compiler.cost import ChainLoad
from penstock.compiler.estimate import Estimates
from penstock.compiler.shared import Chain, SharedPlan
from penstock.compiler.survival import match_fraction, survival

SECOND = 1_000_000


def in_seconds(window: int) -> float:
    """A window as the cost model has it."""
    return window / SECOND


def chain_load(chain: Chain, plan: SharedPlan, estimates: Estimates) -> ChainLoad:
    """The load on a chain with windows, the other streams of all its joins taken as one."""
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
        shares = [rates[other.stream] * survival(other, round(window * SECOND), estimates) for other in partners]
        return min(1.0, sum(shares) / total)

    return ChainLoad.of(
        map(in_seconds, chain.windows),
        rate_a=estimates.rate(chain.stream),
        rate_b=total,
        join_selectivity=fewest,
        survival=lambda window: survival(chain, round(window * SECOND), estimates),
        survival_b=partner_survival,
        csys=estimates.csys,
    )
