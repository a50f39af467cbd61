"""What a run measures of its streams and steps, for the cost model."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from penstock.compiler.estimate import Measured
from penstock.runtime.chunks import Batch
from penstock.runtime.storage import Storage

K = TypeVar("K")

_RECENT = 64
"""So many batches of a stream, and so many steps, are looked back at."""
_TRIMMED = 8
"""Of so many batches the earliest and the latest are left out: a clock that is wrong must not stretch time."""
_FEWEST_STEPS = 8
"""No cost of a step is told from fewer."""
_LARGEST_CSYS = 1000.0
_FEW_ROWS = 20
"""No rate is told from fewer rows, and no selectivity."""
_FEWEST_ROWS = 1000
"""Distinct values are not counted among fewer rows."""
_STEADY = 0.2
"""A figure stays as it was told until it has moved by this part, so that plans do not change with every noise."""
_MOST_KEPT = 256
"""So many selectivities are remembered, also of queries that have left."""


@dataclass(frozen=True)
class _Counted:
    """Distinct values of a column, found in so many rows by a step."""

    values: float
    rows: int
    step: int

    def is_old(self, rows: int, step: int) -> bool:
        """Whether so many rows would tell more."""
        return step - self.step >= _RECENT or rows >= 2 * self.rows


class Statistics:
    """Figures over the most recent batches and steps; what is not measured anew stays as it was."""

    def __init__(self) -> None:
        self._batches: dict[str, deque[Batch]] = {}
        self._steps: deque[tuple[int, float]] = deque(maxlen=_RECENT)
        self._counted: dict[tuple[str, str], _Counted] = {}
        self._lock = threading.RLock()  # merges count beside the steps, and sessions ask from other threads
        self._told = Measured()

    # What happens

    def add(self, taken: Mapping[str, Iterable[Batch]], seconds: float) -> None:
        """Note a step: the batches it took, and how long it was."""
        rows = 0
        with self._lock:
            for name, batches in taken.items():
                recent = self._batches.setdefault(name, deque(maxlen=_RECENT))
                for batch in batches:
                    rows += batch.rows
                    recent.append(replace(batch, chunks=()))
            if rows:
                self._steps.append((rows, seconds))

    def to_count(self, stream: str, columns: Iterable[str], rows: int, step: int) -> tuple[str, ...]:
        """Of a stream's columns, those whose values are worth counting in so many rows."""
        if rows < _FEWEST_ROWS:
            return ()
        with self._lock:
            known = {name: self._counted.get((stream, name)) for name in columns}
        return tuple(name for name, own in known.items() if own is None or own.is_old(rows, step))

    def add_distinct(self, stream: str, values: Mapping[str, int], rows: int, step: int) -> None:
        """Note how many values columns have in some rows of a stream."""
        with self._lock:
            for name, count in values.items():
                self._counted[stream, name] = _Counted(distinct_of_all(count, rows), rows, step)

    # What is known

    def measured(self) -> Measured:
        """What is known by now."""
        with self._lock:
            recent, told = self._batches.items(), self._told
            rates = {name: rate for name, batches in recent if (rate := _rate(batches)) is not None}
            distinct = {key: counted.values for key, counted in self._counted.items()}
            parts = {(name, text): part for name, batches in recent for text, part in _parts(batches).items()}
            csys = _csys(list(self._steps))
            self._told = Measured(
                _steady(told.rates, rates),
                _steady(told.distinct, distinct),
                dict(list(_steady(told.selectivities, parts).items())[-_MOST_KEPT:]),
                told.csys if csys is None else _settled(told.csys, csys),
            )
            return self._told

    # Over the end of a run

    def write(self, storage: Storage) -> None:
        """Keep what is known for the next run."""
        storage.write(_path(storage), json.dumps(_data(self.measured())))

    def read(self, storage: Storage) -> None:
        """Begin with what the last run knew."""
        self._told = read_measured(storage)


def read_measured(storage: Storage) -> Measured:
    """What the last run knew; nothing if it has not told, or not in a way that can be read."""
    try:
        data = json.loads(storage.read(_path(storage))) if storage.exists(_path(storage)) else {}
        return Measured(
            {name: float(rate) for name, rate in data.get("rates", {}).items()},
            {(stream, column): float(count) for stream, column, count in data.get("distinct", ())},
            {(stream, text): float(part) for stream, text, part in data.get("selectivities", ())},
            None if data.get("csys") is None else float(data["csys"]),
        )
    except (ValueError, TypeError, AttributeError, OSError):
        return Measured()


