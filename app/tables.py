"""Rows for people and for other programs: as a table, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

FORMATS = ("table", "json", "csv", "markdown")


def write_rows(names: Sequence[str], rows: Iterable[Sequence[Any]], format: str, out: TextIO) -> None:
    """Write rows: a table and Markdown when all are there, JSON (one object a line) and CSV as they come."""
    if format == "json":
        for row in rows:
            line = json.dumps(dict(zip(names, row, strict=True)), default=str, ensure_ascii=False)
            out.write(f"{line}\n")
    elif format == "csv":
        writer = csv.writer(out)
        writer.writerow(names)
        writer.writerows(rows)
    elif format == "markdown":
        for line in _markdown(names, rows):
            out.write(f"{line}\n")
    else:
        Console(file=out).print(_table(names, rows))


def rich_table(title: str, rows: list[dict[str, Any]]) -> Table:
    """Rows of a SHOW statement as a table to look at."""
    return _table(list(rows[0]) if rows else [], [list(row.values()) for row in rows], title=title, box=None)


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


def _markdown(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterable[str]:
    yield _markdown_line(names)
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield _markdown_line([text_of(value) for value in row])


def _markdown_line(cells: Iterable[str]) -> str:
    shown = (cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(shown)} |"
