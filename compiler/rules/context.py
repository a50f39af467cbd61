"""What rules know besides the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from penstock.compiler.estimate import Estimates
from penstock.compiler.logical import Query
from penstock.compiler.settings import Settings
from penstock.compiler.shared import SharedPlan


@dataclass(frozen=True)
class Context:
    """The settings, and what is known of the data."""

    settings: Settings = field(default_factory=Settings)
    estimates: Estimates = field(default_factory=Estimates)


Rule = Callable[[SharedPlan, Context], SharedPlan]


def each_query(change: Callable[[Query], Query], plan: SharedPlan) -> SharedPlan:
    """The plan with `change` made to every query that is not in a template yet."""
    changed = tuple(change(query) for query in plan.queries)
    same = all(new is old for new, old in zip(changed, plan.queries, strict=True))
    return plan if same else replace(plan, queries=changed)
