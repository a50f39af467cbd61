"""Questions: queries in parts that Penstock and DuckDB read alike, and tables of rows for them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.tests.streams import _ARROW, LATENESS, MS, Row, _written, micros

Window = tuple[str, int]
"""("time", microseconds) or ("rows", how many)."""
Schema = Mapping[str, str]
_AGGREGATE = re.compile(r"\b(COUNT|SUM|AVG|MIN|MAX)\(")


class Input(NamedTuple):
    """A stream, a relation or a query in FROM."""

    name: str
    alias: str
    window: Window | None = None


@dataclass(frozen=True)
class Question:
    """A query in parts."""

    name: str
    inputs: tuple[Input, ...]
    conditions: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    groups: tuple[str, ...] = ()
    having: tuple[str, ...] = ()
    slide: int | None = None
    distinct: bool = False
    one_window: bool = False
    """Whether the window is written once, at the end."""
    kinds: tuple[str, ...] = ()
    """What kind of value each output is, for queries that read it: int, num, mean, text, time or bool."""
    kind: str = ""
    """What kind of query it is: one of `language_workloads.KINDS`."""
    printed: str = ""
    """The text, if it is printed somewhere."""

    @property
    def text(self) -> str:
        """As Penstock reads it: SLIDE needs a WINDOW before it, so that with one the last window is written there."""
        if self.printed:
            return self.printed
        last = next((source for source in reversed(self.inputs) if source.window), None)
        at_end = [source for source in self.inputs if self.one_window or (self.slide is not None and source is last)]
        sources = ", ".join(
            f"{source.name} {source.alias}{'' if source in at_end else _bracket(source.window)}"
            for source in self.inputs
        )
        columns = ", ".join(f"{expr} AS {name}" for expr, name in self.outputs)
        text = f"SELECT {'DISTINCT ' * self.distinct}{columns} FROM {sources}"
        text += f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""
        text += f" GROUP BY {', '.join(self.groups)}" if self.groups else ""
        text += f" HAVING {' AND '.join(self.having)}" if self.having else ""
        text += f" WINDOW {_size(last.window)}" if last and last.window and last in at_end else ""
        return text + (f" SLIDE {self.slide // MS} ms" if self.slide is not None else "")

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of everything in FROM, each once."""
        return tuple(dict.fromkeys(source.name for source in self.inputs))

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows there are."""
        return tuple(source.window for source in self.inputs if source.window)

    @property
    def counts_rows(self) -> bool:
        """Whether any window is of a number of rows."""
        return any(unit == "rows" for unit, _ in self.windows)

    @property
    def is_aggregate(self) -> bool:
        """Whether it is computed at instants."""
        texts = (*self.having, *(expr for expr, _ in self.outputs))
        return self.distinct or bool(self.groups) or any(map(_AGGREGATE.search, texts))

    @property
    def is_plain(self) -> bool:
        """Whether its results are given at once, whatever the watermark."""
        return not self.is_aggregate and not self.counts_rows


def _bracket(window: Window | None) -> str:
    if window is None:
        return ""
    return f" [ROWS {window[1]}]" if window[0] == "rows" else f" [RANGE {_size(window)}]"


def _size(window: Window) -> str:
    return f"{window[1]} ROWS" if window[0] == "rows" else f"{window[1] // MS} ms"


@dataclass(frozen=True)
class Data:
    """Rows of streams, in the order in which they came, and of relations."""

    schemas: Mapping[str, Schema]
    rows: Mapping[str, list[Row]]
    streams: tuple[str, ...]
    """Those of the names that are streams; their event time is `ts`."""
    valid: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    lateness: int = LATENESS

    @property
    def watermarks(self) -> dict[str, int | None]:
        """The watermark of every stream: its largest time minus the lateness; None without rows."""
        newest = {
            name: max((micros(row["ts"]) for row in self.rows.get(name, ())), default=None) for name in self.streams
        }
        return {name: None if time is None else time - self.lateness for name, time in newest.items()}

    def catalog(self, folder: Path, format: str = "parquet", files_per_trigger: int = 1) -> dict[str, Any]:
        """A catalog of everything, read from below a folder."""
        return {
            "streams": {
                name: {
                    "schema": dict(self.schemas[name]),
                    "timestamp": "ts",
                    "lateness": f"{self.lateness // MS} ms",
                    "source": source_of(folder / name, format, maxFilesPerTrigger=files_per_trigger),
                }
                for name in self.streams
            },
            "relations": {
                name: {"schema": dict(schema), "source": source_of(folder / name, format)}
                | ({"valid": list(self.valid[name])} if name in self.valid else {})
                for name, schema in self.schemas.items()
                if name not in self.streams
            },
        }

    def write(self, folder: Path, format: str = "parquet") -> None:
        """Write everything, a file each."""
        for name, schema in self.schemas.items():
            write_table(folder / name, self.rows[name], schema, format)


def source_of(path: Path, format: str, **options: Any) -> dict[str, Any]:
    """Where a stream or a relation is read from."""
    header = {"header": "true"} if format == "csv" else {}
    return {"format": format, "path": str(path), "options": options | header}


def write_table(folder: Path, rows: list[Row], schema: Schema, format: str = "parquet") -> None:
    """Write rows as the only file of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"f0000.{format}"
    if format == "parquet":
        fields = pa.schema([(name, _ARROW[type_]) for name, type_ in schema.items()])
        pq.write_table(pa.Table.from_pylist(rows, fields), path)
    elif format == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(schema)
            writer.writerows([_written(row[name]) for name in schema] for row in rows)
    else:
        lines = [json.dumps({name: _written(row[name]) for name in schema}) for row in rows]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
