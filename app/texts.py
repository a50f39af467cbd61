"""A program as texts, and back: what a plan version is kept as."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from penstock.api import CompiledQueries, compiled
from penstock.catalog import Catalog, Origin, Relation, Stream, catalog_data, load_catalog
from penstock.compiler.program import Program, Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.errors import PenstockError
from penstock.grammar.source import NO_SPAN, Source

Texts = dict[str, Any]
PASSING = "<select>"
"""Where a query comes from that goes with whoever looks at it."""
_GIVEN = "<statement>"
"""Where an entry of the catalog comes from that a statement has defined, and no file."""


def texts_of(queries: CompiledQueries) -> Texts:
    """The catalog, the settings and the queries; `registered` are those that no file holds, `defined` such entries."""
    definitions = queries.definitions
    registered = [name for name, query in definitions.items() if query.is_registered and query.source.name != PASSING]
    defined = [entry.name for entry in queries.catalog.entries if _is_given(entry)]
    return {
        "settings": queries.settings.shown(),
        "catalog": catalog_data(queries.catalog),
        "queries": {name: definition.text for name, definition in definitions.items()},
        "registered": sorted(registered),
        **({"defined": sorted(defined)} if defined else {}),
    }


def compiled_texts(texts: Texts) -> CompiledQueries:
    """The queries of a plan version, compiled."""
    scripts = [_script(name, text) for name, text in texts["queries"].items()]
    return compiled(read_program(scripts, load_catalog(texts["catalog"]), Settings().with_all(texts["settings"])))


def with_registered(program: Program, texts: Texts) -> Program:
    """A program with the queries that were registered before, and the entries defined, that no file holds now."""
    taken = {name.lower() for name in program.queries}
    names = [name for name in texts["registered"] if name.lower() not in taken]
    scripts = [_script(name, texts["queries"][name]) for name in names]
    catalog = _with_defined(program.catalog, texts)
    found = read_program(scripts, catalog, program.settings)
    return Program(catalog, program.settings, {**program.queries, **found.queries})


def registered(source: Source) -> Source:
    """A text as one that was given to a session, whatever file it stands in."""
    return source if source.name.startswith("<") else replace(source, name=f"<{source.name}>")


def given(entry: Stream | Relation, source: Source) -> Stream | Relation:
    """An entry that a statement has defined."""
    span = NO_SPAN if entry.origin is None else entry.origin.span
    return replace(entry, origin=Origin(Source(_GIVEN, source.text), span))


@contextmanager
def told_in(source: Source) -> Iterator[None]:
    """Give errors in a text the name that the user knows it by."""
    try:
        yield
    except PenstockError as error:
        for single in error.errors:
            if single.source is not None and single.source.text == source.text:
                single.source = source
        raise


def _is_given(entry: Stream | Relation) -> bool:
    return entry.origin is not None and entry.origin.source.name == _GIVEN


def _with_defined(catalog: Catalog, texts: Texts) -> Catalog:
    missing = [name for name in texts.get("defined", ()) if catalog.find(name) is None]
    known = load_catalog(texts["catalog"]) if missing else catalog
    for name in missing:
        entry = known.find(name)
        if entry is not None:
            catalog = catalog.with_entry(given(entry, Source(_GIVEN, "")))
    return catalog


def _script(name: str, text: str) -> Script:
    return Script(name, Source(f"<{name}>", text))
