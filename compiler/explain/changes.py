"""Which rule changed what."""

from __future__ import annotations

from difflib import ndiff

from penstock.compiler.explain.logical import explain_logical
from penstock.compiler.explain.shared import explain_shared
from penstock.compiler.optimize import Change, Optimized
from penstock.compiler.rules import RULES
from penstock.compiler.shared import SharedPlan

_MOST_LINES = 40


def explain_changes(optimized: Optimized) -> str:
    """Every rule that changed something, with the lines that went and came."""
    said = {rule.__name__: (rule.__doc__ or "").split("\n")[0] for rule in RULES}
    return "\n".join(f"{change.rule}: {said[change.rule]}\n{_difference(change)}" for change in optimized.changes)


def _difference(change: Change) -> str:
    before, after = _lines(change.before, change.after)
    changed = [line for line in ndiff(before, after) if line[:1] in "+-"]
    if len(changed) > _MOST_LINES:
        rest = len(changed) - _MOST_LINES
        changed = [*changed[:_MOST_LINES], f"  … and {rest:,} more lines"]
    return "\n".join(f"  {line.rstrip()}" for line in changed)


def _lines(before: SharedPlan, after: SharedPlan) -> tuple[list[str], list[str]]:
    """Both plans as lines; queries that stayed as they were are left out."""
    if len(before.queries) == len(after.queries):
        pairs = [(a, b) for a, b in zip(before.queries, after.queries, strict=True) if a is not b][:_MOST_LINES]
        first, second = [a for a, _ in pairs], [b for _, b in pairs]
    else:
        first, second = list(before.queries[:_MOST_LINES]), list(after.queries[:_MOST_LINES])
    old = [line for query in first for line in explain_logical(query).splitlines()]
    new = [line for query in second for line in explain_logical(query).splitlines()]
    return old + explain_shared(before).splitlines(), new + explain_shared(after).splitlines()
