"""Catalogs from folders, files and dicts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from penstock.catalog.model import Catalog
from penstock.catalog.nodes import Node, Place, PlainNode, read_yaml
from penstock.catalog.reader import Reader
from penstock.grammar.errors import PenstockError, raise_all
from penstock.grammar.files import read_source, unreadable
from penstock.grammar.source import Source

SUFFIXES = (".yml", ".yaml")


def load_catalog(given: str | os.PathLike[str] | Mapping[str, Any] | Catalog) -> Catalog:
    """The catalog in a folder of YAML files, in one file or in a dict; a Catalog is returned as it is.

    Every mistake in every file is reported at once.
    """
    if isinstance(given, Catalog):
        return given
    if isinstance(given, Mapping):
        return _build([PlainNode(given, Place())])
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"a catalog is a path, a dict or a Catalog, not {type(given).__name__}")
    if "\n" in os.fspath(given):
        raise PenstockError(
            "the path of a catalog has more than one line",
            hint="Use parse_catalog(text) for a text that is YAML already.",
            label="no-catalog",
        )
    return _from_sources(_files(Path(given)))


def parse_catalog(text: str, name: str = "<catalog>") -> Catalog:
    """The catalog in a YAML text, which messages call by that name."""
    return _from_sources([Source(name, text)])


def _from_sources(sources: Iterable[Path | Source]) -> Catalog:
    roots: list[Node] = []
    errors: list[PenstockError] = []
    for source in sources:
        try:
            roots.append(read_yaml(source if isinstance(source, Source) else read_source(source)))
        except PenstockError as error:
            errors.append(error)
    return _build(roots, errors)


def _build(roots: Iterable[Node], errors: Iterable[PenstockError] = ()) -> Catalog:
    reader = Reader()
    for root in roots:
        reader.read(root)
    found = [*errors, *reader.errors]
    catalog = Catalog()
    try:
        catalog = Catalog(tuple(reader.streams), tuple(reader.relations))
    except PenstockError as error:
        found.append(error)
    raise_all(found)
    return catalog


def _files(path: Path) -> list[Path]:
    try:
        if path.is_dir():
            files = [file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file()]
            return sorted(file for file in files if not file.name.startswith("."))
        if path.exists():
            return [path]
    except OSError as error:
        raise unreadable(path, error) from None
    raise PenstockError(
        f"there is no catalog at '{path}'",
        hint=f"Give a folder with .yml files, or one such file; '{path}' is looked for in {Path.cwd()}."
        if not path.is_absolute()
        else "Give a folder with .yml files, or one such file.",
        label="no-catalog",
    )
