"""What a migration makes of the state: chains with other boundaries and bounds, and the starts of new queries.

No row is moved or read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from penstock.catalog import Stream
from penstock.compiler.handover import Handover, meanings, moved_queries, operators_for, unchanged_queries
from penstock.compiler.physical import AggregateWindows, KeepChain, PhysicalPlan, Route
from penstock.compiler.shared import Chain
from penstock.compiler.warm import EVER, Kept, Start, redefined, starts
from penstock.grammar.errors import PenstockError
from penstock.runtime.chunks import Chunk
from penstock.runtime.log import State
from penstock.runtime.plans import RunPlan
from penstock.runtime.results import result_groups


@dataclass(frozen=True)
class Reading:
    """How far a stream has been read under the plan in force until now."""

    ahead: int | None = None
    """The largest event time of all that was read, taken or not."""
    batch: int | None = None
    """The batch that is being read."""


def readings_of(state: State) -> dict[str, Reading]:
    """How far streams have been read, as far as they have been taken."""
    return {name: Reading(stream.high) for name, stream in state.streams.items()}


def _with_derived(readings: Mapping[str, Reading], state: State, plan: RunPlan) -> dict[str, Reading]:
    """The same also for the results of queries that others read: none to come is as early as the last row taken."""
    found = dict(readings)
    shapes = {member.query: route.shape for route in plan.running.of_kind(Route) for member in route.members}

    def high(name: str) -> int | None:
        if name not in shapes or plan.catalog.find(name) is not None:
            known = state.streams.get(name)
            return None if known is None else known.high
        return max((time for _, scan in shapes[name].streams if (time := high(scan.stream)) is not None), default=None)

    names = {keeper.chain.stream for keeper in _keepers(plan.running).values()}
    return found | {name: Reading(high(name)) for name in names if plan.catalog.find(name) is None}


def widened(old: PhysicalPlan, new: PhysicalPlan) -> set[str]:
    """The streams of which columns are to be kept that were not."""
    return {
        keeper.chain.stream
        for keeper in _keepers(new).values()
        if isinstance(before := old.by_id.get(keeper.id), KeepChain)
        and set(keeper.chain.columns) - set(before.chain.columns)
    }


def refuse_changed_columns(old: RunPlan, new: RunPlan) -> None:
    """Rows that are kept have the columns that the catalog gave their stream when they came."""
    for keeper in _keepers(new.running).values():
        before = old.catalog.find(keeper.chain.stream)
        if keeper.id not in old.running.by_id or before is None:
            continue
        stream = new.catalog.find(keeper.chain.stream)
        if stream is None:
            continue
        for name in keeper.chain.columns:
            was, is_ = before.column(name), stream.column(name)
            if was is not None and is_ is not None and was.type != is_.type:
                raise PenstockError(
                    f"the column {name} of {stream.name} was a {was.type} and is a {is_.type} now",
                    hint="Drop the queries that read it first, or name another state folder.",
                    label="changed-column",
                )


def refuse_changed_sources(old: RunPlan, new: RunPlan, read: Iterable[str]) -> None:
    """How far a stream was read means nothing for another source."""
    for name in read:
        before, now = old.catalog.find(name), new.catalog.find(name)
        if before is None or now is None or before.source is None or now.source is None:
            continue
        was, is_ = ((it.format.lower(), it.path) for it in (before.source, now.source))
        if was != is_:
            raise PenstockError(
                f"the stream {name} has been read from {' '.join(filter(None, was))}, "
                f"and its source is {' '.join(filter(None, is_))} now",
                hint="Put the source back, give the stream another name, or name another state folder.",
                label="changed-source",
            )


def handover_to(old: RunPlan, new: RunPlan) -> RunPlan:
    """The new plan with what goes on of the old one beside it, as yet without the times of the cuts."""
    moved = moved_queries(old.physical, new.physical)
    _refuse_counted(new.physical, moved)
    if old.handover is None:
        if not moved:
            return replace(new, handover=None, before=None)
        return replace(new, handover=Handover(operators_for(old.physical, moved)), before=old.texts)
    if moved:
        raise PenstockError(
            "the strategy was switched a short while ago, and the rows for it are still gathered",
            hint="Try again when the longest window has passed.",
            label="handover",
        )
    same = unchanged_queries(old.physical, new.physical)
    cuts = {query: cut for query, cut in old.handover.cuts.items() if query in same}
    operators = operators_for(PhysicalPlan(old.handover.operators), cuts)
    return replace(new, handover=Handover(operators, cuts) if cuts else None, before=old.before if cuts else None)


def _refuse_counted(plan: PhysicalPlan, moved: Iterable[str]) -> None:
    """Of windows that count rows it is not known beforehand from when on other operators can answer."""
    found = meanings(plan)
    counting = sorted(query for query in moved if "rows" in found[query][0].units)
    if counting:
        raise PenstockError(
            f"the strategy cannot be switched to or from none while '{counting[0]}' counts rows in its windows",
            hint="Drop the queries with windows of a number of rows first, and register them again afterwards.",
            label="counted-handover",
        )


def with_cuts(plan: RunPlan, starts: dict[str, Start], known: Mapping[str, Start]) -> tuple[RunPlan, dict[str, Start]]:
    """A plan with the times from which on its own operators answer; the queries are complete as they were before."""
    if plan.handover is None or plan.handover.cuts:
        return plan, starts
    moved = PhysicalPlan(plan.handover.operators).queries
    cuts = {query: cut for query in moved if (cut := starts[query].complete) is not None and cut != EVER}
    earlier = {query: replace(starts[query], earlier=known[query].complete) for query in cuts}
    handover = Handover(operators_for(PhysicalPlan(plan.handover.operators), cuts), cuts) if cuts else None
    return replace(plan, handover=handover, before=plan.before if cuts else None), {**starts, **earlier}


def spans_of(plan: RunPlan) -> dict[tuple[str, str], tuple[int, int]]:
    """For the queries that are handed over, the times that their old and their new operators answer for."""
    if plan.handover is None:
        return {}
    spans = {}
    for operators, is_old in ((plan.handover.operators, True), (plan.physical.operators, False)):
        for route in PhysicalPlan(operators).of_kind(Route):
            for member in route.members:
                cut = plan.handover.cuts.get(member.query)
                if cut is not None:
                    spans[route.shape.scope, member.query] = (EVER, cut) if is_old else (cut, -EVER)
    return spans


def migrated(
    state: State, old: RunPlan, new: RunPlan, known: Mapping[str, Start], readings: Mapping[str, Reading]
) -> tuple[State, dict[str, Start]]:
    """The state under a new plan, after the same step, and the starts of its queries."""
    before, after = _keepers(old.running), _keepers(new.running)
    readings = _with_derived(readings, state, new)
    changed = redefined(old.running, new.running)
    columns = {id_: _columns(id_, keeper.chain, before, state, readings) for id_, keeper in after.items()}
    kept = {id_: _kept(id_, keeper.chain, state, columns[id_], readings) for id_, keeper in after.items()}
    retained = {}
    for id_, keeper in after.items():
        stream = new.catalog.find(keeper.chain.stream)
        if isinstance(stream, Stream) and stream.retain and not keeper.chain.scope and not keeper.chain.rows:
            retained[id_] = (_retained_since(kept[id_]), stream.retain)
    _, groups = result_groups(new.running, state.groups)
    names = set(new.physical.queries)
    anew = {id_ for id_, keeper in after.items() if keeper.chain.stream in changed}
    chains = {id_: () if id_ in anew else _chunks(id_, keeper.chain, before, state) for id_, keeper in after.items()}
    tallies = {op.id: op.tally for op in new.running.of_kind(AggregateWindows)}
    known_tallies = {op.id for op in old.running.of_kind(AggregateWindows)}
    for id_, tally in tallies.items():
        of_others = any(scan.stream in changed for _, scan in tally.shape.streams)
        chunks = state.chains.get(id_, ()) if id_ in known_tallies and not of_others else ()
        chains[id_] = tuple(replace(chunk, reach=tally.longest) for chunk in chunks)
    after_migration = replace(
        state,
        plan=state.plan + 1,
        chains=chains,
        ranked={id_: rank for id_, rank in state.ranked.items() if id_ in after and id_ in before and id_ not in anew},
        columns={id_: own for id_, own in columns.items() if own},
        trimmed={id_: horizon for id_, horizon in state.trimmed.items() if id_ in chains},
        retained=retained,
        groups=groups,
        counts={name: count for name, count in state.counts.items() if not name or name in names},
    )
    return after_migration, starts(old.physical, new.physical, known, kept)


def _keepers(plan: PhysicalPlan) -> dict[str, KeepChain]:
    return {keeper.id: keeper for keeper in plan.of_kind(KeepChain)}


def _columns(
    id_: str, chain: Chain, before: Mapping[str, KeepChain], state: State, readings: Mapping[str, Reading]
) -> dict[str, int]:
    """The columns that the chain's rows have not always had."""
    if id_ not in before:
        return {}
    known = state.columns.get(id_, {})
    found = {name: known[name] for name in chain.columns if name in known}
    ahead = readings.get(chain.stream, Reading()).ahead
    if ahead is not None:
        found |= {name: ahead + 1 for name in chain.columns if name not in before[id_].chain.columns}
    return found


