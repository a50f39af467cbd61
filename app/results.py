"""The results of a query, shown or written."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

from penstock.grammar.errors import PenstockError
from penstock.session import Session
from penstock.tables import FORMATS, write_rows
from penstock.values import values_of
from penstock.verbosity import say

RESULT_FORMATS = (*FORMATS, "parquet")
_SHOWN = 20
"""A table shows so many results, unless told otherwise."""


def show_results(
    session: Session, query: str, output: str, *, since: str | None, limit: int | None, target: Path | None
) -> None:
    """Print or write the results of a query."""
    with session.explaining(f"the results of {query} cannot be read"):
        _show(session, query, output, since=since, limit=limit, target=target)


def _show(
    session: Session, query: str, output: str, *, since: str | None, limit: int | None, target: Path | None
) -> None:
    session.standing.known(query)
    if sys.stderr.isatty():
        say("starting Spark")  # nothing else is seen for seconds
    rows = session.results(query)
    if since is not None:
        rows = rows.where(rows["_ts"] >= _moment(since))
    if output == "table" and limit is None:
        limit = _SHOWN
    if limit is not None:
        rows = rows.orderBy(rows["_ts"].desc()).limit(limit)
    ordered = rows.orderBy("_ts")
    if output == "parquet":
        ordered.write.mode("overwrite").parquet(str(target))
        return
    write_rows(ordered.columns, values_of(ordered), output, sys.stdout)


def _moment(text: str) -> str:
    try:
        return datetime.fromisoformat(text).isoformat(sep=" ")
    except ValueError:
        raise PenstockError(
            f"'{text}' is not a time", hint="Write it as '2026-01-31 12:00:00'.", label="bad-moment"
        ) from None
