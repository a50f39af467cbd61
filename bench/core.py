"""What a workload is made of: cases that are measured in rounds, and what is shown of them.

A workload makes its data, lists its cases, and turns what was measured into tables, figures and plots. The suite
(`suite.py`) does the rest: a worker process for each system, a warm-up, rounds in which the systems take turns, and the
comparison of their answers.

    WORKLOAD = Workload("windows", "One join, one query", "rows/s as the window grows", cases, show)

    def cases(setting: Setting) -> list[Case]:
        data = make_streams(setting.scratch / "windows", …)
        return [Case("penstock, 60 s", "penstock", {"data": str(data), …}, warm={…}, answers="60 s")]

    def show(setting: Setting, found: Found) -> Shown:
        seconds = found["penstock, 60 s"].median("seconds")
        return Shown(tables=[Table("windows", …)], figures={"spark": found.ratio("spark, 60 s", "penstock, 60 s")})
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

Job = dict[str, Any]
"""What a worker is asked to do; goes through JSON."""
Round = dict[str, Any]
"""What a job gave: `seconds`, `results` (a number, or one for each query), perhaps `checksum`, and anything else."""
Size = Literal["full", "quick", "tiny"]
T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """What is wanted of a run of the suite. Data goes into `scratch`, which is emptied after each workload."""

    scratch: Path
    size: Size = "full"
    rounds: int = 3
    systems: frozenset[str] = frozenset({"penstock", "spark", "flink", "pathway", "duckdb"})

    def pick(self, full: T, quick: T, tiny: T) -> T:
        """One of three, by the size of the run."""
        return {"full": full, "quick": quick, "tiny": tiny}[self.size]


@dataclass(frozen=True)
class Case:
    """One thing that is measured: a job for the worker of a system.

    `call` is what carries the job out, `package.module:function`, or `file.py:function` for a file of
    `bench/systems/` that runs in a peer's own environment; by default `run` of the system's own module.

    A case is run once with `warm` in place of some of the job's values before it is measured (None: no warm-up), then
    at most `rounds` times (None: as often as all others). A system that throws its results away when it is measured
    is run once more with `counted` in place of some values: of that run only the answers are used, and it warms up too.

    Cases with the same `answers` must give the same `results` and `checksum` in all rounds ("": no other case has the
    same ones; the rounds of one case always must, unless `compared` is off). Where the results of queries are told
    apart, those that both know of must be the same.

    Cases with the same `worker` share a process ("": that of the system); one that nobody needs any more is ended.
    After `limit` seconds a job has failed. `note` is said beside its figures.
    """

    name: str
    system: str
    job: Job
    call: str = ""
    warm: Job | None = None
    counted: Job | None = None
    answers: str = ""
    compared: bool = True
    rounds: int | None = None
    worker: str = ""
    limit: float = 1200.0
    note: str = ""


@dataclass
class Measured:
    """What the rounds of a case gave. Every round has `peak_mb` besides, the most memory that its worker held."""

    case: Case
    rounds: list[Round] = field(default_factory=list)
    counted: Round = field(default_factory=dict)
    """What the run gave that was not measured, but counted."""
    failure: str = ""
    """Why there are no rounds, or no more of them."""
    void: str = ""
    """In what way its answers differ from those of others."""

    @property
    def is_valid(self) -> bool:
        """Whether figures of it may be used."""
        return bool(self.rounds) and not self.void

    def values(self, key: str) -> list[float]:
        """A value of all rounds."""
        return [float(found[key]) for found in self.rounds if found.get(key) is not None]

    def median(self, key: str = "seconds") -> float | None:
        """The median of a value over the rounds; None if there is none that may be used."""
        values = self.values(key)
        return statistics.median(values) if values and self.is_valid else None

    def spread(self, key: str = "seconds") -> tuple[float, float] | None:
        """The least and the greatest value of the rounds."""
        values = self.values(key)
        return (min(values), max(values)) if values and self.is_valid else None

    def last(self, key: str, default: Any = None) -> Any:
        """A value of the last round that has it."""
        return next((found[key] for found in reversed(self.rounds) if key in found), default)

    @property
    def answers(self) -> list[Round]:
        """The rounds that say what came out."""
        return [found for found in (*self.rounds, self.counted) if found.get("results") is not None]

    @property
    def remark(self) -> str:
        """What is to be said in place of a figure: VOID or failed, and why; empty if all is well."""
        if self.void:
            return f"VOID: {self.void}"
        return f"failed: {self.failure}" if self.failure else ""


class Found(Mapping[str, Measured]):
    """What was measured, by the names of the cases. Cases that were not wanted are not in it."""

    def __init__(self, measured: Sequence[Measured]) -> None:
        self._by_name = {one.case.name: one for one in measured}

    def __getitem__(self, name: str) -> Measured:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def median(self, name: str, key: str = "seconds") -> float | None:
        """The median of a value of a case; None if the case has none that may be used, or is not there."""
        return self[name].median(key) if name in self else None

    def ratio(self, over: str, under: str, key: str = "seconds") -> float | None:
        """How many times the value of one case that of another is; None if one of them has none."""
        return ratio(self.median(over, key), self.median(under, key))


def settled(steps: Sequence[float]) -> float | None:
    """The median of the second half, when everything is warm."""
    later = steps[len(steps) // 2 :]
    return statistics.median(later) if later else None


def ratio(over: float | None, under: float | None) -> float | None:
    """A quotient, if there are both numbers."""
    return over / under if over is not None and under else None


@dataclass(frozen=True)
class Table:
    """A table to be shown: cells are text already, the first column is left-aligned, the others right."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""


@dataclass(frozen=True)
class Plot:
    """Lines through points, or bars beside each other over the same names."""

    name: str
    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[float | str, float]]]
    kind: Literal["lines", "bars"] = "lines"
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Shown:
    """What is shown of a workload. `figures` are numbers by name, which goals are checked with (see `goals.py`)."""

    tables: list[Table] = field(default_factory=list)
    figures: dict[str, float | None] = field(default_factory=dict)
    plots: list[Plot] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Workload:
    """A question the suite asks; `shows` says in a sentence what its answer shows.

    `cases` makes the data, in the scratch folder, and says what is measured; those of systems that are not wanted may
    be among them, they are left out. `show` is called with what was found, and has to do with cases that failed.
    """

    name: str
    title: str
    shows: str
    cases: Callable[[Setting], list[Case]]
    show: Callable[[Setting, Found], Shown]


def number(value: float | None, digits: int = 0, *, otherwise: str = "–") -> str:
    """A number as a cell."""
    return otherwise if value is None else f"{value:,.{digits}f}"


def times(value: float | None) -> str:
    """A ratio as a cell."""
    return number(value, 0 if value and value >= 100 else 1 if value and value >= 10 else 2)


def median_and_spread(measured: Measured | None, key: str = "seconds", digits: int = 1) -> str:
    """The median of a value and, if it was measured more than once, the least and greatest; or why there is none."""
    if measured is None:
        return "–"
    median, spread = measured.median(key), measured.spread(key)
    if median is None or spread is None:
        return measured.remark.partition(":")[0] or "–"
    if len(measured.values(key)) == 1:
        return number(median, digits)
    return f"{number(median, digits)} ({number(spread[0], digits)}–{number(spread[1], digits)})"
