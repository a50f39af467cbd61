"""A run as people see it: progress while it goes on, and what it did."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from penstock.interruption import Interruption
from penstock.session import Session
from penstock.tables import rich_table
from penstock.watch import Watcher

if TYPE_CHECKING:
    from penstock.runtime.engine import Migration, StepReport


def run_session(session: Session, *, once: bool, drain: bool, seconds: float | None, plain: bool, quiet: bool) -> None:
    """Run a session in the foreground until it ends; Ctrl-C ends it after a step."""
    session.refuse_unready(once=once or drain)
    console = Console(stderr=True)
    display = _Display(session, console, live=console.is_terminal and not plain, quiet=quiet)
    session.on_step = display.step
    session.on_migration = display.migration
    display.say("starting Spark")
    session.spark  # noqa: B018  it must be there before Ctrl-C is taken over
    with (
        Interruption(session.request_stop, display.say) as interruption,
        display,
        _watching(session, display.say) if not (once or drain) else nullcontext(),
    ):
        session.run(once=once, drain=drain, seconds=seconds)
    display.summary()
    if interruption.came:
        raise KeyboardInterrupt


def _watching(session: Session, say: Callable[[str], None]) -> AbstractContextManager[None]:
    """Take over changes of the project's files while it runs."""
    return nullcontext() if session.project is None else Watcher(session, session.project, say)


class _Display:
    """Lines, or a table that is kept up to date."""

    def __init__(self, session: Session, console: Console, *, live: bool, quiet: bool) -> None:
        self._session = session
        self._console = console
        self._quiet = quiet
        self._began = time.monotonic()
        self._recent: deque[StepReport] = deque(maxlen=20)
        self._steps = 0
        self._rows = 0
        self._results = 0
        self._unreadable: dict[str, int] = {}
        self._live = Live(console=console, refresh_per_second=4, transient=True) if live and not quiet else None

    def __enter__(self) -> None:
        if self._live is not None:
            self._live.start()

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str) -> None:
        if not self._quiet:
            self._console.print(text, highlight=False, soft_wrap=True)

    def step(self, report: StepReport) -> None:
        """Take note of a step."""
        self._steps += 1
        self._rows += sum(report.rows.values())
        self._results += report.results
        self._recent.append(report)
        relations = self._session.execute("SHOW RELATIONS")
        self._unreadable = {row["relation"]: row["unreadable"] for row in relations if row["unreadable"]}
        if self._live is not None:
            self._live.update(self._table())
        else:
            taken = " ".join(f"{name} +{rows:,}" for name, rows in sorted(report.rows.items()))
            parts = [f"{report.seconds:.2f} s", *filter(None, [taken]), f"results +{report.results:,}"]
            self.say(f"step {report.step}: {', '.join(parts)}")

    def migration(self, migration: Migration) -> None:
        """Say what has changed."""
        self.say(f"plan {migration.version} after step {migration.step}, made in {migration.seconds:.2f} s")
        for stage in migration.stages:
            self.say(f"  {stage}")

    def summary(self) -> None:
        """What the run did."""
        taken = time.monotonic() - self._began
        done = [_count(self._steps, "step"), _count(self._rows, "row"), _count(self._results, "result")]
        self.say(f"{', '.join(done)} in {taken:.1f} s")
        for row in self._session.execute("SHOW STREAMS"):
            aside = row["late"] + row["unreadable"]
            if aside:
                where = f"{self._session.state_folder}/rejected/{row['stream']}"
                counts = f"{row['late']:,} late, {row['unreadable']:,} unreadable"
                self.say(f"{row['stream']}: {_count(aside, 'row')} set aside ({counts}), in {where}")
        for name in self._unreadable:
            where = f"{self._session.state_folder}/rejected/{name}"
            self.say(f"{name}: {_count(self._unreadable[name], 'row')} of the relation set aside, in {where}")

    def _table(self) -> Group:
        seconds = sum(report.seconds for report in self._recent)
        rows = sum(sum(report.rows.values()) for report in self._recent)
        last = self._recent[-1]
        head = Table(box=None, show_header=False)
        head.add_row("steps", f"{self._steps:,}", "last step", f"{last.seconds:.2f} s")
        head.add_row("rows", f"{self._rows:,}", "rate", f"{rows / max(seconds, 1e-9):,.0f} rows/s")
        return Group(
            head,
            rich_table("Streams", [self._with_rate(row, seconds) for row in self._session.execute("SHOW STREAMS")]),
            rich_table("State", self._session.execute("SHOW SLICES")[:12]),
            rich_table("Queries", self._session.execute("SHOW QUERIES")[:12]),
        )

    def _with_rate(self, row: dict[str, Any], seconds: float) -> dict[str, Any]:
        """A stream's row with how fast it is taken, and how far its event time is behind the clock."""
        taken = sum(report.rows.get(row["stream"], 0) for report in self._recent)
        lag = None
        if row["up to"] is not None:
            behind = datetime.now(UTC) - datetime.fromisoformat(row["up to"])
            lag = f"{behind.total_seconds():,.1f} s" if behind < timedelta(days=1) else f"{behind.days:,} d"
        return {**row, "rows/s": round(taken / max(seconds, 1e-9)), "lag": lag}


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"
