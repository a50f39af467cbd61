"""Whether a plan for the same queries, made with what has been measured since, is worth a migration."""

from __future__ import annotations

from penstock.compiler.cost import chain_through
from penstock.compiler.estimate import Estimates
from penstock.compiler.load import chain_load
from penstock.compiler.shared import Chain, SharedJoin, SharedPlan, inputs_of
from penstock.compiler.strategies import predict

GAIN = 0.1
"""The part of the work, or of the rows kept, that a migration must save: what is measured is never quite the same."""


def is_worth(old: SharedPlan, new: SharedPlan, estimates: Estimates) -> bool:
    """Whether the new plan saves enough of the work or of the rows kept, as the cost model predicts them now."""
    if _choices(old) == _choices(new):
        return False
    before, after = _load(old, estimates), _load(new, estimates)
    return _is_less(after[0], before[0]) or _is_less(after[1], before[1])


def _choices(plan: SharedPlan) -> tuple[object, ...]:
    """What the statistics decide."""
    return tuple(chain.boundaries for chain in plan.chains), tuple(join.orders for join in plan.joins)


def _is_less(after: float, before: float) -> bool:
    return before - after >= GAIN * before > 0


def _load(plan: SharedPlan, estimates: Estimates) -> tuple[float, float]:
    """Comparisons a second, and rows kept."""
    sliced = [_cut(chain, plan, estimates) for chain in plan.chains if chain.windows and not chain.rows]
    work = sum(cost for cost, _ in sliced) + sum(_order_work(join, plan, estimates) for join in plan.joins)
    return work, sum(rows for _, rows in sliced)


def _cut(chain: Chain, plan: SharedPlan, estimates: Estimates) -> tuple[float, float]:
    """What a chain costs and keeps, cut where it is."""
    last = len(chain.windows)
    inner = [node for node, window in enumerate(chain.windows, 1) if node < last and window in chain.boundaries]
    built = chain_through(chain_load(chain, plan, estimates), [0, *inner, last])
    return built.cost, built.memory


def _order_work(join: SharedJoin, plan: SharedPlan, estimates: Estimates) -> float:
    """The comparisons of all origins in their orders; two inputs have but one order, and the chains count them."""
    if len(inputs_of(join.source)) == 2:
        return 0.0
    whole = next(prediction for prediction in predict(join, plan, estimates) if prediction.strategy == "pull-up")
    return whole.comparisons or 0.0
