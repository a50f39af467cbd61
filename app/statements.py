"""Statements carried out by a session: questions, and changes of what it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.compiler.definitions import define
from penstock.compiler.program import Definition, Program
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, did_you_mean
from penstock.grammar.parser import parse_statement
from penstock.grammar.printer import to_sql
from penstock.grammar.source import Source
from penstock.texts import given, registered, told_in

if TYPE_CHECKING:
    from penstock.session import Session

Rows = list[dict[str, Any]]


def carry_out(session: Session, source: Source) -> Rows:
    """Do what a statement says; what it shows, as rows."""
    statement = parse_statement(source)
    match statement:
        case ast.Show():
            return _show(session, statement.what.upper())
        case ast.Describe():
            return _describe(session, statement)
        case ast.Explain():
            return _explain(session, statement, source)
        case ast.Select() | ast.InsertInto():
            raise PenstockError(
                "a query that stands needs a name",
                span=statement.span,
                source=source,
                hint="Write  CREATE QUERY name AS SELECT …",
                label="unnamed-query",
            )
    with told_in(source):
        migration = session.change_by(lambda: changed(session, statement, source))
    if migration is None:
        return []
    return [{"stage": stage.kind, "operator": stage.operator, "what": stage.what} for stage in migration.stages]


def program_after(session: Session, text: str) -> Program:
    """The session's program after a statement given as text."""
    source = Source("<statement>", text)
    statement = parse_statement(source)
    if isinstance(statement, ast.Show | ast.Describe | ast.Explain | ast.Select | ast.InsertInto):
        raise PenstockError(
            "this statement changes nothing",
            span=statement.span,
            source=source,
            hint="Give a CREATE, ALTER, DROP or SET.",
            label="no-change",
        )
    return changed(session, statement, source)


def changed(session: Session, statement: ast.Statement, source: Source) -> Program:
    """The session's program after a statement that changes it."""
    program = session.program
    try:
        match statement:
            case ast.CreateQuery():
                if _stands(session, statement):
                    return program
                return program.with_query(Definition(statement.name, statement.body, registered(source)))
            case ast.AlterQuery():
                name = _query(session, statement.name)
                return program.with_query(Definition(name, statement.body, registered(source)))
            case ast.AlterWindow():
                name = _query(session, statement.name)
                return session.with_definition(name, _windowed(program.queries[name].body, statement))[0]
            case ast.Drop():
                return _without(session, statement)
            case ast.CreateStream() | ast.CreateRelation():
                entry = given(define(statement, source), source)
                return replace(program, catalog=program.catalog.with_entry(entry))
            case ast.SetSetting():
                return replace(program, settings=program.settings.with_text(statement.name, statement.value))
    except PenstockError as error:
        error.span = error.span or statement.span
        raise error.located(source) from None
    raise TypeError(f"no change: {type(statement).__name__}")


def with_window(definition: Definition, window: str) -> str:
    """A query's text with another window on all its streams."""
    statement = parse_statement(Source("<window>", f"ALTER QUERY q SET WINDOW {window}"))
    assert isinstance(statement, ast.AlterWindow)
    return _windowed(definition.body, statement)


def _windowed(body: ast.QueryBody, change: ast.AlterWindow) -> str:
    select = body if isinstance(body, ast.Select) else body.select
    sources = tuple(replace(item, window=None) for item in select.sources)
    slide = change.slide if change.slide is not None else select.slide
    select = replace(select, sources=sources, window=change.window, slide=slide)
    return to_sql(select if isinstance(body, ast.Select) else replace(body, select=select))


def _stands(session: Session, statement: ast.CreateQuery) -> bool:
    """Whether the query is there already; a name that another one has is refused."""
    known = next((name for name in session.queries if name.lower() == statement.name.lower()), None)
    if known is None:
        return False
    if session.program.queries[known].text != to_sql(statement.body):
        raise PenstockError(
            f"there is a query called '{known}' already",
            hint=f"Change it with  ALTER QUERY {known} AS …  or drop it first.",
            label="duplicate-query",
        )
    return True


def _without(session: Session, statement: ast.Drop) -> Program:
    program = session.program
    known = session.queries if statement.kind.upper() == "QUERY" else program.catalog.names
    name = next((name for name in known if name.lower() == statement.name.lower()), None)
    if name is None and statement.if_exists:
        return program
    if statement.kind.upper() == "QUERY":
        return program.without_query(_query(session, statement.name))
    return replace(program, catalog=program.catalog.without(statement.name))


def _query(session: Session, name: str) -> str:
    return session.query(name).name


def _show(session: Session, what: str) -> Rows:
    from penstock.runtime import metrics

    if what == "SETTINGS":
        return [{"setting": key, "value": value} for key, value in session.program.settings.shown().items()]
    if what == "RELATIONS":
        return [
            {"relation": relation.name, **session.relation_counts(relation.name)}
            for relation in session.program.catalog.relations
        ]
    if what == "PLAN":
        return _lines(session.compiled.explain("physical"))
    plan = session.compiled.physical
    state, starts = session.state()
    if what == "QUERIES":
        return metrics.query_table(plan, state, starts)
    tables = {"STREAMS": metrics.stream_table, "SLICES": metrics.slice_table, "STATE": metrics.state_table}
    return tables[what](plan, state)


def _describe(session: Session, statement: ast.Describe) -> Rows:
    entry = session.program.catalog.find(statement.name)
    if entry is not None:
        return [{"column": column.name, "type": column.type} for column in entry.columns]
    compiled = session.compiled
    known = next((name for name in compiled if name.lower() == statement.name.lower()), None)
    if known is None:
        raise PenstockError(
            f"there is no stream, relation or query called '{statement.name}'",
            hint=did_you_mean(statement.name, [*session.program.catalog.names, *compiled]) or "There is nothing yet.",
            label="unknown-name",
        )
    return [{"column": ref.name, "type": type_} for ref, type_ in compiled[known].logical.schema.items()]


def _explain(session: Session, statement: ast.Explain, source: Source) -> Rows:
    from penstock.preview import preview

    kind = (statement.kind or "LOGICAL").lower()
    target = statement.target
    match target:
        case ast.AllQueries():
            found = session.compiled
        case ast.QueryName():
            found = session.compiled.only([_query(session, target.name)])
        case ast.Select() | ast.InsertInto():
            name = "query"
            program, definition = session.with_definition(name, to_sql(target))
            found = session.compiled.changed(program).only([definition.name])
        case _:
            return _lines(preview(session, changed(session, target, source)))
    return _lines(found.explain(kind, verbose=statement.verbose))


def _lines(text: str) -> Rows:
    return [{"plan": line} for line in text.splitlines()]
