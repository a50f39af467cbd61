"""What a session answers over a connection: one request, and all that comes of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from itertools import islice
from typing import TYPE_CHECKING

from penstock.compiler.program import Definition
from penstock.grammar.errors import PenstockError
from penstock.grammar.parser import parse_query
from penstock.grammar.source import Source
from penstock.live import Live
from penstock.names import names_of
from penstock.outcome import outcome_of
from penstock.query import QueryHandle, columns_of
from penstock.texts import PASSING, told_in
from penstock.values import values_of
from penstock.wire import Line, Message, error_data

if TYPE_CHECKING:
    from penstock.runtime.session import DataFrame
    from penstock.session import Session

_TOGETHER = 200
"""So many rows go in one message."""


def answer(session: Session, line: Line, message: Message) -> None:
    """Do what is asked, and say all that comes of it, until the other end hangs up."""
    with line, suppress(OSError), closing(_told(session, _done(session, line, message))) as replies:
        for reply in replies:
            line.send(reply)  # OSError: the other end has gone


def _told(session: Session, replies: Iterator[Message]) -> Generator[Message]:
    """Replies, and at their end that it is the end, or what went wrong."""
    try:
        with session.explaining("this cannot be done"):
            yield from replies
        yield {"done": True}
    except PenstockError as error:
        yield {"error": error_data(error)}
    except Exception as error:
        yield {"failure": f"{type(error).__name__}: {error}"}


def _done(session: Session, line: Line, message: Message) -> Iterator[Message]:
    match message["do"]:
        case "greet":
            yield {"process": os.getpid()}
        case "names":
            yield {"names": names_of(session).to_data()}
        case "execute":
            outcome = outcome_of(session, Source(message["name"], message["text"]))
            yield {"rows": outcome.rows, "said": outcome.said}
        case "results":
            yield from _results(_stored(session, message["query"]), message["limit"])
        case "tail":
            query = _stored(session, message["query"])
            yield from _tailed(session, line, query, _live(session, query))
        case "select":
            yield from _looked_at(session, line, Source(message["name"], message["text"]))


def _stored(session: Session, name: str) -> QueryHandle:
    """A query whose results are in the store."""
    query = session.query(name)
    sink = session.compiled[query.name].logical.sink
    if sink is not None:
        raise PenstockError(
            f"the results of {query.name} go into {sink}, not into the store",
            hint="Read them there, or register the SELECT alone under another name.",
            label="other-sink",
        )
    return query


def _results(query: QueryHandle, limit: int) -> Iterator[Message]:
    """The last results of a query."""
    rows = query.results()
    yield {"columns": rows.columns}
    yield from _rows(rows.orderBy(rows["_ts"].desc()).limit(limit))


def _live(session: Session, query: QueryHandle) -> Live:
    """The results of a query from now on."""
    if not session.is_running:
        raise PenstockError(
            "nothing runs, so no results will come",
            hint="Begin a run with  .run  here or  penstock run  elsewhere;  .results NAME  shows those so far.",
            label="not-running",
        )
    return Live(session, query.name, query.columns, from_start=False, waits=False)


def _tailed(session: Session, line: Line, query: QueryHandle, live: Live) -> Iterator[Message]:
    """Results as they come, until nobody listens any more, the query goes, or the run ends."""
    threading.Thread(target=_close_when_alone, args=(line, live), name="penstock-tail", daemon=True).start()
    yield {"columns": ["_ts", *(name for name, _ in query.columns)]}
    for rows in live.batches():
        yield from _rows(rows)
    yield {"said": "the run has ended" if query.name in session.queries else f"{query.name} was dropped"}


def _looked_at(session: Session, line: Line, source: Source) -> Iterator[Message]:
    """The results of a SELECT that stands for as long as somebody looks at them."""
    with session.standing.changing, told_in(source):
        name = f"select_{session.state()[0].plan + 1}"  # no plan version comes twice
        definition = Definition(name, parse_query(source), Source(PASSING, source.text))
        program = session.program.with_query(definition)
        columns = columns_of(session.compiled.changed(program), name)
        query = QueryHandle(session, name, columns)
        live = _live(session, query)
        session.change(program)
    try:
        yield from _tailed(session, line, query, live)
    finally:
        session.change_by(lambda: session.program.without_query(name))


def _rows(rows: DataFrame) -> Iterator[Message]:
    found = values_of(rows.orderBy("_ts"))
    while some := list(islice(found, _TOGETHER)):
        yield {"rows": some}


def _close_when_alone(line: Line, live: Live) -> None:
    """Wait until the other end hangs up: it has nothing more to say."""
    with suppress(OSError, ValueError):
        line.receive()
    live.close()
