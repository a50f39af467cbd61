"""Logical plans as trees of text."""

from __future__ import annotations

from penstock.compiler.logical import Plan, Query


def explain_logical(plan: Plan) -> str:
    """A logical plan as a tree, its root first, and the columns it gives."""
    lines = _tree(plan)
    if isinstance(plan, Query):
        columns = ", ".join(f"{ref.name} {type_}" for ref, type_ in plan.schema.items())
        lines.insert(1, f"   gives _ts timestamp, {columns}")
    return "\n".join(lines)


def _tree(plan: Plan) -> list[str]:
    lines = [plan.describe()]
    children = [child for child in plan.children if isinstance(child, Plan)]
    for number, child in enumerate(children):
        last = number == len(children) - 1
        first, *rest = _tree(child)
        lines.append(f"{'└─' if last else '├─'} {first}")
        lines += [f"{'   ' if last else '│  '}{line}" for line in rest]
    return lines
