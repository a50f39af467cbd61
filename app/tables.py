"""Rows for people and for other programs: as a table, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

FORMATS = ("table", "json", "csv", "markdown")


class RowWriter:
    """Writes rows as they come; the columns of a table become as wide as what was in them so far."""

    def __init__(self, names: Sequence[str], format: str, out: TextIO) -> None:
        self._names = names
        self._format = format
        self._out = out
        self._widths = [0] * len(names)
        if format == "csv":
            csv.writer(out).writerow(names)
        elif format == "markdown":
            out.write(f"{_markdown_line(names)}\n|{'---|' * len(names)}\n")
        out.flush()

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Write some more."""
        if self._format == "json":
            for row in rows:
                line = json.dumps(dict(zip(self._names, row, strict=True)), default=str, ensure_ascii=False)
                self._out.write(f"{line}\n")
        elif self._format == "csv":
            csv.writer(self._out).writerows(rows)
        elif self._format == "markdown":
            self._out.writelines(f"{_markdown_line([text_of(value) for value in row])}\n" for row in rows)
        else:
            self._write_aligned([[text_of(value) for value in row] for row in rows])
        self._out.flush()

    def _write_aligned(self, rows: list[Sequence[str]]) -> None:
        if not rows:
            return
        begins = not any(self._widths)
        rows = [self._names, *rows] if begins else rows  # the names are as wide as what comes with them
        columns = zip(self._widths, *([cell_len(cell) for cell in row] for row in rows), strict=True)
        self._widths = [max(column) for column in columns]
        if begins:
            rows.insert(1, ["─" * width for width in self._widths])
        for row in rows:
            cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, self._widths, strict=True))
            self._out.write(f"{'  '.join(cells).rstrip()}\n")


def write_rows(names: Sequence[str], rows: Iterable[Sequence[Any]], format: str, out: TextIO) -> None:
    """Write rows: a table when all are there, JSON (one object a line), CSV and Markdown as they come."""
    if format == "table":
        Console(file=out).print(_table(names, rows))
    else:
        RowWriter(names, format, out).write(rows)


def names_of_rows(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns of rows of a SHOW statement; not every row has every one."""
    return list(dict.fromkeys(name for row in rows for name in row))


def rich_table(title: str, rows: list[dict[str, Any]]) -> Table:
    """Rows of a SHOW statement as a table to look at."""
    names = names_of_rows(rows)
    return _table(names, [[row.get(name) for name in names] for row in rows], title=title, box=None)


def text_of(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _table(names: Sequence[str], rows: Iterable[Sequence[Any]], **options: Any) -> Table:
    found = list(rows)
    table = Table(title_justify="left", header_style="bold", **options)
    for number, name in enumerate(names):
        numeric = any(isinstance(row[number], int | float) for row in found)
        table.add_column(name, justify="right" if numeric else "left")
    for row in found:
        table.add_row(*(Text(text_of(value)) for value in row))
    return table


def _markdown_line(cells: Iterable[str]) -> str:
    shown = (cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(shown)} |"
