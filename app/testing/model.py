"""What a test is, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from penstock.catalog.nodes import Place
from penstock.compiler.settings import Settings
from penstock.grammar.errors import PenstockError
from penstock.testing.values import Value

Row = tuple[Value, ...]


@dataclass(frozen=True)
class Table:
    """Rows, and the names and types of their columns."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Case:
    """A test: rows of streams and relations, and the results that a query must give."""

    name: str
    query: str
    place: Place
    rows: Mapping[str, Table]
    expected: Table
    settings: Settings
    day: date
    at: frozenset[datetime] | None = None
    """Only results of these times are compared."""
    tolerance: float = 0.0
    """How far numbers of the types float and double may be apart."""

    @property
    def file(self) -> str:
        """The file it is in."""
        return self.place.source.name if self.place.source else ""

    @property
    def line(self) -> int:
        """The line it begins on."""
        source, key = self.place.source, self.place.key
        return source.position(key.start)[0] if source and key else 1


@dataclass(frozen=True)
class Difference:
    """How results differ from what was expected."""

    missing: tuple[Row, ...] = ()
    """Rows that were expected and did not come, with nothing like them."""
    unexpected: tuple[Row, ...] = ()
    """Rows that came and were not expected, with nothing like them."""
    near: tuple[tuple[Row, Row], ...] = ()
    """Rows that were expected, each with one that came instead and is like it."""

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected or self.near)


@dataclass(frozen=True)
class Outcome:
    """What came of a test."""

    case: Case
    seconds: float
    came: int = 0
    """How many results were compared."""
    difference: Difference = field(default_factory=Difference)
    error: PenstockError | None = None
    """Why it could not be run."""

    @property
    def is_fine(self) -> bool:
        """Whether the results are those that were expected."""
        return not self.difference and self.error is None
