"""A shared plan as text, nothing left out, the same text for the same plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.compiler.explain import explain_logical
from penstock.compiler.logical import StreamScan
from penstock.compiler.shared import Chain, Member, SharedJoin, SharedPlan, Template, Wanted
from penstock.grammar.durations import format_duration


def plan_text(plan: SharedPlan) -> str:
    """Queries, templates, joins and chains, in their order."""
    blocks = [explain_logical(query) for query in plan.queries]
    blocks += ["\n".join(_template(template)) for template in plan.templates]
    blocks += ["\n".join(_join(join)) for join in plan.joins]
    blocks += ["\n".join(_chain(chain)) for chain in plan.chains]
    return "\n\n".join(blocks)


def _template(template: Template) -> Iterator[str]:
    shape = template.shape
    yield f"Template{_scope(shape.scope)}: {shape.source.describe()}"
    for scan, unit, selection in zip(shape.inputs, shape.units, shape.selections, strict=True):
        windows = f" [{unit}]" if unit else ""
        where = f" where {_all(selection)}" if selection else ""
        stream = scan.stream if isinstance(scan, StreamScan) else scan.relation
        yield f"  from {stream} {scan.alias}{windows}{where}"
    for word, parts in (("residual", shape.residual), ("having", shape.having)):
        if parts:
            yield f"  {word} {_all(parts)}"
    if shape.slide is not None:
        yield f"  every {format_duration(shape.slide)} by {_list(shape.groups)} computing {_list(shape.aggregates)}"
    yield f"  gives {_list(shape.columns)}" + (f" into {shape.sink}" if shape.sink else "")
    if shape.parameters:
        yield f"  parameters {_list(shape.parameters)}"
    yield from (f"  {_member(member)}" for member in template.members)


def _member(member: Member) -> str:
    windows = ", ".join("-" if window is None else str(window) for window in member.windows)
    return f"{member.query}: windows {windows}" + (f"; {_constants(member.constants)}" if member.constants else "")


def _join(join: SharedJoin) -> Iterator[str]:
    yield f"Join{_scope(join.scope)}: {join.name}"
    yield from (f"  {' -> '.join(order)}" for order in join.orders)


def _chain(chain: Chain) -> Iterator[str]:
    def size(number: int) -> str:
        return f"{number} rows" if chain.rows else format_duration(number)

    def wanted(line: Wanted) -> Iterator[str]:
        for constants, reach in line.rows:
            given = f" with {_constants(constants)} ({_list(line.parameters)})" if constants else ""
            yield f"  to {size(reach)}: {_all(line.conditions) or 'every row'}{given}"

    kind = ", partitioned" if chain.partitioned else ""
    yield f"Chain{_scope(chain.scope)}: {chain.stream} ({_list(chain.columns)}){kind}"
    yield f"  windows {_list(map(size, chain.windows))}; boundaries {_list(map(size, chain.boundaries))}"
    for line in chain.wanted:
        yield from wanted(line)


def _scope(scope: str) -> str:
    return f" of {scope}" if scope else ""


def _all(conditions: Iterable[object]) -> str:
    return " and ".join(f"({c})" if " OR " in str(c) else str(c) for c in conditions)


def _list(items: Iterable[object]) -> str:
    return ", ".join(map(str, items)) or "nothing"


def _constants(constants: Iterable[object]) -> str:
    return ", ".join(f"c{number} = {constant!r}" for number, constant in enumerate(constants, 1))
