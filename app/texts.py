"""A program as texts, and back: what a plan version is kept as."""

from __future__ import annotations

from typing import Any

from penstock.api import CompiledQueries, compiled
from penstock.catalog import catalog_data, load_catalog
from penstock.compiler.program import Program, Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.source import Source

Texts = dict[str, Any]


def texts_of(queries: CompiledQueries) -> Texts:
    """The catalog, the settings and the queries; `registered` are those that no file holds."""
    definitions = queries.definitions
    return {
        "settings": queries.settings.shown(),
        "catalog": catalog_data(queries.catalog),
        "queries": {name: definition.text for name, definition in definitions.items()},
        "registered": sorted(name for name, definition in definitions.items() if definition.is_registered),
    }


def compiled_texts(texts: Texts) -> CompiledQueries:
    """The queries of a plan version, compiled."""
    scripts = [_script(name, text) for name, text in texts["queries"].items()]
    return compiled(read_program(scripts, load_catalog(texts["catalog"]), Settings().with_all(texts["settings"])))


def with_registered(program: Program, texts: Texts) -> Program:
    """A program with the queries that were registered before and that no file holds now."""
    taken = {name.lower() for name in program.queries}
    names = [name for name in texts["registered"] if name.lower() not in taken]
    scripts = [_script(name, texts["queries"][name]) for name in names]
    found = read_program(scripts, program.catalog, program.settings)
    return Program(program.catalog, program.settings, {**program.queries, **found.queries})


def _script(name: str, text: str) -> Script:
    return Script(name, Source(f"<{name}>", text))
