"""Streams and relations: what a query can read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from penstock.catalog.parts import CatalogError, Column, Origin, SourceSpec, Statistics
from penstock.grammar.errors import did_you_mean, raise_all

UNKNOWN = Statistics()


class _Entry:
    """What streams and relations have in common."""

    kind = "entry"
    name: str
    columns: tuple[Column, ...]
    statistics: Statistics

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column | None:
        """The column of that name, whatever its case."""
        return self._by_name.get(name.lower())

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name.lower(): column for column in self.columns}

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def _normalize(self) -> None:
        """Bring the parts into one form: the names of columns as the columns spell them."""
        self._set("columns", tuple(self.columns))
        distinct = tuple((self._spelling(name), count) for name, count in self.statistics.distinct)
        self._set("statistics", Statistics(self.statistics.rate, self.statistics.rows, distinct))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _spelling(self, name: str) -> str:
        column = self.column(name)
        return column.name if column else name

    def _common_faults(self) -> Iterator[CatalogError]:
        if not re.fullmatch(r"[^\W\d]\w*", self.name):
            yield CatalogError(
                f"'{self.name}' cannot be the name of a {self.kind}",
                hint="Names are letters, digits and underscores, and do not start with a digit.",
                label="bad-name",
            )
        if not self.columns:
            yield CatalogError(f"{self} has no columns", at=("schema",), hint="Name its columns.", label="no-columns")
        seen: dict[str, str] = {}
        for column in self.columns:
            first = seen.get(column.name.lower())
            seen.setdefault(column.name.lower(), column.name)
            if first is not None:
                yield CatalogError(
                    f"{self} has two columns named '{first}' and '{column.name}'",
                    at=("schema", column.name),
                    hint="Names ignore case. Rename one of them.",
                    label="duplicate-column",
                )
        for name, _ in self.statistics.distinct:
            if self.column(name) is None:
                yield self._unknown_column(name, ("statistics", "distinct", name))

    def _unknown_column(self, name: str, at: tuple[str | int, ...]) -> CatalogError:
        guess = did_you_mean(name, self.column_names)
        guess = f"{guess}\n" if guess.startswith("Did you mean") else ""
        return CatalogError(
            f"{self} has no column '{name}'",
            at=at,
            hint=guess + self._listed(self.column_names),
            label="unknown-column",
        )

    def _time_faults(self, name: str, at: tuple[str | int, ...]) -> Iterator[CatalogError]:
        """What is wrong with a column that should hold times."""
        column = self.column(name)
        if column is None:
            yield self._unknown_column(name, at)
        elif column.type != "timestamp":
            yield CatalogError(
                f"the column '{column.name}' of {self} is of type {column.type}, not timestamp",
                at=at,
                hint=f"Name a timestamp, or change its type. {self._listed(self.column_names)}",
                label="not-a-timestamp",
            )

    def _listed(self, columns: Iterable[object]) -> str:
        return f"Its columns are {', '.join(map(str, columns)) or 'none'}."


@dataclass(frozen=True)
class Stream(_Entry):
    """Append-only rows with an event time.

    Without `timestamp`, it is the only column of type timestamp. `lateness`, `retain` and
    `idle_timeout` are microseconds. Without `source`, queries over the stream compile, but
    there is nothing to run them on.
    """

    name: str
    columns: tuple[Column, ...]
    timestamp: str = ""
    lateness: int = 0
    retain: int = 0
    idle_timeout: int | None = None
    source: SourceSpec | None = None
    statistics: Statistics = UNKNOWN
    origin: Origin | None = field(default=None, compare=False, repr=False)

    kind = "stream"

    def __post_init__(self) -> None:
        raise_all(self._faults())
        self._normalize()
        self._set("timestamp", self._spelling(self.timestamp or self._timestamps()[0]))

    def _timestamps(self) -> list[str]:
        return [column.name for column in self.columns if column.type == "timestamp"]

    def _faults(self) -> Iterator[CatalogError]:
        yield from self._common_faults()
        found = self._timestamps()
        if self.timestamp:
            yield from self._time_faults(self.timestamp, ("timestamp",))
        elif self.columns and len(found) != 1:
            yield CatalogError(
                f"{self} has several columns of type timestamp: {', '.join(found)}"
                if found
                else f"{self} has no column of type timestamp",
                at=("timestamp",),
                hint="Say which one is the event time." if found else self._listed(self.columns),
                label="no-timestamp",
            )
        for name in ("lateness", "retain"):
            if getattr(self, name) < 0:
                yield _bad_duration(f"the {name} of {self} is negative", name)
        if self.idle_timeout is not None and self.idle_timeout <= 0:
            yield _bad_duration(f"the idle timeout of {self} is not positive", "idle_timeout")
        if self.statistics.rows is not None:
            yield _bad_statistic(f"{self} has a number of rows", "A stream has a rate.", "rows")


@dataclass(frozen=True)
class Relation(_Entry):
    """A finite table; with `valid`, a row holds from its first column to before its second."""

    name: str
    columns: tuple[Column, ...]
    source: SourceSpec | None = None
    valid: tuple[str, str] | None = None
    statistics: Statistics = UNKNOWN
    origin: Origin | None = field(default=None, compare=False, repr=False)

    kind = "relation"

    def __post_init__(self) -> None:
        raise_all(self._faults())
        self._normalize()
        if self.valid is not None:
            self._set("valid", tuple(map(self._spelling, self.valid)))

    def _faults(self) -> Iterator[CatalogError]:
        yield from self._common_faults()
        if self.valid is not None:
            for index, name in enumerate(self.valid):
                yield from self._time_faults(name, ("valid", index))
            begin, end = self.valid
            if begin.lower() == end.lower():
                yield CatalogError(
                    f"{self} is valid from '{begin}' to the same column",
                    at=("valid", 1),
                    hint="Name two columns: since when a row holds, and until when.",
                    label="bad-validity",
                )
        if self.statistics.rate is not None:
            yield _bad_statistic(f"{self} has a rate", "A relation has a number of rows.", "rate")


def _bad_duration(message: str, name: str) -> CatalogError:
    return CatalogError(message, at=(name,), hint="Give a duration such as 5 sec.", label="bad-duration")


def _bad_statistic(message: str, hint: str, name: str) -> CatalogError:
    return CatalogError(message, at=("statistics", name), hint=hint, label="bad-statistics")
