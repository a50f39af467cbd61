"""Ages as places on a line, with short windows readable beside long ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import log1p

from penstock.grammar.durations import format_duration

_MS, _SECOND, _MINUTE, _HOUR, _DAY = 1_000, 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
_ROUND = tuple(
    count * unit
    for unit, counts in (
        (1, (1, 10, 100)),
        (_MS, (1, 10, 100)),
        (_SECOND, (1, 5, 10, 30)),
        (_MINUTE, (1, 5, 10, 30)),
        (_HOUR, (1, 6, 12)),
        (_DAY, (1, 7, 30, 90, 365, 3650)),
    )
    for count in counts
)
_SLIM = 1 / 40
"""Of a line, a slice may be so slim before the scale becomes logarithmic."""
_APART = 0.08
"""Ticks are no closer together than this."""
_MOST_TICKS = 9


@dataclass(frozen=True)
class Scale:
    """From 0 to the `longest` age, or number of rows; `unit` is the age up to which a logarithmic one is about even."""

    longest: int
    unit: int
    logarithmic: bool
    rows: bool = False

    @staticmethod
    def of(boundaries: Iterable[int], *, rows: bool = False) -> Scale:
        """A scale for all these boundaries: linear where that leaves room for every slice."""
        found = sorted({0, *boundaries})
        if len(found) == 1:
            return Scale(1, 1, False, rows)
        widths = [end - start for start, end in pairwise(found)]
        enough = min(_SLIM, 0.5 / len(widths))
        return Scale(found[-1], found[1], min(widths) < enough * found[-1], rows)

    @property
    def name(self) -> str:
        """What kind of scale it is, in words."""
        return "logarithmic scale" if self.logarithmic else "linear scale"

    def place(self, age: float) -> float:
        """Where an age is: 0 at the newest rows, 1 at the oldest."""
        if self.logarithmic:
            return log1p(age / self.unit) / log1p(self.longest / self.unit)
        return age / self.longest

    def ticks(self) -> list[tuple[float, str]]:
        """Places to be named, with their names."""
        found: list[tuple[float, str]] = [(0.0, "0" if self.rows else "now")]
        for age in self._candidates():
            place = self.place(age)
            if place - found[-1][0] >= _APART and (place == 1 or 1 - place >= _APART):
                found.append((place, self.say(age)))
        return found

    def say(self, age: int) -> str:
        """An age in words."""
        return f"{age:,} rows" if self.rows else format_duration(age)

    def _candidates(self) -> list[int]:
        around = [10**power for power in range(19)] if self.rows else list(_ROUND)
        if self.logarithmic:
            return [*(age for age in around if age < self.longest), self.longest]
        steps = [count * step for step in around for count in ((1, 2, 5) if self.rows else (1, 2))]
        step = next((step for step in sorted(steps) if self.longest / step <= _MOST_TICKS), self.longest)
        return [*range(step, self.longest, step), self.longest]
