"""A physical plan made ready for Spark: its chains, its partial aggregates, and what becomes of the rows of a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.catalog import Catalog, Relation, Stream
from penstock.compiler.logical import RelationScan
from penstock.compiler.physical import AggregateWindows, KeepChain, PhysicalPlan, Probe, Route
from penstock.compiler.shared import Chain, Shape
from penstock.compiler.tally import counted_by, is_tallied
from penstock.compiler.warm import Start
from penstock.runtime.chunks import Chunk
from penstock.runtime.columns import quoted
from penstock.runtime.counting import last_before
from penstock.runtime.log import Group, StreamState
from penstock.runtime.marks import NEVER, Span
from penstock.runtime.outlets import Found, Inputs, Outlet, Source, Standing, Tallied
from penstock.runtime.partials import Parts
from penstock.runtime.relations import Relations
from penstock.runtime.results import result_groups
from penstock.runtime.route import Columns, Router, Target
from penstock.runtime.sinks import SinkWriter, sinks_of
from penstock.runtime.storage import Storage
from penstock.runtime.tallies import Askers, Finish, TallyKeeper, readers
from penstock.runtime.views import Views


@dataclass
class Level:
    """Queries whose streams are all there when those of the levels before have given their results."""

    counted: list[KeepChain] = field(default_factory=list)
    """Chains whose rows are counted."""
    tallies: list[tuple[Inputs, TallyKeeper]] = field(default_factory=list)
    """Partial aggregates, and what is added up."""
    stored: dict[int, Outlet] = field(default_factory=dict)
    """The outlets into the results store, by group."""
    sinks: list[tuple[Outlet, SinkWriter]] = field(default_factory=list)
    read: dict[str, list[KeepChain]] = field(default_factory=dict)
    """Queries that others read, with the chains that their results go into."""


class Pipeline:
    """The chains, the joins and the outlets of a plan."""

    def __init__(
        self,
        spark: SparkSession,
        plan: PhysicalPlan,
        catalog: Catalog,
        storage: Storage,
        root: Path | None,
        groups: Iterable[Group] = (),
        starts: Mapping[str, Start] | None = None,
        spans: Mapping[tuple[str, str], tuple[int, int]] | None = None,
        *,
        relations: Relations,
    ) -> None:
        """`groups` are those of earlier results; `starts` say since when the rows of queries are there.

        `spans` says for a scope and a query which times it is to answer for, if not all.
        """
        self.plan = plan
        self.keepers = {op.id: op for op in plan.of_kind(KeepChain)}
        self.tallies: dict[str, TallyKeeper] = {}
        self._spark = spark
        self._catalog = catalog
        self._starts = starts or {}
        self._spans = spans or {}
        self._shapes = [route.shape for route in plan.of_kind(Route)]
        self._shape_of = {m.query: route.shape for route in plan.of_kind(Route) for m in route.members}
        self._scans = {scan.stream: scan for shape in self._shapes for _, scan in shape.streams}
        self.streams = sorted({k.chain.stream for k in self.keepers.values() if not self.is_derived(k.chain.stream)})
        names = {scan.relation for shape in self._shapes for scan in shape.inputs if isinstance(scan, RelationScan)}
        entries = {name: entry for name in sorted(names) if isinstance(entry := catalog.find(name), Relation)}
        relations.use(entries, [fact for keeper in self.keepers.values() for fact in keeper.chain.facts])
        self.views = Views(spark, relations)
        self.levels = self._levels(groups, storage, root)

    def close(self) -> None:
        """Remove the tables it has made."""
        for level in self.levels:
            for outlet in (*level.stored.values(), *(outlet for outlet, _ in level.sinks)):
                outlet.close()
        for tally in self.tallies.values():
            tally.close()
        self.views.close()

    # Streams

    def is_derived(self, name: str) -> bool:
        """Whether a stream is the results of another query."""
        return self._catalog.find(name) is None

    def stream(self, name: str) -> Stream:
        """A stream of the catalog."""
        entry = self._catalog.find(name)
        assert isinstance(entry, Stream)
        return entry

    def base_streams(self, name: str) -> frozenset[str]:
        """The streams of the catalog that a stream is made from."""
        if not self.is_derived(name):
            return frozenset({name})
        shape = self._shape_of.get(name)
        return frozenset() if shape is None else self.bases_of(shape)

    def bases_of(self, shape: Shape) -> frozenset[str]:
        """The streams of the catalog that the queries of a shape are made from."""
        found: frozenset[str] = frozenset()
        return found.union(*(self.base_streams(scan.stream) for _, scan in shape.streams))

    def chains_of(self, stream: str) -> tuple[KeepChain, ...]:
        """The chains that keep rows of a stream."""
        return tuple(keeper for keeper in self.keepers.values() if keeper.chain.stream == stream)

    def key_columns(self, chain: Chain) -> tuple[str, ...]:
        """The columns of a chain that are keys of a join as they are."""
        names = set()
        for join in (probe.join for probe in self.plan.of_kind(Probe)):
            aliases = {scan.alias for scan in join.streams if scan.stream == chain.stream}
            parts = (part for key in join.source.keys for part in key.parts if part.is_column)
            names |= {ref.name for part in parts for ref in part.columns if ref.input in aliases}
        return tuple(name for name in chain.columns if name in names)

    def types(self, stream: str) -> dict[str, str]:
        """The columns of a stream with their types."""
        if self.is_derived(stream):
            return dict(self._scans[stream].columns)
        return {column.name: column.type for column in self.stream(stream).columns}

    def schema(self, chain: Chain) -> str:
        """The columns of a chain's chunks."""
        types = self.types(chain.stream)
        columns = [f"{quoted(name)} {types[name]}" for name in chain.columns]
        return ", ".join([*columns, *(f"{fact.column} bigint" for fact in chain.facts)])

    # Time

    def mark(self, streams: Mapping[str, StreamState], names: Iterable[str]) -> int | None:
        """The time before which no row of some streams is taken any more; None if that is not known."""
        marks = [known.mark if (known := streams.get(name)) is not None else None for name in names]
        return None if not marks or None in marks else min(mark for mark in marks if mark is not None)

    def horizon(self, keeper: KeepChain, streams: Mapping[str, StreamState]) -> int | None:
        """The time before which no row will come that could meet a row of this chain."""
        return self.mark(streams, self._partners(keeper.id))

    def lowest_rank(self, keeper: KeepChain, chunks: tuple[Chunk, ...], streams: Mapping[str, StreamState]) -> int:
        """Up to this rank, no row of a chain whose rows are counted is among the last ones any more."""
        return last_before(chunks, self.horizon(keeper, streams)) - keeper.chain.reach

    def tally_horizon(self, id_: str, streams: Mapping[str, StreamState]) -> int | None:
        """The time before which all instants have been given."""
        return self.mark(streams, self.bases_of(self.tallies[id_].tally.shape))

    def span(self, shape: Shape, before: Mapping[str, StreamState], after: Mapping[str, StreamState]) -> Span:
        """What a step settles for the queries of a shape."""
        return self._span(self.bases_of(shape), before, after)

    def own_span(self, stream: str, before: Mapping[str, StreamState], after: Mapping[str, StreamState]) -> Span:
        """What a step settles for a stream by itself."""
        return self._span(self.base_streams(stream), before, after)

    def _span(self, names: Iterable[str], before: Mapping[str, StreamState], after: Mapping[str, StreamState]) -> Span:
        since, until = self.mark(before, names), self.mark(after, names)
        return Span(NEVER if since is None else since, NEVER if until is None else until)

    @property
    def longest_wait(self) -> int | None:
        """How long after the last row results may still be given; None if none wait for what is settled."""
        waiting = [shape for shape in self._shapes if shape.slide is not None or "rows" in shape.units]
        if not waiting:
            return None
        windows = [w.size for r in self.plan.of_kind(Route) for m in r.members for w in m.windows if w and not w.rows]
        return len(self.levels) * (max(windows, default=0) + max(shape.slide or 0 for shape in waiting))

    @cache  # noqa: B019  a pipeline is dropped with its plan
    def _partners(self, id_: str) -> frozenset[str]:
        """The streams whose rows to come decide how long the rows of a chain are needed.

        Those that it is joined with; where results wait until they are settled, all streams of the join.
        """
        chain = self.keepers[id_].chain
        found: set[str] = set()
        for shape in self._shapes:
            names = [scan.stream for _, scan in shape.streams]
            if shape.scope != chain.scope or chain.stream not in names:
                continue
            if "rows" not in shape.units:
                names.remove(chain.stream)
            found.update(*(self.base_streams(name) for name in names))
        return frozenset(found) or self.base_streams(chain.stream)  # nobody needs its rows: they are retained

    # Queries

    def _levels(self, groups: Iterable[Group], storage: Storage, root: Path | None) -> list[Level]:
        targets = [Target(route.shape, route.members) for route in self.plan.of_kind(Route)]
        levels = [Level() for _ in range(1 + max((self._level(t.shape) for t in targets), default=0))]
        for tally in self.plan.of_kind(AggregateWindows):
            keeper = TallyKeeper(self._spark, tally, self._usable_of(tally))
            self.tallies[tally.id] = keeper
            levels[self._level(tally.tally.shape)].tallies.append((self._inputs(tally.tally.shape), keeper))
        stored, _ = result_groups(self.plan, groups)
        for group in stored:
            columns = tuple(group.columns.values())
            for number, level in enumerate(levels):
                own = [target for target in group.targets if self._level(target.shape) == number]
                if own:
                    level.stored[group.number] = self._outlet(columns, own)
        for target, sink in sinks_of(self.plan, storage, root):
            columns = tuple((named.name, named.expr.type) for named in target.shape.columns)
            levels[self._level(target.shape)].sinks.append((self._outlet(columns, [target]), sink))
        for chain in self.keepers.values():
            stream = chain.chain.stream
            if chain.chain.rows:
                levels[self._level_of(stream)].counted.append(chain)
            if self.is_derived(stream) and stream in self._shape_of:
                levels[self._level(self._shape_of[stream])].read.setdefault(stream, []).append(chain)
        return levels

    def _level(self, shape: Shape) -> int:
        return max(self._level_of(scan.stream) for _, scan in shape.streams)

    def _level_of(self, stream: str) -> int:
        if not self.is_derived(stream) or stream not in self._shape_of:
            return 0
        return 1 + self._level(self._shape_of[stream])

    def _inputs(self, shape: Shape) -> Inputs:
        probes = (
            op for op in self.plan.of_kind(Probe) if (op.join.scope, op.join.source) == (shape.scope, shape.source)
        )
        chains = {(k.chain.scope, k.chain.stream, k.chain.rows): k for k in self.keepers.values()}
        keepers = {
            scan.alias: chains[shape.scope, scan.stream, shape.units[position] == "rows"]
            for position, scan in shape.streams
        }
        return Inputs(shape, next(probes, None), keepers, self.schema)

    def _outlet(self, columns: Columns, targets: list[Target]) -> Outlet:
        found: list[tuple[int, Source]] = []

        def add(source: Source) -> None:
            found.append((Outlet.slots(found), source))

        for tally in self.tallies.values():
            own = [r for t in targets if (r := readers(tally.tally, t)).members]
            if own:
                askers = Askers(self._spark, tally, own, columns, self._since, self._spans, Outlet.slots(found))
                add(Tallied(askers, tally.parts.schema))
        groups: dict[object, list[Target]] = {}
        for target in targets:
            shape = target.shape
            if not is_tallied(shape):
                # one alone where each makes groups of its own, together where one pass serves all
                alone = id(target) if shape.slide is not None else None
                units = shape.units if "rows" in shape.units else None
                groups.setdefault((shape.scope, shape.source, units, alone), []).append(target)
        for own in groups.values():
            add(self._source(own, columns, Outlet.slots(found)))
        return Outlet(found)

    def _source(self, targets: list[Target], columns: Columns, first: int) -> Source:
        shape = targets[0].shape
        inputs = self._inputs(shape)
        usable = self._usable
        if "rows" not in shape.units:
            router = Router(self._spark, tuple(targets), columns, usable, self._spans, first)
            return Found(router, lambda step: inputs.arrived(step, uniform=router.uniform))
        spans = self._settled_spans(targets)
        if shape.slide is None:
            return Found(Router(self._spark, tuple(targets), columns, usable, spans, first), inputs.settled)
        (target,) = targets
        parts = Parts(shape)
        values = tuple((named.name, named.expr.type) for named in parts.values)
        plain = replace(shape, columns=parts.values, groups=(), aggregates=(), having=(), slide=None)
        router = Router(self._spark, (Target(plain, target.members),), values, usable, spans)
        return Standing(inputs, router, parts, Finish(self._spark, (target,), columns, first))

    @property
    def _since(self) -> dict[str, int]:
        """For the queries that must not answer before they are complete: since when they are."""
        complete = {query: start.complete for query, start in self._starts.items()}
        return {query: -NEVER if since is None else since for query, since in complete.items() if since != NEVER}

    @property
    def _usable(self) -> dict[str, int]:
        """For the queries that must not use all rows: from when on they may."""
        return {query: start.usable for query, start in self._starts.items() if start.usable != NEVER}

    def _settled_spans(self, targets: list[Target]) -> dict[tuple[str, str], tuple[int, int]]:
        """The times that queries over the last rows may answer for."""
        since = self._since
        members = ((target.shape.scope, member) for target in targets for member in target.members)
        keys = [(scope, member.query) for scope, member in members]
        found = {}
        for key in keys:
            begin, until = self._spans.get(key, (NEVER, -NEVER))
            begin = max(begin, since.get(key[1], NEVER))
            if (begin, until) != (NEVER, -NEVER):
                found[key] = (begin, until)
        return found

    def _usable_of(self, tally: AggregateWindows) -> dict[str, int]:
        """From when on rows may be used for what is counted, where they lack columns before."""
        usable = self._usable
        found: dict[str, int] = {}
        if not usable:
            return found
        for route in self.plan.of_kind(Route):
            for member in readers(tally.tally, Target(route.shape, route.members)).members:
                name = counted_by(tally.tally.shape, member).name
                found[name] = min(found.get(name, -NEVER), usable.get(member.query, NEVER))
        return {name: time for name, time in found.items() if time != NEVER}
