"""The optimizer: applies the rules one after another and keeps what each of them changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from penstock.compiler.logical import Query
from penstock.compiler.rules import RULES, Context
from penstock.compiler.shared import SharedPlan, Template


@dataclass(frozen=True)
class Change:
    """What one rule made of the plan."""

    rule: str
    before: SharedPlan
    after: SharedPlan


@dataclass(frozen=True)
class Optimized:
    """A shared plan and the changes that led to it."""

    plan: SharedPlan
    changes: tuple[Change, ...]


def optimize(queries: Iterable[Query], context: Context, base: SharedPlan | None = None) -> Optimized:
    """One shared plan for the queries, on top of those of `base` if there is one."""
    plan = replace(base or SharedPlan(), queries=tuple(queries))
    names = sorted(plan.names())
    changes = []
    for rule in RULES:
        after = rule(plan, context)
        if after is not plan:
            _check(rule.__name__, plan, after, names)
            changes.append(Change(rule.__name__, plan, after))
        plan = after
    return Optimized(plan, tuple(changes))


def without(plan: SharedPlan, names: Iterable[str], context: Context) -> Optimized:
    """The plan after these queries have left."""
    gone = set(names)
    kept = []
    for template in plan.templates:
        members = template.members
        if any(member.query in gone for member in members):
            members = tuple(member for member in members if member.query not in gone)
        if members:
            kept.append(template if members is template.members else Template(template.shape, members))
    return optimize((), context, replace(plan, templates=tuple(kept)))


def _check(rule: str, before: SharedPlan, after: SharedPlan, names: list[str]) -> None:
    """A rule may not lose a query or change the columns it gives."""
    if sorted(after.names()) != names:
        raise AssertionError(f"the rule {rule} has lost or invented a query")
    for old, new in zip(before.queries, after.queries, strict=False):
        if new is not old and list(new.schema.items()) != list(old.schema.items()):
            raise AssertionError(f"the rule {rule} has changed the columns of {old.name}")
