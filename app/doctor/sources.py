"""The sources of streams and relations: whether they are there, and fit the catalog; looked at without Spark."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from penstock.catalog import Relation, Stream
from penstock.catalog.parts import FILE_FORMATS
from penstock.doctor.finding import Finding, failed, ok, warning
from penstock.runtime.failures import comes_from_system, system_reason

Entry = Stream | Relation
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def check_source(entry: Entry, root: Path) -> Finding:
    """Whether the source of a stream or relation is there, and its first file has the columns of the catalog."""
    check = f"{entry.kind} {entry.name}"
    if entry.source is None:
        return failed(check, "it has no source", "Give it one:  source:  in the catalog, FROM in a definition.")
    kind, path = entry.source.format.lower(), entry.source.path
    if kind not in FILE_FORMATS or path is None or "://" in path:
        return ok(check, f"read from {path or kind}, which is not looked at")
    try:
        return _looked_at(check, entry, kind, path, root)
    except (OSError, pa.ArrowException, ValueError, csv.Error) as error:
        if comes_from_system(error):
            why, advice = system_reason(error)
            return failed(check, f"{error.filename or path}: {why}", advice)
        why = next(iter(str(error).splitlines()), "")
        return failed(check, f"the first file in {path} is not {kind}: {why}", "Check it, or correct the format.")


def _looked_at(check: str, entry: Entry, kind: str, path: str, root: Path) -> Finding:
    place = (root / path.removeprefix("file:")).resolve()
    found = list(Path(place.anchor).glob(str(place.relative_to(place.anchor))))
    if not found:
        return failed(check, f"there is nothing at {path}", "Make it, or correct the path of its source.")
    if isinstance(entry, Stream) and place.is_file():
        return failed(check, f"{path} is a file", "A stream is read from a folder: name the one that it is in.")
    file = min(filter(_is_read, itertools.chain(found, *(match.rglob("*") for match in found))), default=None)
    if file is None:
        return warning(check, f"there is no file in {path} yet", "It is read when there is one.")
    columns = _READERS[kind](file, _options(entry), entry) if kind in _READERS else {}
    return _compared(check, entry, _shown(file, root), {name.lower(): what for name, what in columns.items()})


def _is_read(file: Path) -> bool:
    """Whether Spark takes it for data."""
    return file.is_file() and not file.name.startswith((".", "_"))


def _shown(file: Path, root: Path) -> str:
    return str(file.relative_to(root)) if file.is_relative_to(root) else str(file)


def _compared(check: str, entry: Entry, file: str, found: Mapping[str, str]) -> Finding:
    """What a file has, against the columns of the catalog: for each a type, or a value as an example."""
    if not found:
        return ok(check, f"{file} is there; its columns are not looked at")
    missing = [column.name for column in entry.columns if column.name.lower() not in found]
    if missing:
        has = ", ".join(sorted(found))
        return failed(check, f"{file} has no column {', '.join(missing)}, but {has}", "Correct its schema.")
    odd = [
        f"{column.name} is {found[column.name.lower()]}, not {column.type}"
        for column in entry.columns
        if column.type.startswith(_NUMBERS) and not _is_number(found[column.name.lower()])
    ]
    if odd:
        return warning(check, f"in {file}, {'; '.join(odd)}", "Correct its schema; rows that do not fit are set aside.")
    return ok(check, f"{file} fits")


def _options(entry: Entry) -> dict[str, str]:
    assert entry.source is not None
    return {key.lower(): value for key, value in entry.source.options}


def _is_number(what: str) -> bool:
    """Whether it is a type of numbers, or text that can be read as one; nothing may become NULL."""
    if what == "" or what.startswith(("int", "uint", "float", "double", "half", "decimal")):
        return True
    try:
        float(what)
    except ValueError:
        return False
    return True


def _opened(file: Path) -> TextIO:
    return gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8", newline="")


def _of_csv(file: Path, options: Mapping[str, str], entry: Entry) -> dict[str, str]:
    delimiter = options.get("sep") or options.get("delimiter") or ","
    if len(delimiter) > 1:
        return {}
    with _opened(file) as text:
        lines = csv.reader(text, delimiter=delimiter)
        if options.get("header", "").lower() != "true":
            return dict(zip((column.name for column in entry.columns), next(lines, []), strict=False))
        names = next(lines, [])
        return dict(itertools.zip_longest(names, next(lines, [])[: len(names)], fillvalue=""))


def _of_json(file: Path, options: Mapping[str, str], _: Entry) -> dict[str, str]:
    if options.get("multiline", "").lower() == "true":
        return {}
    with _opened(file) as text:
        first = text.readline()
    found = json.loads(first) if first.strip() else {}
    return {name: "" if value is None else str(value) for name, value in found.items()}


def _of_schema(schema: pa.Schema) -> dict[str, str]:
    return {field.name: str(field.type) for field in schema}


_READERS: Mapping[str, Callable[..., dict[str, str]]] = {
    "csv": _of_csv,
    "json": _of_json,
    "parquet": lambda file, *_: _of_schema(pq.read_schema(file)),
    "orc": lambda file, *_: _of_schema(orc.ORCFile(file).schema),
}
