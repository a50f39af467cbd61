"""From the shared plan to the physical plan."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.compiler.logical import Plan, StreamScan
from penstock.compiler.physical import (
    AggregateWindows,
    Ingest,
    KeepChain,
    Operator,
    PhysicalPlan,
    Probe,
    Route,
    Write,
)
from penstock.compiler.shared import Chain, Shape, SharedPlan, Template
from penstock.compiler.tally import grain_of, is_tallied, tallied_shape, tallies

ChainKey = tuple[str, str, bool]


def plan_physical(plan: SharedPlan) -> PhysicalPlan:
    """The operators that run a shared plan; the same plan always gives the same operators in the same order."""
    chains = {(chain.scope, chain.stream, chain.rows): chain for chain in plan.chains}
    ingests = _ingests(plan, chains)
    keepers = {key: KeepChain((ingests[chain.stream].id,), chain) for key, chain in chains.items()}
    probes: dict[tuple[str, Plan], Probe] = {}
    for join in plan.joins:
        units = _units(plan, join.scope, join.source)
        inputs = {keepers[(join.scope, scan.stream, unit)].id for scan in join.streams for unit in units[scan.alias]}
        probes[(join.scope, join.source)] = Probe(tuple(sorted(inputs)), join)
    aggregates = {}
    for tally in tallies(plan.templates):
        aggregates[tally.shape, tally.grain] = AggregateWindows((_source(tally.shape, probes, keepers).id,), tally)
    operators: list[Operator] = [*ingests.values(), *keepers.values(), *probes.values(), *aggregates.values()]
    last: list[Operator] = []
    for template in plan.templates:
        read = _read(template, aggregates) or (_source(template.shape, probes, keepers).id,)
        route = Route(read, template.shape, template.members)
        last += [route, Write((route.id,), template.shape)]
    return PhysicalPlan((*sorted(operators, key=_order), *sorted(last, key=_order)))


def _source(
    shape: Shape, probes: Mapping[tuple[str, Plan], Probe], keepers: Mapping[ChainKey, KeepChain]
) -> Probe | KeepChain:
    """Where the combinations of a shape come from."""
    return probes.get((shape.scope, shape.source)) or keepers[_key(shape, 0)]


def _read(template: Template, aggregates: Mapping[tuple[Shape, int], AggregateWindows]) -> tuple[str, ...]:
    """The partial aggregates that the queries of a template read."""
    if not is_tallied(template.shape):
        return ()
    shape = tallied_shape(template.shape)
    grains = {grain_of(template.shape, member) for member in template.members}
    return tuple(sorted(aggregates[shape, grain].id for grain in grains))


def _ingests(plan: SharedPlan, chains: dict[ChainKey, Chain]) -> dict[str, Ingest]:
    """One reader for each stream, with the columns that any chain needs."""
    needed: dict[str, set[str]] = {}
    for chain in chains.values():
        needed.setdefault(chain.stream, set()).update(chain.columns)
    scans: dict[str, StreamScan] = {}
    for template in plan.templates:
        for _, scan in template.shape.streams:
            scans.setdefault(scan.stream, scan)
    return {
        stream: Ingest(
            (),
            stream,
            scan.timestamp,
            tuple(column for column in scan.columns if column[0] in needed[stream]),
            scan.derived,
        )
        for stream, scan in scans.items()
    }


def _units(plan: SharedPlan, scope: str, source: Plan) -> dict[str, set[bool]]:
    """For each input, whether time windows, count windows or both are put on it."""
    units: dict[str, set[bool]] = {}
    for template in plan.templates:
        shape = template.shape
        if (shape.scope, shape.source) == (scope, source):
            for position, scan in shape.streams:
                units.setdefault(scan.alias, set()).add(_key(shape, position)[2])
    return units


def _key(shape: Shape, position: int) -> ChainKey:
    scan = shape.inputs[position]
    assert isinstance(scan, StreamScan)
    return shape.scope, scan.stream, shape.units[position] == "rows" and shape.keeps_state


_KINDS = ("ingest", "chain", "probe", "aggregate", "route", "sink")


def _order(operator: Operator) -> tuple[object, ...]:
    return (_KINDS.index(operator.kind), *operator.identity())