def _kept(id_: str, chain: Chain, state: State, columns: Mapping[str, int], readings: Mapping[str, Reading]) -> Kept:
    stream = state.streams.get(chain.stream)
    reading = readings.get(chain.stream, Reading())
    high = stream.high if stream is not None else reading.ahead  # of results, which are not read ahead
    return Kept(
        EVER if high is None else high,
        EVER if reading.ahead is None else reading.ahead,
        reading.batch,
        state.trimmed.get(id_, EVER),
        columns,
        state.retained.get(id_),
    )


def _retained_since(kept: Kept) -> int:
    if kept.retained is None:
        return EVER if kept.ahead == EVER else kept.ahead + 1
    since, reach = kept.retained
    return max(since, kept.trimmed - reach + 1 if kept.trimmed != EVER else EVER)


def _chunks(id_: str, chain: Chain, before: Mapping[str, KeepChain], state: State) -> tuple[Chunk, ...]:
    """The chunks of a chain; those that reach nowhere any more are gone at once."""
    if id_ not in before:
        return ()
    chunks = state.chains.get(id_, ())
    was = before[id_].chain
    if was.wanted == chain.wanted or chain.rows:
        return chunks
    found = (chunk.under(chain, grown=_grows(was, chain)) for chunk in chunks)
    horizon = state.trimmed.get(id_)
    return tuple(chunk for chunk in found if chunk.reach and not (horizon is not None and chunk.is_dead(horizon)))


def _grows(was: Chain, chain: Chain) -> bool:
    """Whether rows may be wanted for longer than before."""
    old = {(w.conditions, w.parameters, constants): reach for w in was.wanted for constants, reach in w.rows}
    new = (((w.conditions, w.parameters, constants), reach) for w in chain.wanted for constants, reach in w.rows)
    return any(old.get(selection, -1) < reach for selection, reach in new)
