"""Random queries that can be run and random rows in files, the same ones for the same seed.

A query is made from parts that Penstock and DuckDB read alike, and keeps them, so that the reference in `duck` needs
nothing of what is tested.
"""

from __future__ import annotations

import csv
import json
import os
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MS = 1_000
SECOND = 1_000_000
START = datetime(2026, 1, 1, tzinfo=UTC)
LATENESS = 5 * SECOND
Row = dict[str, Any]

SCHEMAS = {
    "Heat": {"k": "int", "v": "double", "n": "int", "s": "string", "seen": "timestamp", "ts": "timestamp"},
    "Wet": {"k": "int", "v": "double", "n": "bigint", "s": "string", "b": "boolean", "ts": "timestamp"},
    "Load": {"k": "bigint", "n": "int", "s": "string", "v": "int", "ts": "timestamp"},
}
_ARROW = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}
_WINDOWS = (1 * MS, 250 * MS, 251 * MS, 1 * SECOND, 2 * SECOND, 3 * SECOND, 7 * SECOND, 20 * SECOND, 3600 * SECOND)
_SELECTIONS = (
    "{a}.v > {d}", "{a}.v > {d}", "{a}.v > {d}", "{a}.v <= {d}", "{d} < {a}.v", "{a}.n = {i}", "{a}.n >= {i}",
    "{a}.s = '{w}'", "{a}.s < '{w}'", "{a}.s LIKE 'a%'", "{a}.s IN ('{w}', 'zz')", "{a}.n BETWEEN {i} AND {j}",
    "{a}.v IS NULL", "{a}.n IS NOT NULL", "({a}.v > {d} OR {a}.n = {i})", "NOT {a}.v > {d}", "{a}.v + {a}.n > {d}",
    "{a}.ts >= TIMESTAMP '2026-01-01 00:00:{t}'", "{a}.ts < TIMESTAMP '2026-01-01 00:00:{t}.25'",
    "{a}.v > {d} AND {a}.n < {j}", "COALESCE({a}.n, 1) <> {i}", "{a}.s <> 'it''s'", "{a}.k = {a}.n", "{i} < {j}",
    "{a}.v > NULL",
)  # fmt: skip
_KEYS = ("{a}.k = {b}.k", "{a}.k = {b}.k", "{a}.k = {b}.k", "{a}.n = {b}.n", "{a}.s = {b}.s", "{a}.k + 1 = {b}.k")
_RESIDUALS = (
    "{a}.v < {b}.v", "{a}.v + {b}.v > {d}", "{a}.n <> {b}.n", "{a}.ts <= {b}.ts", "{a}.v - {b}.v < {d}",
    "({a}.v > {d} OR {b}.n = {i})", "{a}.s <> {b}.s", "{a}.k = {b}.n",
)  # fmt: skip
_OUTPUTS = (
    "{a}.k", "{a}.v", "{a}.n", "{a}.s", "{b}.k", "{b}.v", "{b}.ts", "{a}.ts", "{a}.v + {b}.n", "{a}.n * {i}",
    "{i}", "'{w}'", "{d}", "TRUE", "TIMESTAMP '2026-01-01 00:00:{t}'", "UPPER({b}.s)", "COALESCE({a}.s, '{w}')",
    "CASE WHEN {a}.v > {d} THEN '{w}' ELSE 'x' END", "{a}.v > {b}.n", "{a}.n = {i}",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A query in parts: its inputs with aliases and windows in microseconds, its conditions and its columns."""

    name: str
    inputs: tuple[tuple[str, str, int | None], ...]
    conditions: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    one_window: bool

    @property
    def text(self) -> str:
        """As Penstock reads it."""
        sources = [
            f"{stream} {alias}" + (f" [RANGE {size // MS} ms]" if size is not None and not self.one_window else "")
            for stream, alias, size in self.inputs
        ]
        columns = ", ".join(f"{expr} AS {name}" for expr, name in self.outputs)
        text = f"SELECT {columns} FROM {', '.join(sources)}"
        text += f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""
        return text + (f" WINDOW {self.inputs[0][2] // MS} ms" if self.one_window else "")


@dataclass
class Workload:
    """Queries, and for every stream its files: lists of rows in the order in which they come."""

    seed: int
    queries: list[Asked]
    files: dict[str, list[list[Row]]]
    format: str = "parquet"
    lateness: dict[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> dict[str, list[Row]]:
        """All the rows of every stream."""
        return {stream: [row for file in files for row in file] for stream, files in self.files.items()}

    def catalog(self, folder: Path, files_per_trigger: int = 1) -> dict[str, Any]:
        """A catalog whose streams are read from below a folder."""
        options = {"maxFilesPerTrigger": files_per_trigger} | ({"header": "true"} if self.format == "csv" else {})
        return {
            "streams": {
                stream: {
                    "schema": schema,
                    "timestamp": "ts",
                    "lateness": f"{LATENESS // MS} ms",
                    "source": {"format": self.format, "path": str(folder / stream), "options": options},
                }
                for stream, schema in SCHEMAS.items()
            }
        }

    def write(self, folder: Path, part: int = 0, parts: int = 1) -> None:
        """Write one of so many parts of the files of every stream."""
        for stream, files in self.files.items():
            for number in range(len(files) * part // parts, len(files) * (part + 1) // parts):
                write_file(folder / stream, number, files[number], stream, self.format)


def micros(moment: datetime) -> int:
    """Microseconds since the epoch."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def workload(seed: int, *, queries: int | None = None) -> Workload:
    """A random set of queries and rows."""
    rng = random.Random(seed)
    count = queries or rng.choice((1, 2, 3, 5, 8, 12, 20))
    families = [_family(rng) for _ in range(rng.randint(1, 3))]
    asked = [_asked(f"q{number}", rng.choice(families), rng) for number in range(count)]
    return Workload(seed, asked, random_files(rng), rng.choice(("parquet", "parquet", "parquet", "csv", "json")))


@dataclass(frozen=True)
class _Family:
    """What queries that are alike have in common."""

    streams: tuple[str, ...]
    keys: tuple[str, ...]
    patterns: tuple[tuple[str, int, int], ...]
    outputs: tuple[tuple[str, int, int], ...]


def _family(rng: random.Random) -> _Family:
    count = rng.choice((1, 2, 2, 2, 2, 2, 3))
    streams = tuple(rng.choice(tuple(SCHEMAS)) if rng.random() < 0.3 else list(SCHEMAS)[i] for i in range(count))
    keys = [] if rng.random() < 0.12 else [f"{rng.choice(_KEYS)}|{i - 1}|{i}" for i in range(1, count)]
    keys += [f"{_KEYS[-2]}|0|{count - 1}"] if count > 1 and rng.random() < 0.2 else []
    places = range(count)
    patterns = [(rng.choice(_SELECTIONS), rng.choice(places), 0) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    if count > 1:
        patterns += [(rng.choice(_RESIDUALS), *rng.sample(places, 2)) for _ in range(rng.choice((0, 0, 1, 2)))]
    outputs = [(rng.choice(_OUTPUTS), rng.choice(places), rng.choice(places)) for _ in range(rng.randint(1, 4))]
    return _Family(streams, tuple(keys), tuple(patterns), tuple(outputs))


def _asked(name: str, family: _Family, rng: random.Random) -> Asked:
    aliases = rng.sample(("A", "B", "C", "x", "heat", "other"), len(family.streams))
    joined = len(aliases) > 1
    size = rng.choice(_WINDOWS)
    one = joined and rng.random() < 0.6
    sizes = [(size if one else rng.choice(_WINDOWS)) if joined else None for _ in aliases]

    def text(pattern: str, a: int, b: int) -> str:
        low = rng.randrange(4)
        values = {
            "d": rng.choice(("0.5", "1.5", "2.0", "3.5", "-1.5")),
            "i": low,
            "j": low + rng.randrange(3),
            "w": rng.choice(("a", "b", "ab", "a\\b", "é")),
            "t": f"{rng.randrange(40):02}",
        }
        return pattern.format(a=aliases[a], b=aliases[b], **values)

    keys = [text(key.split("|")[0], int(key.split("|")[1]), int(key.split("|")[2])) for key in family.keys]
    patterns = [pattern for pattern in family.patterns if rng.random() < 0.85]
    conditions = [*keys, *(text(*pattern) for pattern in patterns)]
    rng.shuffle(conditions)
    outputs = [(text(*output), f"c{number}") for number, output in enumerate(family.outputs)]
    if rng.random() < 0.2:
        outputs = outputs[: rng.randint(1, len(outputs))]
    inputs = tuple(zip(family.streams, aliases, sizes, strict=True))
    return Asked(name, inputs, tuple(conditions), tuple(outputs), one)


def random_row(rng: random.Random, stream: str, ts: datetime) -> Row:
    """A row: few keys, one of them frequent; NULL now and then."""
    values = {
        "k": rng.choice((0, 1, 1, 1, 2, 3, 4)),
        "v": rng.randrange(-4, 12) / 2 if SCHEMAS[stream]["v"] == "double" else rng.randrange(-2, 6),
        "n": rng.randrange(5),
        "s": rng.choice(("a", "b", "ab", "Ab", "a\\b", "it's", "é")),
        "b": rng.random() < 0.5,
        "seen": START + timedelta(seconds=rng.randrange(40)),
    }
    return {name: None if rng.random() < 0.1 else values[name] for name in SCHEMAS[stream] if name != "ts"} | {"ts": ts}


def random_files(rng: random.Random) -> dict[str, list[list[Row]]]:
    """Files of every stream: bursts, equal times, rows out of order as far as the lateness allows, uneven sizes."""
    return {
        stream: [] if rng.random() < 0.08 else uneven(rng, arrivals(rng, stream, rng.choice((8, 25, 25, 45))))
        for stream in SCHEMAS
    }


def arrivals(rng: random.Random, stream: str, count: int) -> list[Row]:
    """Rows in the order in which they come."""
    ahead = 30 * SECOND if rng.random() < 0.15 else 0
    spread = rng.choice((4, 20, 40, 40)) * SECOND
    delay = rng.choice((0, 0, LATENESS // 4, LATENESS))
    times = [rng.randrange(0, spread, 250 * MS) for _ in range(count)]
    if rng.random() < 0.4:
        burst = rng.randrange(0, spread, 250 * MS)
        times[: count // 2] = [burst + rng.choice((0, 0, 0, 1, MS)) for _ in range(count // 2)]
    coming = sorted(times, key=lambda time: time + (rng.randrange(delay) if delay else 0))
    return [random_row(rng, stream, START + timedelta(microseconds=ahead + time)) for time in coming]


def uneven(rng: random.Random, rows: list[Row]) -> list[list[Row]]:
    """Rows cut into a few files, some of them empty."""
    cuts = sorted(rng.randrange(len(rows) + 1) for _ in range(rng.choice((0, 1, 2, 3))))
    return [rows[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]


def write_file(folder: Path, number: int, rows: list[Row], stream: str, format: str = "parquet") -> None:
    """Write rows as a file, which Spark takes in the order of the numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"f{number:04}.{format}"
    unfinished = folder / f".{path.name}"
    schema = SCHEMAS[stream]
    if format == "parquet":
        fields = pa.schema([(name, _ARROW[type_]) for name, type_ in schema.items()])
        pq.write_table(pa.Table.from_pylist(rows, fields), unfinished)
    elif format == "csv":
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(schema)
            writer.writerows([_written(row[name]) for name in schema] for row in rows)
    else:
        lines = [json.dumps({name: _written(value) for name, value in row.items()}) for row in rows]
        unfinished.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    os.utime(unfinished, (1_700_000_000 + number, 1_700_000_000 + number))
    unfinished.rename(path)


def _written(value: Any) -> Any:
    return value.isoformat(sep=" ") if isinstance(value, datetime) else value
