"""What sharing saves: the same queries over the same files, with sharing and without it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.session import Session

if TYPE_CHECKING:
    from penstock.runtime.engine import StepReport
    from penstock.runtime.session import SparkSession


@dataclass(frozen=True)
class Measured:
    """What a run under one strategy needed."""

    state_rows: int
    """Those that are kept when all has been taken."""
    seconds: float
    """What the steps took."""
    cpu: float
    """The same on all cores, with what was done beside the steps."""
    rows: int
    results: int


class Replay:
    """One run over the files of a project, over a state folder of its own that is removed afterwards."""

    def __init__(self, project: Path, sharing: str, spark: SparkSession, state: str) -> None:
        self.session = Session(project, state=state, spark=spark, settings={"sharing": sharing})
        self._rows = self._results = 0
        self._seconds = 0.0
        self.session.on_step = self._note

    def _note(self, report: StepReport) -> None:
        self._rows += sum(report.rows.values())
        self._results += report.results
        self._seconds += report.seconds

    def run(self) -> Measured:
        """Take all that is there."""
        from penstock.runtime.cpu import cpu_seconds

        before = cpu_seconds(self.session.spark)
        self.session.run(once=True)
        cpu = cpu_seconds(self.session.spark) - before
        kept = sum(row["rows"] for row in self.session.execute("SHOW STATE"))
        return Measured(kept, self._seconds, cpu, self._rows, self._results)
