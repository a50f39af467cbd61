"""One query of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, overload

from penstock.live import Live, Subscription
from penstock.picture import query_cell

if TYPE_CHECKING:
    from penstock.api import CompiledQueries
    from penstock.runtime.session import DataFrame, Row
    from penstock.session import Session


class QueryHandle:
    """A query of a session: its name, its columns, and its results as they are or as they come.

    `Session.register` and `Session.query` give it.
    """

    def __init__(self, session: Session, name: str, columns: list[tuple[str, str]]) -> None:
        self._session = session
        self.name = name
        self.columns = columns
        """The names and types of its columns, beside `_ts`."""

    def results(self) -> DataFrame:
        """All the results so far, each once: `_ts` and the selected columns.

        Spark reads them when something is done with them. While a run goes on their files are merged now and then, so
        do that soon, or ask again. The DataFrame belongs to the Spark session that the session was given.

        >>> session = penstock.Session("sensors")
        >>> near = session.query("near")
        >>> session.run(drain=True)
        >>> near.results().select("LocationId", "t", "h").collect()
        [Row(LocationId=1, t=31.5, h=40.0)]
        """
        return self._session.results(self.name, self.columns)

    @overload
    def stream(self, callback: None = None, *, from_start: bool = False) -> Iterator[Row]: ...
    @overload
    def stream(self, callback: Callable[[DataFrame], None], *, from_start: bool = False) -> Subscription: ...
    def stream(
        self, callback: Callable[[DataFrame], None] | None = None, *, from_start: bool = False
    ) -> Iterator[Row] | Subscription:
        """The results that are committed from now on, each once, as they come; `from_start`, those before them too.

        Without a `callback`, an iterator of rows, which waits for more while a run goes on. With one, it is called with
        a DataFrame of what is new, in a thread of its own, until `stop` of what is returned, or the end of a run.

        >>> session, counts = penstock.Session("sensors"), []
        >>> with session.query("near").stream(lambda rows: counts.append(rows.count())) as subscription:
        ...     session.run(once=True)
        ...     subscription.wait()
        >>> counts
        [1]
        >>> next(session.query("near").stream(from_start=True))["h"]
        40.0
        """
        waits = callback is not None
        live = Live(self._session, self.name, self.columns, from_start=from_start, waits=waits)
        return iter(live) if callback is None else Subscription(live, callback)

    @property
    def status(self) -> str:
        """`running`, `waiting` for a run, or `dropped`.

        >>> penstock.Session("sensors").query("near").status
        'waiting'
        """
        if self.name not in self._session.queries:
            return "dropped"
        return "running" if self._session.is_running else "waiting"

    @property
    def complete_from(self) -> str | None:
        """The time from which on the results are complete, `the start`, or None if that is not known yet."""
        rows = self._session.execute("SHOW QUERIES")
        found: str | None = next((row["complete from"] for row in rows if row["query"] == self.name), None)
        return found

    def _repr_html_(self) -> str:
        since = self.complete_from
        return query_cell(
            self._session.picture(), self.name, self.status + (f", complete from {since}" if since else "")
        )


def columns_of(queries: CompiledQueries, name: str) -> list[tuple[str, str]]:
    """The names and types of a query's columns."""
    return list(queries[name].columns)
