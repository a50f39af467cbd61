"""Rows of CSV in which every cell knows its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.catalog.nodes import Node
from penstock.grammar.errors import PenstockError
from penstock.grammar.files import read_source
from penstock.grammar.source import Source, Span

_CELL = re.compile(r'[ \t]*(?:"((?:[^"]|"")*)"[ \t]*(?=,|$)|([^,]*))(,|$)')


@dataclass(frozen=True)
class Cell:
    """A text, or None where nothing is written, and where it stands."""

    text: str | None
    source: Source | None
    span: Span | None

    def error(self, message: str, *, hint: str, label: str) -> PenstockError:
        """An error here."""
        return PenstockError(message, span=self.span, source=self.source, hint=hint, label=label)


def cells_of_file(path: Path) -> list[list[Cell]]:
    """The lines of a file, cell by cell."""
    source = read_source(path)
    return list(_lines(source.text, source, [match.start() for match in re.finditer(r"^", source.text, re.M)]))


def cells_of_text(node: Node) -> list[list[Cell]]:
    """The lines of a text in a YAML file, cell by cell."""
    source, span = node.place.source, node.place.span
    if source is None or span is None or source.text[span.start : span.start + 1] != "|":
        cells = _lines(node.text, source, None)
        return [[Cell(cell.text, source, span) for cell in line] for line in cells]
    first, _ = source.position(span.start)
    starts = [match.start() for match in re.finditer(r"^", source.text, re.M)][first:]
    indents = (source.text.find(line, start) for line, start in zip(node.text.split("\n"), starts, strict=False))
    return list(_lines(node.text, source, list(indents)))


def _lines(text: str, source: Source | None, starts: list[int] | None) -> Iterator[list[Cell]]:
    """The lines with something in them; `starts` are the places of all of them in the source."""
    for number, line in enumerate(text.split("\n")):
        bare = line.rstrip("\r")
        if bare.strip():
            yield list(_cells(bare, source, starts[number] if starts is not None else None))


def _cells(line: str, source: Source | None, start: int | None) -> Iterator[Cell]:
    """An empty cell is None; an empty text is written as ""."""
    at = 0
    while True:
        match = _CELL.match(line, at)
        assert match is not None  # the second half takes anything
        quoted, plain, end = match.groups()
        text = quoted.replace('""', '"') if quoted is not None else plain.strip() or None
        span = None if start is None else Span(start + at, start + max(match.start(3), at + 1))
        yield Cell(text, source, span)
        at = match.end()
        if not end:
            return