def _path(storage: Storage) -> str:
    return storage.path("statistics.json")


def _data(measured: Measured) -> dict[str, Any]:
    return {
        "rates": dict(measured.rates),
        "distinct": [[*key, count] for key, count in measured.distinct.items()],
        "selectivities": [[*key, part] for key, part in measured.selectivities.items()],
        "csys": measured.csys,
    }


def _steady(told: Mapping[K, float], now: Mapping[K, float]) -> dict[K, float]:
    """What was told, with what has moved far from it; what was seen now comes last."""
    left = {key: value for key, value in told.items() if key not in now}
    return left | {key: _settled(told.get(key), value) for key, value in now.items()}


def _settled(told: float | None, now: float) -> float:
    return now if told is None or abs(now - told) > _STEADY * told else told


def _taken(batch: Batch) -> int:
    return batch.rows - batch.late - batch.unreadable


def _rate(batches: Iterable[Batch]) -> float | None:
    """Rows a second of event time, however the batches overlap; None if they span none."""
    spans = [(b.low, b.high, _taken(b)) for b in batches if b.low is not None and b.high is not None]
    if len(spans) >= _TRIMMED:
        spans = sorted(spans, key=lambda span: span[0] + span[1])[1:-1]
    length = max((high for _, high, _ in spans), default=0) - min((low for low, _, _ in spans), default=0)
    between = sum(rows for _, _, rows in spans) - 1  # of two rows a second apart, there is one a second
    return between * 1e6 / length if length > 0 and between >= _FEW_ROWS else None


def _parts(batches: Iterable[Batch]) -> dict[str, float]:
    """The part of the rows that a selection accepts with one set of constants, by its text."""
    rows: dict[str, int] = {}
    accepted: dict[str, float] = {}
    for batch in batches:
        taken = _taken(batch)
        for own in batch.accepted if taken else ():
            part = min(1.0, own.rows / taken)
            rows[own.text] = rows.get(own.text, 0) + taken
            accepted[own.text] = accepted.get(own.text, 0.0) + taken * (1 - (1 - part) ** (1 / own.sets))
    return {text: accepted[text] / rows[text] for text in rows if rows[text] >= _FEW_ROWS}


def _csys(steps: list[tuple[int, float]]) -> float | None:
    """The overhead of a step for each of its rows, in units of what a row costs; None if rows hardly differ.

    The steps that fit least are left out: some wait for code to be compiled.
    """
    fit = _line(steps) if len(steps) >= _FEWEST_STEPS else None
    if fit is not None:
        overhead, cost = fit
        near = sorted(steps, key=lambda step: abs(step[1] - overhead - cost * step[0]))
        fit = _line(near[: len(near) - len(near) // 8])
    if fit is None or fit[1] <= 0:
        return None
    overhead, cost = fit
    mean = sum(rows for rows, _ in steps) / len(steps)
    return min(_LARGEST_CSYS, max(0.0, overhead / (mean * cost)))


def _line(steps: list[tuple[int, float]]) -> tuple[float, float] | None:
    """Seconds of a step without rows, and seconds a row, by least squares."""
    count = len(steps)
    x = sum(rows for rows, _ in steps) / count
    y = sum(seconds for _, seconds in steps) / count
    spread = sum((rows - x) ** 2 for rows, _ in steps)
    if spread < count * (0.1 * x) ** 2:
        return None
    slope = sum((rows - x) * (seconds - y) for rows, seconds in steps) / spread
    return y - slope * x, slope


def distinct_of_all(found: int, rows: int) -> float:
    """How many values there are, if some rows have so many: D with D (1 - (1 - 1/D)^rows) = found.

    When nearly every row has its own, ten times the rows is as much as can be told.
    """
    if found >= 0.95 * rows:
        return 10.0 * rows
    low, high = float(max(1, found)), 10.0 * rows
    for _ in range(60):
        middle = (low + high) / 2
        if middle * (1 - (1 - 1 / middle) ** rows) < found:
            low = middle
        else:
            high = middle
    return low
