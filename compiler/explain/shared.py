"""The shared plan as text: what is shared is printed once."""

from __future__ import annotations

from penstock.compiler.explain.words import age, ages, listed, member_text, which_rows, who_enters
from penstock.compiler.logical import Plan
from penstock.compiler.shared import Chain, Shape, SharedJoin, SharedPlan, Template

_MOST_SLICES = 12


def explain_shared(plan: SharedPlan) -> str:
    """Chains with their slices, joins with their templates, templates with their queries."""
    lines = []
    for chain in plan.chains:
        lines += _chain(chain)
    numbers = {(join.scope, join.source): number for number, join in enumerate(plan.joins, 1)}
    for number, join in enumerate(plan.joins, 1):
        lines += _join(number, join, plan)
    alone = [template for template in plan.templates if (template.shape.scope, template.shape.source) not in numbers]
    for template in alone:
        lines += _template(template, "")
    return "\n".join(lines)


def _chain(chain: Chain) -> list[str]:
    scope = f" for {chain.scope} alone" if chain.scope else ""
    columns = ", ".join(chain.columns)
    if not chain.slices:
        return [f"Stream {chain.stream} ({columns}){scope}: {who_enters(chain, -1)}; none is kept"]
    kind = "part" if chain.partitioned else "slice"
    count = f"{len(chain.slices):,} {kind}{'s' * (len(chain.slices) > 1)}"
    lines = [f"Chain {chain.stream} ({columns}){scope}: {count}"]
    shown = chain.slices if len(chain.slices) <= _MOST_SLICES else chain.slices[: _MOST_SLICES - 1]
    widest = max(len(ages(chain, start, end)) for start, end in shown)
    for start, end in shown:
        lines.append(f"  {ages(chain, start, end).ljust(widest)}  {which_rows(chain, start, end)}")
    if len(shown) < len(chain.slices):
        lines.append(f"  and {len(chain.slices) - len(shown):,} more, up to {age(chain, chain.boundaries[-1])}")
    return lines


def _join(number: int, join: SharedJoin, plan: SharedPlan) -> list[str]:
    scope = f" for {join.scope} alone" if join.scope else ""
    lines = [f"Join {number}{scope}: {join.name}"]
    lines += [f"  new rows: {' → '.join(order)}" for order in join.orders]
    for template in plan.templates:
        if (template.shape.scope, template.shape.source) == (join.scope, join.source):
            lines += _template(template, "  ")
    return lines


def _template(template: Template, indent: str) -> list[str]:
    shape = template.shape
    members = [member_text(member) for member in template.members]
    lines = [f"{indent}Template {what(shape)}"]
    lines.append(f"{indent}  gives {', '.join(map(str, shape.columns))}")
    lines.append(f"{indent}  to {listed(members, what='other queries')}")
    return lines


def what(shape: Shape) -> str:
    """What a template selects and computes."""
    source: Plan = shape.source
    parts = [] if len(shape.inputs) > 1 else [source.describe()]
    if shape.conditions:
        parts.append("where " + " and ".join(map(str, shape.conditions)))
    if shape.slide is not None:
        groups = ", ".join(map(str, shape.groups)) or "everything"
        parts.append(f"by {groups} computing {', '.join(map(str, shape.aggregates)) or 'distinct rows'}")
    if shape.having:
        parts.append("having " + " and ".join(map(str, shape.having)))
    if shape.sink:
        parts.append(f"into {shape.sink}")
    return " ".join(parts) or "of all combinations"
