"""What streams and relations are made of: columns, a source, statistics, a place of definition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.catalog.types import parse_type
from penstock.grammar.errors import PenstockError, raise_all
from penstock.grammar.source import Source, Span

# Formats of files: without a path there is nothing to read.
FILE_FORMATS = frozenset({"avro", "csv", "delta", "json", "orc", "parquet", "text", "xml"})


class CatalogError(PenstockError):
    """A part of the catalog cannot be built.

    `at` leads from the part to the field at fault, such as `("statistics", "distinct", "x")`;
    whoever read the definition knows from it which place in the text to show.
    """

    def __init__(
        self,
        message: str,
        *,
        at: tuple[str | int, ...] = (),
        hint: str | None = None,
        label: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, label=label)
        self.at = at


@dataclass(frozen=True)
class Origin:
    """Where something is defined."""

    source: Source
    span: Span

    def __str__(self) -> str:
        line, column = self.source.position(self.span.start)
        return f"{self.source.name}:{line}:{column}"


@dataclass(frozen=True)
class Column:
    """A column and its type, which is kept under its canonical name."""

    name: str
    type: str

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise CatalogError("a column has no name", hint="Give it a name.", label="bad-name")
        if self.name.startswith("_"):
            raise CatalogError(
                f"the column name '{self.name}' starts with '_'",
                hint="Such names are reserved for the columns that results get, _query and _ts. Rename it.",
                label="reserved-name",
            )
        object.__setattr__(self, "type", parse_type(self.type))

    def __str__(self) -> str:
        return f"{self.name} {self.type}"


@dataclass(frozen=True)
class SourceSpec:
    """What Spark reads: a format, a path if the format has one, and options, sorted by key.

    A relative path stays as it was written.
    """

    format: str
    path: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(format: str, path: str | None = None, options: Mapping[str, object] | None = None) -> SourceSpec:
        """A source whose options may have values of any kind."""
        pairs = ((key, option_text(value)) for key, value in (options or {}).items())
        return SourceSpec(format, path, tuple(pairs))

    def __post_init__(self) -> None:
        if not self.format.strip():
            raise CatalogError(
                "the format of a source is empty",
                at=("format",),
                hint="Name a Spark source, such as parquet, csv, json or kafka.",
                label="bad-source",
            )
        options = sorted(self.options, key=_by_name)
        raise_all(_repeated(options, "option", "options"))
        # Spark takes `path` as an option too; one place for it keeps equal sources equal.
        paths = [value for key, value in options if key.lower() == "path"]
        if paths and self.path is not None:
            raise CatalogError(
                "the path is given twice, once as an option",
                at=("options",),
                hint="Leave the option out.",
                label="bad-source",
            )
        object.__setattr__(self, "path", paths[0] if paths else self.path)
        object.__setattr__(self, "options", tuple(pair for pair in options if pair[0].lower() != "path"))
        if not self.path and (self.path is not None or self.format.lower() in FILE_FORMATS):
            raise CatalogError(
                f"a source of format {self.format} needs a path",
                at=("path",),
                hint="Give the file or folder to read.",
                label="missing-path",
            )

    def option(self, name: str) -> str | None:
        """The value of an option, whatever the case of its name."""
        return next((value for key, value in self.options if key.lower() == name.lower()), None)


@dataclass(frozen=True)
class Statistics:
    """What is known of the data beforehand: rows a second, rows, distinct values of columns."""

    rate: float | None = None
    rows: int | None = None
    distinct: tuple[tuple[str, int], ...] = ()

    @staticmethod
    def of(rate: float | None = None, rows: int | None = None, distinct: Mapping[str, int] | None = None) -> Statistics:
        """Statistics with the distinct values as a mapping."""
        return Statistics(rate, rows, tuple((distinct or {}).items()))

    def __post_init__(self) -> None:
        object.__setattr__(self, "distinct", tuple(sorted(self.distinct, key=_by_name)))
        if self.rate is not None:
            object.__setattr__(self, "rate", float(self.rate))
        raise_all(self._faults())

    def _faults(self) -> Iterable[CatalogError]:
        if self.rate is not None and not (math.isfinite(self.rate) and self.rate > 0):
            yield _bad_figure(f"a rate of {self.rate:g} is not positive", "Give rows per second.", "rate")
        if self.rows is not None and self.rows < 0:
            yield _bad_figure(f"{self.rows} rows are fewer than none", "Give the number of rows.", "rows")
        for name, count in self.distinct:
            if count < 1:
                yield _bad_figure(
                    f"{count} distinct values of {name} are fewer than one",
                    "Give the number of different values in the column.",
                    "distinct",
                    name,
                )
        yield from _repeated(self.distinct, "column", "distinct")

    @property
    def known(self) -> bool:
        """Whether anything is known at all."""
        return self != Statistics()

    def distinct_of(self, column: str) -> int | None:
        """The number of distinct values of a column, whatever the case of its name."""
        return next((count for name, count in self.distinct if name.lower() == column.lower()), None)

    def or_else(self, other: Statistics) -> Statistics:
        """These figures, and the other's where one is missing."""
        mine = {name.lower() for name, _ in self.distinct}
        added = tuple(pair for pair in other.distinct if pair[0].lower() not in mine)
        return Statistics(
            other.rate if self.rate is None else self.rate,
            other.rows if self.rows is None else self.rows,
            self.distinct + added,
        )


def option_text(value: object) -> str:
    """The value of an option as Spark takes it: `True` is `true`, 1 is `1`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _by_name(pair: tuple[str, object]) -> tuple[str, str]:
    return pair[0].lower(), pair[0]


def _bad_figure(message: str, hint: str, *at: str) -> CatalogError:
    return CatalogError(message, at=at, hint=hint, label="bad-statistics")


def _repeated(pairs: Iterable[tuple[str, object]], what: str, field: str) -> Iterable[CatalogError]:
    seen: dict[str, str] = {}
    for name, _ in pairs:
        first = seen.get(name.lower())
        seen.setdefault(name.lower(), name)
        if first is not None:
            yield CatalogError(
                f"the {what} '{name}' is given twice, also as '{first}'",
                at=(field, name),
                hint="Names ignore case. Leave one out.",
                label="duplicate-name",
            )
