"""Cut every chain into slices."""

from __future__ import annotations

from dataclasses import replace

from penstock.compiler.cost import best_chain
from penstock.compiler.load import chain_load, in_seconds
from penstock.compiler.rules.context import Context
from penstock.compiler.shared import Chain, SharedPlan


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
    if sharing == "push-down" and not chain.rows:
        parts = sorted({reach for wanted in chain.wanted for _, reach in wanted.rows if reach > 0})
        return replace(chain, boundaries=(0, *parts), partitioned=True)
    if sharing in ("pull-up", "none") or (sharing == "push-down" and chain.rows):
        return replace(chain, boundaries=(0, windows[-1]))
    if chain.rows or objective == "memory" or len(windows) == 1:
        return replace(chain, boundaries=(0, *windows))
    built = best_chain(chain_load(chain, plan, context.estimates), objective)
    cuts = set(built.boundaries)
    return replace(chain, boundaries=(0, *(window for window in windows if in_seconds(window) in cuts)))
