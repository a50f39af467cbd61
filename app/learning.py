"""What a run measures, taken over while it goes on, and plans that follow it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.compiler.adapt import is_worth
from penstock.standing import Standing, run_plan

if TYPE_CHECKING:
    from penstock.runtime.engine import Engine, Migration

LEARNED = 16
"""After so many steps what has been measured is taken over; a plan is in force for at least as many."""


def learn(standing: Standing, engine: Engine, said: Callable[[Migration], None], *, adapt: bool) -> None:
    """Between two steps, in the run's own thread: take over what has been measured.

    To `adapt`, a plan is made with it, and put in force if that is worth it and the last one has been for a while.
    """
    if not standing.changing.acquire(blocking=False):
        return  # a change waits for the step to end
    try:
        known, measured = standing.compiled, engine.statistics.measured()
        standing.take(standing.program, known.with_measured(measured))
        if not adapt or not _decides(standing) or engine.steps_since_migration < LEARNED:
            return
        better = known.changed(standing.program, measured)
        if is_worth(known.shared, better.shared, better.estimates):
            migration = engine.migrate(run_plan(better))
            standing.take(standing.program, better)
            if migration is not None:
                said(migration)
    finally:
        standing.changing.release()


def _decides(standing: Standing) -> bool:
    """Whether statistics decide anything: where chains are cut, or the orders of joins of more than two inputs."""
    many = any(len(join.source.inputs) > 2 for join in standing.compiled.shared.joins)
    return many or standing.program.settings.objective == "auto"
