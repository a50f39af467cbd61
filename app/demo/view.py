"""What is seen while the demonstration runs: a picture that is kept up to date, or lines."""

from __future__ import annotations

import time
from collections import deque
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from penstock.session import Session
from penstock.tables import rich_table
from penstock.verbosity import Verbosity, verbosity

if TYPE_CHECKING:
    from penstock.runtime.engine import Migration, StepReport
    from penstock.runtime.session import DataFrame

_ALARMS = 3
_EVERY = 2.0
"""Without a terminal, a line after so many seconds."""


class View:
    """Says what happens, on stderr."""

    def __init__(self, *, plain: bool = False) -> None:
        self._console = Console(stderr=True)
        self._quiet = verbosity() < Verbosity.NORMAL
        self._is_live = self._console.is_terminal and not plain and not self._quiet
        self._live: Live | None = None
        self._alarms: deque[Text] = deque(maxlen=_ALARMS)
        self._began = self._said = time.monotonic()
        self._rows = self._results = 0
        self._tables: list[RenderableType] = []
        self._head = Text("the first step is under way; it takes longer than the others")

    def say(self, text: str = "", style: str = "") -> None:
        """A line that stays."""
        if not self._quiet:
            self._console.print(Text(text, style), soft_wrap=True)

    def follow(self, session: Session) -> None:
        """Show what a session does from now on."""
        self._session = session
        session.on_step = self.step
        session.on_migration = self.migration

    def __enter__(self) -> View:
        if self._is_live:
            self._live = Live(get_renderable=self._picture, console=self._console, refresh_per_second=2, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
        if not self._quiet:
            self._console.print(_queries(self._session))

    def step(self, report: StepReport) -> None:
        """Take note of a step."""
        self._rows += sum(report.rows.values())
        self._results += report.results
        state = self._session.state()[0]
        highs = [stream.high for stream in state.streams.values() if stream.high is not None]
        now = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=min(highs, default=0))
        kept = sum(row["rows"] for row in self._session.execute("SHOW STATE"))
        text = (
            f"{now:%H:%M:%S}  step {report.step} took {report.seconds:.2f} s; so far {self._rows:,} readings, "
            f"{self._results:,} results; {kept:,} rows kept"
        )
        self._head = Text(text, "bold")
        if self._live is not None:
            self._tables = [_queries(self._session), _slices(self._session)]
        elif time.monotonic() - self._said >= _EVERY:
            self._said = time.monotonic()
            self.say(text)

    def migration(self, migration: Migration) -> None:
        """Say what has changed."""
        self.say(f"  in force after step {migration.step}, made in {migration.seconds:.2f} s, by these stages:")
        for stage in migration.stages:
            self.say(f"    {stage}")

    def alarms(self, rows: DataFrame) -> None:
        """Show the last results of the query `alarm`."""
        latest = rows.orderBy(rows["_ts"].desc()).limit(_ALARMS)
        time = "date_format(_ts, 'HH:mm:ss')"
        text = f"format_string('alarm at %s: rack %s of %s, %s °C', {time}, LocationId, Owner, temperature) AS text"
        found = [row["text"] for row in latest.selectExpr(text).collect()]
        self._alarms.extend(Text(text, "red") for text in reversed(found))
        if self._live is None:
            self.say(found[0], "red")

    def _picture(self) -> Group:
        side_by_side = Table.grid(padding=(0, 3))
        side_by_side.add_row(*self._tables)
        return Group(self._head, side_by_side, *self._alarms)


def _queries(session: Session) -> Table:
    rows = [{**row, "complete from": clock(row["complete from"])} for row in session.execute("SHOW QUERIES")]
    return rich_table("Queries", rows)


def _slices(session: Session) -> Table:
    return rich_table("State, cut by age", session.execute("SHOW SLICES"))


def clock(moment: str | None) -> str:
    """The time of day of a moment as `SHOW QUERIES` gives it."""
    if moment is None:
        return "not known yet"
    return moment if " " not in moment or moment == "the start" else moment.split(" ")[1][:8]
