"""What is drawn: a shared plan with what is known of it, and the same things put together that are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from penstock.compiler.estimate import Estimates
from penstock.compiler.explain.cost import tally_loads
from penstock.compiler.explain.words import tally_text
from penstock.compiler.output import TallyLoad, with_derived_rates
from penstock.compiler.physical import AggregateWindows, KeepChain, PhysicalPlan, signature_text
from penstock.compiler.settings import Settings
from penstock.compiler.shared import Chain, Member, Shape, SharedJoin, SharedPlan
from penstock.compiler.strategies import Prediction, predict
from penstock.compiler.tally import Tally
from penstock.picture.run import Run
from penstock.picture.scale import Scale

HUES = 8
"""Streams are told apart by so many colours."""
Signature = tuple[str, ...]


@dataclass(frozen=True)
class Asking:
    """Queries that ask the same of a join but for their windows and constants."""

    shape: Shape
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Part:
    """The joins of one signature, or the queries over a single stream, with all that reads them.

    There are several joins where each query has one of its own. What most queries ask for comes first.
    """

    joins: tuple[SharedJoin, ...]
    asking: tuple[Asking, ...]
    tallies: tuple[Tally, ...]

    @property
    def queries(self) -> int:
        """How many queries read it."""
        return sum(len(asking.members) for asking in self.asking)


@dataclass(frozen=True)
class Picture:
    """A plan, what is known of its data and what a run of it has measured."""

    title: str
    shared: SharedPlan
    physical: PhysicalPlan
    known: Estimates
    settings: Settings
    texts: Mapping[str, str] = field(default_factory=dict)
    """What each query says."""
    run: Run | None = None

    @cached_property
    def estimates(self) -> Estimates:
        """What is known of the data, results that other queries read included."""
        return with_derived_rates(self.shared, self.known)

    @cached_property
    def queries(self) -> int:
        """How many queries there are."""
        return len(self.shared.members)

    @cached_property
    def chains(self) -> dict[str, list[KeepChain]]:
        """The chains of each stream."""
        found: dict[str, list[KeepChain]] = {}
        for keeper in sorted(self.physical.of_kind(KeepChain), key=lambda keeper: _order(keeper.chain)):
            found.setdefault(keeper.chain.stream, []).append(keeper)
        return found

    @cached_property
    def hues(self) -> dict[str, int]:
        """The number of the colour of each stream."""
        return {stream: number % HUES for number, stream in enumerate(self.chains)}

    @cached_property
    def ages(self) -> Scale:
        """The scale of all ages."""
        return Scale.of(self._boundaries(False))

    @cached_property
    def counts(self) -> Scale:
        """The scale of all windows of a number of rows."""
        return Scale.of(self._boundaries(True), rows=True)

    @property
    def scales(self) -> list[Scale]:
        """The scales that something is drawn to."""
        return [scale for scale in (self.ages, self.counts) if any(self._boundaries(scale.rows))]

    def scale(self, *, rows: bool) -> Scale:
        """The scale of windows of time, or of a number of rows."""
        return self.counts if rows else self.ages

    def _boundaries(self, rows: bool) -> Iterator[int]:
        for chain in self.shared.chains:
            if chain.rows == rows:
                yield from (boundary for boundary in chain.boundaries if boundary)
        for template in self.shared.templates:
            for member in template.members:
                yield from (window.size for window in member.windows if window is not None and window.rows == rows)

    @cached_property
    def parts(self) -> list[Part]:
        """Joins, and single streams, with what is asked of them; those that most queries read come first."""
        joins: dict[Signature, list[SharedJoin]] = {}
        for join in self.shared.joins:
            joins.setdefault(signature_text(join.source), []).append(join)
        asking: dict[Signature, dict[Shape, list[Member]]] = {}
        for template in self.shared.templates:
            shape = replace(template.shape, scope="")
            own = asking.setdefault(signature_text(shape.source), {})
            own.setdefault(shape, []).extend(template.members)
        counted: dict[Signature, list[Tally]] = {}
        for tally in self.tallies:
            counted.setdefault(signature_text(tally.shape.source), []).append(tally)
        found = []
        for signature, shapes in asking.items():
            asked = [Asking(shape, tuple(sorted(members, key=_name))) for shape, members in shapes.items()]
            asked.sort(key=lambda asking: (-len(asking.members), asking.members[0].query))
            tallied = sorted(counted.get(signature, ()), key=tally_text)
            found.append(Part(tuple(joins.get(signature, ())), tuple(asked), tuple(tallied)))
        return sorted(found, key=lambda part: (-part.queries, part.asking[0].members[0].query))

    @cached_property
    def tallies(self) -> dict[Tally, TallyLoad]:
        """All partial aggregates, and what they cost."""
        return dict(tally_loads(self.shared, self.estimates))

    @cached_property
    def kept(self) -> dict[Tally, int]:
        """How many partial aggregates are kept, as measured; nothing without a run."""
        kept = {} if self.run is None else self.run.kept
        return {own.tally: kept[own.id] for own in self.physical.of_kind(AggregateWindows) if own.id in kept}

    @cached_property
    def _predictions(self) -> dict[tuple[str, object], tuple[Prediction, ...]]:
        return {(join.scope, join.source): predict(join, self.shared, self.estimates) for join in self.shared.joins}

    def predictions(self, joins: tuple[SharedJoin, ...]) -> list[Prediction]:
        """What joins need together under each strategy."""
        each = [self._predictions[join.scope, join.source] for join in joins]
        return [
            Prediction(own[0].strategy, _sum([it.rows for it in own]), _sum([it.comparisons for it in own]))
            for own in zip(*each, strict=True)
        ]


def _order(chain: Chain) -> tuple[str, bool, str]:
    return chain.stream, chain.rows, chain.scope


def _name(member: Member) -> str:
    return member.query


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
