"""Which aggregates share their partial aggregates: queries that differ in window, slide or HAVING only.

A combination counts at the instants from its latest time on until its first row leaves its window. Cut into spans of a
grain that divides the windows and the slide, all that matters of both times is the span they fall into: partial
aggregates by group and by these two spans serve every window and every slide that the grain divides.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from penstock.compiler.scalar import PARAMETERS, Constant
from penstock.compiler.shared import Member, Shape, Template

_MS, _SECOND, _MINUTE, _HOUR = 1_000, 1_000_000, 60_000_000, 3_600_000_000
GRAINS = (24 * _HOUR, _HOUR, 10 * _MINUTE, _MINUTE, 10 * _SECOND, _SECOND, 100 * _MS, 10 * _MS, _MS, 1)
"""Few, so that many queries have the same one; a query's own, so that it stays when others come and go."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Combinations that are counted together: those that meet the conditions with these constants.

    `windows` are the longest of the queries that ask for them. Windows that are shorter by the same length for every
    input leave the combinations that are in them when these are too, so they are asked of the same partial aggregates.
    """

    constants: tuple[Constant, ...]
    windows: tuple[int | None, ...]

    @property
    def longest(self) -> int:
        """The longest of the windows."""
        return max(window for window in self.windows if window is not None)

    @property
    def offsets(self) -> tuple[int | None, ...]:
        """By how much each window is shorter than the longest."""
        return tuple(None if window is None else self.longest - window for window in self.windows)

    @property
    def name(self) -> str:
        """A digest of what it is; the lengths of the windows do not count."""
        text = repr((self.constants, self.offsets))
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Tally:
    """Partial aggregates that templates share: a shape without columns, slide and HAVING, the grain, who counts."""

    shape: Shape
    grain: int
    counted: tuple[Counted, ...]

    @property
    def longest(self) -> int:
        """The longest window."""
        return max(counted.longest for counted in self.counted)


def is_tallied(shape: Shape) -> bool:
    """Whether a template's aggregates are made from partial ones; those over the last rows are made from the rows."""
    return shape.slide is not None and "rows" not in shape.units


def tallied_shape(shape: Shape) -> Shape:
    """What templates must have in common to share partial aggregates."""
    used = {int(ref.name[1:]) for c in shape.conditions for ref in c.columns if ref.input == PARAMETERS}
    own = shape.parameters[: max(used, default=0)]
    return replace(shape, columns=(), having=(), slide=None, sink=None, parameters=own)


def grain_of(shape: Shape, member: Member) -> int:
    """The longest of a few spans that divides the slide and all the windows of a query."""
    assert shape.slide is not None
    common = math.gcd(shape.slide, *(window.size for window in member.windows if window is not None))
    return next(grain for grain in GRAINS if common % grain == 0)


def counted_by(tallied: Shape, member: Member) -> Counted:
    """What a query of a template counts, under the shape that its template shares."""
    constants = member.constants[: len(tallied.parameters)]
    return Counted(constants, tuple(None if window is None else window.size for window in member.windows))


def tallies(templates: Iterable[Template]) -> tuple[Tally, ...]:
    """The partial aggregates of templates, in the order in which they are first needed."""
    found: dict[tuple[Shape, int], dict[str, Counted]] = {}
    for template in templates:
        if not is_tallied(template.shape):
            continue
        shape = tallied_shape(template.shape)
        for member in template.members:
            counted = counted_by(shape, member)
            own = found.setdefault((shape, grain_of(template.shape, member)), {})
            known = own.setdefault(counted.name, counted)
            if counted.longest > known.longest:
                own[counted.name] = counted
    return tuple(Tally(shape, grain, tuple(own.values())) for (shape, grain), own in found.items())
