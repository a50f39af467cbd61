"""Whether a plan for the same queries, made with what has been measured since, is worth a migration."""

from __future__ import annotations

from penstock.compiler.cost import chain_through
from penstock.compiler.estimate import Estimates
from penstock.compiler.load import chain_load
from penstock.compiler.shared import Chain, SharedJoin, SharedPlan, inputs_of
from penstock.compiler.strategies import probed

GAIN = 0.1
"""The part of the work, or of the rows kept, that a migration must save: what is measured is never quite the same."""


def is_worth(old: SharedPlan, new: SharedPlan, estimates: Estimates) -> bool:
    """Whether the new plan saves enough of the work of chains or joins, or of the rows kept, as predicted now.

    What both plans have alike is left out: it would hide what is saved elsewhere.
    """
    before, after = _cuts(old, new, estimates), _cuts(new, old, estimates)
    joins = _orders(old, new, estimates), _orders(new, old, estimates)
    return _is_less(after[0], before[0]) or _is_less(after[1], before[1]) or _is_less(joins[1], joins[0])


def _is_less(after: float, before: float) -> bool:
    return before - after >= GAIN * before > 0


def _cuts(plan: SharedPlan, other: SharedPlan, estimates: Estimates) -> tuple[float, float]:
    """Comparisons a second and rows kept of the chains that are cut otherwise in another plan."""
    same = {(chain.scope, chain.stream, chain.boundaries) for chain in other.chains}
    own = [chain for chain in plan.chains if chain.windows and not chain.rows]
    cut = [_cut(c, plan, estimates) for c in own if (c.scope, c.stream, c.boundaries) not in same]
    return sum(cost for cost, _ in cut), sum(rows for _, rows in cut)


def _orders(plan: SharedPlan, other: SharedPlan, estimates: Estimates) -> float:
    """Matches a second of the joins that go in other orders in another plan."""
    same = {(join.scope, join.source, join.orders) for join in other.joins}
    own = (join for join in plan.joins if (join.scope, join.source, join.orders) not in same)
    return sum(_order_work(join, plan, estimates) for join in own)


def _cut(chain: Chain, plan: SharedPlan, estimates: Estimates) -> tuple[float, float]:
    """What a chain costs and keeps, cut where it is."""
    last = len(chain.windows)
    inner = [node for node, window in enumerate(chain.windows, 1) if node < last and window in chain.boundaries]
    built = chain_through(chain_load(chain, plan, estimates), [0, *inner, last])
    return built.cost, built.memory


def _order_work(join: SharedJoin, plan: SharedPlan, estimates: Estimates) -> float:
    """The matches of all origins in their orders; two inputs have but one order, and the chains count them."""
    return 0.0 if len(inputs_of(join.source)) == 2 else probed(join, plan, estimates)
