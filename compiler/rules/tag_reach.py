"""Push the selections of all queries into the chains: every row gets one reach."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.catalog import Stream
from penstock.compiler.facts import facts_of
from penstock.compiler.logical import StreamScan
from penstock.compiler.rules.context import Context
from penstock.compiler.scalar import PARAMETERS, ColumnRef, Constant, Scalar, renamed, replaced
from penstock.compiler.shared import Chain, Fact, Shape, SharedPlan, Template, Wanted

Place = tuple[str, str, bool]
"""Whose state: scope, stream, and whether its windows count rows."""
Selection = tuple[tuple[Scalar, ...], tuple[str, ...]]
"""Conditions and the types of their parameters: `x < 5` and `x < 5.5` read alike and are not."""
Asked = tuple[Selection, tuple[Fact, ...]]
"""A selection and the facts without which a row is not wanted."""


def tag_reach(plan: SharedPlan, context: Context) -> SharedPlan:
    """One chain for each stream, with who wants which rows for how long.

    In front of a slice stands the disjunction of the selections of the queries that reach it. A row need not be
    checked again at every slice: it is tagged once with its reach, the longest window of any query whose
    selection accepts it. Under `pull-up` selections stay above the join, and every row reaches to the end; so
    does it where windows count rows, because the rows that nobody selects are counted too.
    """
    found: dict[Place, dict[Asked, dict[tuple[Constant, ...], int]]] = {}
    columns: dict[Place, set[str]] = {}
    names: dict[Place, tuple[str, ...]] = {}
    windows: dict[Place, set[int]] = {}
    times: dict[Place, str] = {}
    for template in plan.templates:
        shape = template.shape
        for position, scan in shape.streams:
            place = (shape.scope, scan.stream, shape.units[position] == "rows" and shape.keeps_state)
            selection, numbers = selection_of(shape, position, scan.alias, scan.stream)
            facts = _facts(shape, scan, context)
            reaches = found.setdefault(place, {}).setdefault((selection, facts), {})
            windows.setdefault(place, set()).update(_collect(template, position, numbers, reaches))
            columns.setdefault(place, {scan.timestamp}).update(used_columns(shape, scan.alias))
            times[place] = scan.timestamp
            names[place] = tuple(name for name, _ in scan.columns)
    for place in found:
        retain = _retain(place, context)
        if retain:
            columns[place].update(names[place])
            windows[place].add(retain)
            everything = found[place].setdefault((((), ()), ()), {})
            everything[()] = max(retain, everything.get((), 0))
    chains = []
    for place in sorted(found):
        scope, stream, rows = place
        wanted = _wanted(found[place], everything=rows or context.settings.sharing == "pull-up")
        kept = tuple(name for name in names[place] if name in columns[place])
        own = tuple(sorted(windows[place] - {0}))
        chains.append(Chain(stream, times[place], kept, wanted, own, rows=rows, scope=scope))
    return replace(plan, chains=tuple(chains))


def _facts(shape: Shape, scan: StreamScan, context: Context) -> tuple[Fact, ...]:
    """The facts that rows need; where rows of each reach are kept apart, a fact does not limit the reach."""
    if not context.settings.prefilter:
        return ()
    facts = facts_of(shape, scan)
    apart = context.settings.sharing == "push-down"
    return tuple(replace(fact, limits=False) for fact in facts) if apart else facts


def _retain(place: Place, context: Context) -> int:
    """For how long all the rows of a stream are kept for queries to come; where nothing is shared there are none."""
    scope, stream, rows = place
    entry = context.estimates.catalog.find(stream)
    return entry.retain if isinstance(entry, Stream) and not scope and not rows else 0


def selection_of(shape: Shape, position: int, alias: str, stream: str) -> tuple[Selection, list[int]]:
    """The conditions on an input with parameters numbered from 1, their types, and the places they had before."""
    conditions = shape.selections[position]
    used = sorted({int(ref.name[1:]) for c in conditions for ref in c.columns if ref.input == PARAMETERS})
    numbers = {ColumnRef(PARAMETERS, f"c{old}"): ColumnRef(PARAMETERS, f"c{new}") for new, old in enumerate(used, 1)}
    own = tuple(renamed(replaced(condition, numbers), {alias: stream}) for condition in conditions)
    return (own, tuple(shape.parameters[old - 1] for old in used)), [old - 1 for old in used]


def _collect(
    template: Template, position: int, numbers: list[int], reaches: dict[tuple[Constant, ...], int]
) -> set[int]:
    """Note the reach of every member's constants, the longest where several have the same; give all reaches."""
    windows = set()
    keeps_state = template.shape.keeps_state
    for member in template.members:
        window = member.windows[position]
        reach = window.size if window is not None and keeps_state else 0
        constants = tuple([member.constants[number] for number in numbers])
        if reach >= reaches.get(constants, 0):
            reaches[constants] = reach
        windows.add(reach)
    return windows


def used_columns(shape: Shape, alias: str) -> Iterable[str]:
    """The columns of an input that are needed after its rows have come in."""
    scalars = [*shape.conditions, *(named.expr for named in (*shape.groups, *shape.aggregates))]
    scalars += [part for key in getattr(shape.source, "keys", ()) for part in key.parts]
    scalars += [named.expr for named in shape.columns]
    return {ref.name for scalar in scalars for ref in scalar.columns if ref.input == alias}


def _wanted(found: dict[Asked, dict[tuple[Constant, ...], int]], *, everything: bool) -> tuple[Wanted, ...]:
    """Who wants rows, without those that want no more than what is wanted of every row anyway."""
    always = max(found.get((((), ()), ()), {}).values(), default=-1)
    if everything:
        always = max(reach for reaches in found.values() for reach in reaches.values())
    wanted = [Wanted((), (), (((), always),))] if always >= 0 else []
    for selection, facts in sorted(found, key=_text):
        conditions, types = selection
        rows = tuple(row for row in found[selection, facts].items() if row[1] > always)
        if (conditions or facts) and rows:
            wanted.append(Wanted(conditions, types, tuple(sorted(rows, key=_order)), facts))
    return tuple(wanted)


def _text(asked: Asked) -> tuple[object, ...]:
    (conditions, types), facts = asked
    return [condition.sql for condition in conditions], types, [(fact.column, fact.limits) for fact in facts]


def _order(row: tuple[tuple[Constant, ...], int]) -> tuple[object, ...]:
    return (row[1], *map(repr, row[0]))
