"""Statements carried out for people: rows, and a sentence on what was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.grammar import ast
from penstock.grammar.errors import PenstockError
from penstock.grammar.parser import parse_statement
from penstock.grammar.source import Source
from penstock.statements import Rows

if TYPE_CHECKING:
    from penstock.session import Session

_OF_QUERIES = ast.CreateQuery | ast.AlterQuery | ast.AlterWindow | ast.Drop


@dataclass(frozen=True)
class Outcome:
    """What a statement shows, and what it has done if it changes something."""

    rows: Rows
    said: str = ""


def is_change(statement: ast.Statement) -> bool:
    """Whether a statement changes what runs."""
    return not isinstance(statement, ast.Show | ast.Describe | ast.Explain | ast.Select | ast.InsertInto)


def outcome_of(session: Session, source: Source) -> Outcome:
    """Carry out a statement in a session; while nothing runs, what it changes is kept for the next run."""
    statement = parse_statement(source)
    if not is_change(statement):
        return Outcome(session.execute(source))
    before = session.program
    session.execute(source)
    if not session.is_running:
        try:
            session.keep()
        except PenstockError:
            session.change(before)
            raise
    name = statement.name.lower() if isinstance(statement, _OF_QUERIES) else ""
    known = next((query for known, query in before.queries.items() if known.lower() == name), None)
    file = None if known is None or known.is_registered else known.source.name
    return Outcome([], _said(session, statement, known is not None, file))


def _said(session: Session, statement: ast.Statement, was_known: bool, file: str | None) -> str:
    match statement:
        case ast.CreateQuery():
            if was_known:
                return f"{statement.name} stands already"
            return _runs(session, statement.name, "is registered, and begins with the next run")
        case ast.AlterQuery() | ast.AlterWindow():
            if file is None:
                return _runs(session, statement.name, "is changed, and goes on so with the next run")
            text = _runs(session, statement.name, "is changed for a run that is begun here")
            return f"{text}\nto change it for good, edit {file}"
        case ast.Drop():
            if statement.kind.upper() != "QUERY":
                return f"{statement.name} is dropped"
            if not was_known:
                return f"there was no {statement.name}"
            text = f"{statement.name} is dropped; its results so far stay"
            return text if file is None else f"{text}\nremove {file}, or another run has it again"
        case ast.CreateStream() | ast.CreateRelation():
            kind = "stream" if isinstance(statement, ast.CreateStream) else "relation"
            return f"the {kind} {statement.name} is defined"
        case ast.SetSetting():
            return f"{statement.name} is {statement.value} here; under  settings:  in penstock.yml it stays so"
    raise TypeError(f"no change: {type(statement).__name__}")


def _runs(session: Session, name: str, waiting: str) -> str:
    query = session.query(name)
    if not session.is_running:
        return f"{query.name} {waiting}"
    since = query.complete_from
    if since is None:
        return f"{query.name} runs; SHOW QUERIES says when it is complete"
    return f"{query.name} runs, complete from {since}"
