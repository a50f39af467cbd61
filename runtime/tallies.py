"""Sliding aggregates from partial ones: a step adds its combinations up by group and time, and gives final instants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from penstock.compiler.logical import Window
from penstock.compiler.physical import AggregateWindows
from penstock.compiler.shared import Member
from penstock.compiler.tally import Tally, counted_by, grain_of, is_tallied, tallied_shape
from penstock.runtime.chunks import Chunk
from penstock.runtime.columns import QUERY, TIME, changing, quoted
from penstock.runtime.marks import NEVER, Span
from penstock.runtime.partials import FROM, SET, TO, Parts
from penstock.runtime.route import END, NUMBER, Columns, QueryTable, Router, Target
from penstock.runtime.session import local_table

_FEW_INSTANTS = 8
"""Of fewer instants, counted for each view, partial aggregates are not added up beforehand."""
VIEW, WIDTH, STEP, SINCE, UNTIL = "_view", "_width", "_step", "_since", "_until"


class TallyKeeper:
    """The partial aggregates of one operator."""

    def __init__(self, spark: SparkSession, operator: AggregateWindows, usable: Mapping[str, int]) -> None:
        """`usable` says from which event time on rows may be used for what is counted, by its name, if not all."""
        tally = operator.tally
        self.id = operator.id
        self.tally = tally
        self.parts = Parts(tally.shape)
        members = tuple(
            Member(
                counted.name,
                tuple(None if size is None else Window(size) for size in counted.windows),
                counted.constants,
            )
            for counted in tally.counted
        )
        shape = replace(tally.shape, columns=self.parts.values, groups=(), aggregates=())
        outputs = tuple((named.name, named.expr.type) for named in self.parts.values)
        self.router = Router(spark, (Target(shape, members),), outputs, usable, ends=True)

    def made(self, combinations: str) -> str:
        """New combinations as partial aggregates."""
        grain = self.tally.grain
        first, end = _spans(f"unix_micros({TIME})", grain), _spans(END, grain)
        rows = self.router.routed(combinations, numbered=False)
        spanned = f"SELECT *, {QUERY} AS {SET}, {first} AS {FROM}, {end} AS {TO} FROM ({rows}) AS rows"
        return self.parts.made(spanned)

    def write(self, partials: DataFrame, path: str, trimmed: int | None = None) -> Chunk | None:
        """Write partial aggregates as a chunk, whose times are those of the ends; None if there are none."""
        counts, grain = Observation(), self.tally.grain
        measures = f"struct(count(1) AS rows, min({TO}) AS first, max({TO}) AS last) AS found"
        partials.observe(counts, F.expr(measures)).write.mode("overwrite").parquet(path)
        found = counts.get["found"]
        if not found["rows"]:
            return None
        return Chunk(
            path, found["first"] * grain, found["last"] * grain, found["rows"], self.tally.longest, trimmed=trimmed
        )

    def merged(self, partials: DataFrame, horizon: int | None) -> DataFrame:
        """Partial aggregates with the same keys as one, without those that no instant to come is made from.

        All that count at the next instant count from then on alike, whenever they began to.
        """
        if horizon is not None:
            grain = self.tally.grain
            alive = f"{TO} * {grain}L + {self.tally.longest}L > {changing(horizon, TO)}"
            begun = f"GREATEST({FROM}, {changing(_up(horizon, grain), FROM)})"
            partials = partials.where(alive).withColumn(FROM, F.expr(begun))
        sums = [F.expr(measure.sum).alias(measure.name) for measure in self.parts.measures]
        if not sums:
            return partials.select(*self.parts.names).distinct()
        return partials.groupBy(*self.parts.names).agg(*sums)

    def close(self) -> None:
        """Remove the table of what is counted."""
        self.router.close()


class Askers:
    """Queries that read partial aggregates, ready to be given their final instants in every step."""

    def __init__(
        self,
        spark: SparkSession,
        keeper: TallyKeeper,
        targets: Iterable[Target],
        outputs: Columns,
        since: Mapping[str, int],
        spans: Mapping[tuple[str, str], tuple[int, int]],
        first: int,
    ) -> None:
        """`since` says from which instant on a query's answers are complete, if not from the start."""
        self.keeper = keeper
        self.finish = Finish(spark, tuple(targets), outputs, first)
        self._spark = spark
        self._views: dict[str, tuple[str, int, int, int, int]] = {}
        grain = keeper.tally.grain
        views = []
        for target in self.finish.targets:
            assert target.shape.slide is not None
            for member in target.members:
                counted = counted_by(keeper.tally.shape, member)
                begin, until = spans.get((target.shape.scope, member.query), (NEVER, -NEVER))
                begin = max(begin, since.get(member.query, NEVER))
                own = (counted.name, counted.longest // grain, target.shape.slide // grain, _up(begin, grain))
                view = (*own, _up(until, grain))
                name = " ".join(map(str, view))
                self._views[name] = view
                views.append(name)
        self.finish.views = views
        self._grain = grain
        self._step = math.gcd(*(view[2] for view in self._views.values()))
        self._widest = max(view[1] for view in self._views.values())
        self._table: str | None = None

    @property
    def queries(self) -> list[str]:
        """The queries in the order of their numbers."""
        return self.finish.queries

    def routed(self, partials: str, span: Span, *, numbered: bool) -> str:
        """The results at the instants that a step settles, from a table of partial aggregates."""
        low, high = _up(span.since, self._grain), _up(span.until, self._grain)
        views = {view[1:3] for view in self._views.values()}
        few = span.since != NEVER and (high - low) // self._step * len(views) < _FEW_INSTANTS
        parts = self._alive(partials, low, high) if few else self._added(partials, low, high)
        return self.finish.routed(self.keeper.parts.finished(parts, [VIEW, TIME]), numbered=numbered)

    def _alive(self, partials: str, low: int, high: int) -> str:
        """The partial aggregates at each instant of each view."""
        first = f"GREATEST({FROM}, {SINCE}, {changing(low, FROM)})"
        first = f"{first} + pmod(-{first}, {STEP})"
        last = f"LEAST({TO} + {WIDTH} - 1, {UNTIL} - 1, {changing(high - 1, FROM)})"
        joined = f"{partials} AS partials JOIN {self._view_table()} AS views USING ({SET})"
        seen = f"SELECT /*+ BROADCAST(views) */ *, {first} AS _first, {last} AS _last FROM {joined}"
        return f"SELECT *, {self._instants(STEP)} FROM ({seen}) AS seen WHERE _first <= _last"

    def _added(self, partials: str, low: int, high: int) -> str:
        """The same where there are many: those that end alike are added up first, once for all views."""
        first = f"GREATEST({FROM}, {changing(low, FROM)})"
        first = f"{first} + pmod(-{first}, {self._step}L)"
        last = f"LEAST({TO} + {self._widest}L - 1, {changing(high - 1, FROM)})"
        seen = f"SELECT *, {first} AS _first, {last} AS _last FROM {partials} AS partials"
        alive = f"SELECT *, {self._instants(f'{self._step}L')} FROM ({seen}) AS seen WHERE _first <= _last"
        added = self.keeper.parts.added(alive, [TIME])
        instant = f"{TIME} div {self._grain}L"
        inside = f"{instant} < {TO} + {WIDTH} AND pmod({instant}, {STEP}) = 0"
        inside = f"{inside} AND {instant} >= {SINCE} AND {instant} < {UNTIL}"
        joined = f"({added}) AS added JOIN {self._view_table()} AS views USING ({SET})"
        return f"SELECT /*+ BROADCAST(views) */ * FROM {joined} WHERE {inside}"

    def _instants(self, step: str) -> str:
        grain = f"{self._grain}L"
        return f"explode(sequence(_first * {grain}, _last * {grain}, {step} * {grain})) AS {TIME}"

    def has_instants(self, span: Span) -> bool:
        """Whether any query has an instant that a step settles."""
        low, high = _up(span.since, self._grain), _up(span.until, self._grain)
        return low + -low % self._step < high

    def close(self) -> None:
        """Remove the tables of queries."""
        self.finish.close()
        if self._table is not None:
            self._spark.catalog.dropTempView(self._table)

    def _view_table(self) -> str:
        if self._table is None:
            self._table = f"penstock_views_{uuid4().hex[:12]}"
            sets, widths, steps, begins, ends = zip(*self._views.values(), strict=True)
            columns = {VIEW: pa.array(self._views, pa.string()), SET: pa.array(sets, pa.string())}
            for name, values in ((WIDTH, widths), (STEP, steps), (SINCE, begins), (UNTIL, ends)):
                columns[name] = pa.array(values, pa.int64())
            local_table(self._spark, pa.table(columns)).createOrReplaceTempView(self._table)
        return self._table


class Finish:
    """From groups with their aggregates to results of queries: HAVING and output columns."""

    def __init__(self, spark: SparkSession, targets: tuple[Target, ...], outputs: Columns, first: int) -> None:
        self.targets = targets
        self.first = first
        self.views: list[str] = []
        """What each query looks at, in the order of the queries."""
        self._spark = spark
        self._queries = QueryTable(targets, {}, {}, first)
        self._shown = [f"{self._queries.output(name, type_)} AS {quoted(name)}" for name, type_ in outputs]
        self._table: str | None = None

    @property
    def queries(self) -> list[str]:
        """The queries in the order of their numbers."""
        return [member.query for target in self.targets for member in target.members]

    def routed(self, groups: str, *, numbered: bool) -> str:
        """The results of all the queries, from groups by what is looked at and time in microseconds."""
        if self._table is None:
            self._table = f"penstock_asked_{uuid4().hex[:12]}"
            more = {VIEW: pa.array(self.views, pa.string())}
            self._queries.frame(self._spark, more).createOrReplaceTempView(self._table)
        known = [QUERY, *([NUMBER] if numbered else []), f"timestamp_micros({TIME}) AS {TIME}"]
        met = f"({groups}) AS groups JOIN {self._table} AS asked USING ({VIEW}) WHERE {self._queries.having()}"
        return f"SELECT /*+ BROADCAST(asked) */ {', '.join([*known, *self._shown])} FROM {met}"

    def close(self) -> None:
        """Remove the table of queries."""
        if self._table is not None:
            self._spark.catalog.dropTempView(self._table)


def readers(tally: Tally, target: Target) -> Target:
    """The queries of a template that read these partial aggregates."""
    if not is_tallied(target.shape) or tallied_shape(target.shape) != tally.shape:
        return Target(target.shape, ())
    own = tuple(member for member in target.members if grain_of(target.shape, member) == tally.grain)
    return Target(target.shape, own)


def _up(time: int, grain: int) -> int:
    """The first span that begins at a time or later."""
    return -(-time // grain)


def _spans(time: str, grain: int) -> str:
    """The same as SQL."""
    return f"({time} + pmod(-({time}), {grain}L)) div {grain}L"
