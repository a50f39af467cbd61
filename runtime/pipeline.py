"""A physical plan made ready for Spark: what it does with the rows of a step, as SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from penstock.catalog import Catalog, Stream
from penstock.compiler.logical import StreamScan
from penstock.compiler.physical import KeepChain, PhysicalPlan, Probe
from penstock.compiler.shared import Chain
from penstock.grammar.errors import PenstockError
from penstock.runtime.chunks import Chunk
from penstock.runtime.columns import quoted
from penstock.runtime.log import Group, State, StreamState
from penstock.runtime.probe import Rows, Views, combinations
from penstock.runtime.reach import power_of_two
from penstock.runtime.results import result_groups
from penstock.runtime.route import Columns, Router, Target
from penstock.runtime.sinks import SinkWriter, sinks_of
from penstock.runtime.storage import Storage

_MOST_COUNTED = 64
New = dict[str, list[Chunk]]
"""The chunks that come with a step, by chain."""


class Outlet:
    """Rows of results that are written together: what they are matched with, for each join or chain they come from."""

    def __init__(self, routers: list[tuple[Probe | KeepChain, Router]]) -> None:
        self.routers = routers

    @property
    def queries(self) -> list[tuple[str, int]]:
        """Whose results they are, with the numbers by which results are counted."""
        return [(query, router.first + i) for _, router in self.routers for i, query in enumerate(router.queries)]

    @property
    def counted(self) -> int:
        """By how many numbers results are counted in the step itself: all, or none if there are too many."""
        return self.slots if self.slots <= _MOST_COUNTED else 0

    @property
    def slots(self) -> int:
        """How many numbers there are, some of them for queries to come."""
        return sum(power_of_two(len(router.queries)) for _, router in self.routers)


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
        usable: Mapping[str, int] | None = None,
        spans: Mapping[tuple[str, str], tuple[int, int]] | None = None,
    ) -> None:
        """`groups` are those of earlier results; `usable` says from when on a query may use rows, if not ever.

        `spans` says for a scope and a query which times it is to answer for, if not all.
        """
        self.plan = plan
        self.keepers = {op.id: op for op in plan.of_kind(KeepChain)}
        self.streams = sorted({keeper.chain.stream for keeper in self.keepers.values()})
        self._spark = spark
        self._catalog = catalog
        self._usable = usable or {}
        self._spans = spans or {}
        self._probes = plan.of_kind(Probe)
        self._views = Views(spark)
        stored, _ = result_groups(plan, groups)
        self.stored = {g.number: self._outlet(tuple(g.columns.values()), g.targets) for g in stored}
        """The outlets into the results store, by group."""
        self.sinks: list[tuple[Outlet, SinkWriter]] = [
            (self._outlet(tuple((named.name, named.expr.type) for named in target.shape.columns), [target]), sink)
            for target, sink in sinks_of(plan, storage, root)
        ]

    def close(self) -> None:
        """Remove the tables it has made."""
        for outlet in (*self.stored.values(), *(outlet for outlet, _ in self.sinks)):
            for _, router in outlet.routers:
                router.close()
        self._views.close()

    def stream(self, name: str) -> Stream:
        """A stream of the catalog."""
        entry = self._catalog.find(name)
        if not isinstance(entry, Stream):
            raise PenstockError(
                f"{name} is not a stream of the catalog",
                hint="Queries over other queries do not run yet.",
                label="not-a-stream",
            )
        return entry

    def chains_of(self, stream: str) -> tuple[KeepChain, ...]:
        """The chains that keep rows of a stream."""
        return tuple(keeper for keeper in self.keepers.values() if keeper.chain.stream == stream)

    def key_columns(self, chain: Chain) -> tuple[str, ...]:
        """The columns of a chain that are keys of a join as they are."""
        names = set()
        for join in (probe.join for probe in self._probes):
            aliases = {scan.alias for scan in join.streams if scan.stream == chain.stream}
            parts = (part for key in join.source.keys for part in key.parts if part.is_column)
            names |= {ref.name for part in parts for ref in part.columns if ref.input in aliases}
        return tuple(name for name in chain.columns if name in names)

    def schema(self, chain: Chain) -> str:
        """The columns of a chain's chunks."""
        types = {column.name: column.type for column in self.stream(chain.stream).columns}
        return ", ".join(f"{quoted(name)} {types[name]}" for name in chain.columns)

    def horizon(self, chain: Chain, streams: dict[str, StreamState]) -> int | None:
        """The time before which no row will come that could meet a row of this chain."""
        partners: set[str] = set()
        for probe in self._probes:
            names = [scan.stream for scan in probe.join.streams]
            if chain.stream in names and probe.join.scope == chain.scope:
                names.remove(chain.stream)
                partners |= set(names)
        partners = partners or {chain.stream}  # nobody needs its rows; they are retained for queries to come
        marks = self.watermarks({name: streams.get(name, StreamState()) for name in partners})
        return min(marks.values(), default=None) if len(marks) == len(partners) else None

    def watermarks(self, streams: Mapping[str, StreamState]) -> dict[str, int]:
        """The time before which no row of a stream is taken any more, for the streams that have one."""
        found = {}
        for name, known in streams.items():
            own = [] if known.high is None else [known.high - self.stream(name).lateness]
            own += [] if known.floor is None else [known.floor]
            if own:
                found[name] = max(own)
        return found

    def horizons(self, streams: dict[str, StreamState]) -> dict[str, int | None]:
        """The horizon of every chain."""
        return {chain: self.horizon(keeper.chain, streams) for chain, keeper in self.keepers.items()}

    def begin_step(self) -> None:
        """Forget the chunks of the step before."""
        self._views.begin()

    def results(self, outlet: Outlet, new: New, state: State) -> DataFrame | None:
        """The results that new rows give; None if there can be none."""
        texts = []
        for source, router in outlet.routers:
            if isinstance(source, Probe):
                rows = combinations(self._views, source.join, self._rows_of(source, new, state), uniform=router.uniform)
            else:
                rows = self._arrivals(source, router, new, state)
            if rows is not None:
                texts.append(router.routed(rows, numbered=bool(outlet.counted)))
        return self._spark.sql(" UNION ALL ".join(texts)) if texts else None

    def _outlet(self, columns: Columns, targets: list[Target]) -> Outlet:
        sources: list[tuple[Probe | KeepChain, list[Target]]] = [
            *((probe, [t for t in targets if _is_of(t, probe)]) for probe in self._probes),
            *((keeper, [t for t in targets if _is_over(t, keeper.chain)]) for keeper in self.keepers.values()),
        ]
        found: list[tuple[Probe | KeepChain, Router]] = []
        for source, own in sources:
            if own:
                first = Outlet(found).slots
                found.append((source, Router(self._spark, tuple(own), columns, self._usable, self._spans, first)))
        return Outlet(found)

    def _arrivals(self, keeper: KeepChain, router: Router, new: New, state: State) -> str | None:
        rows = self._rows(keeper, new, state)
        return self._views.rows(rows, rows.new, router.targets[0].shape.inputs[0].alias) if rows.new else None

    def _rows_of(self, probe: Probe, new: New, state: State) -> Callable[[StreamScan], Rows]:
        keepers = {
            keeper.chain.stream: keeper
            for keeper in self.keepers.values()
            if keeper.chain.scope == probe.join.scope and not keeper.chain.rows
        }
        return lambda scan: self._rows(keepers[scan.stream], new, state)

    def _rows(self, keeper: KeepChain, new: New, state: State) -> Rows:
        kept = state.chains.get(keeper.id, ())
        return Rows(keeper.chain, self.schema(keeper.chain), tuple(new.get(keeper.id, ())), kept)


def _is_of(target: Target, probe: Probe) -> bool:
    """Whether a template takes the combinations of a join."""
    return (target.shape.scope, target.shape.source) == (probe.join.scope, probe.join.source)


def _is_over(target: Target, chain: Chain) -> bool:
    """Whether a template takes the rows of a chain as they come, without a join."""
    shape = target.shape
    if len(shape.inputs) != 1 or shape.scope != chain.scope:
        return False
    scan = shape.inputs[0]
    return isinstance(scan, StreamScan) and scan.stream == chain.stream
