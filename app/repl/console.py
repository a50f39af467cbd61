"""Shows what statements and commands give."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from penstock.outcome import Outcome
from penstock.place import Batch
from penstock.repl.commands import Value
from penstock.tables import RowWriter, names_of_rows, write_rows
from penstock.verbosity import say


class Console:
    """Rows on stdout, sentences on stderr."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        """One of the formats of rows."""
        self.timing = False

    def show(self, value: Value) -> None:
        """Show rows, or the rows of batches as they come."""
        if isinstance(value, Outcome):
            self._show_rows(value)
        else:
            self._show_batches(value)

    def say_time(self, seconds: float) -> None:
        """Say how long something took, if that is wanted."""
        if self.timing:
            say(f"{seconds:.3f} s")

    def _show_rows(self, outcome: Outcome) -> None:
        names = names_of_rows(outcome.rows)
        if names == ["plan"] and self.mode == "table":
            sys.stdout.writelines(f"{row['plan']}\n" for row in outcome.rows)
        elif names:
            write_rows(names, [[row.get(name) for name in names] for row in outcome.rows], self.mode, sys.stdout)
        sys.stdout.flush()
        if outcome.said or not names:
            say(outcome.said or "nothing")

    def _show_batches(self, batches: Iterable[Batch]) -> None:
        writer: RowWriter | None = None
        for batch in batches:
            if writer is None:
                writer = RowWriter(batch.columns, self.mode, sys.stdout)
                say("results as they come; Ctrl-C ends this")
            writer.write(batch.rows)
            if batch.said:
                say(batch.said)
