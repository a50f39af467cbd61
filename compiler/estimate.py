"""What is known or assumed of the data: rates, distinct values, and how much of a stream a selection accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.catalog import Catalog, Relation, Stream
from penstock.compiler.logical import Join, RelationScan
from penstock.compiler.scalar import PARAMETERS, Scalar, comparison_of
from penstock.compiler.shared import inputs_of

RATE = 1000.0
"""Rows a second of a stream nobody has measured."""
DISTINCT = 1000.0
"""Distinct values of a column nobody has measured."""
ROWS = 1000.0
"""Rows of a relation nobody has counted."""
_PART = {"=": None, "<>": 0.9, "<": 1 / 3, "<=": 1 / 3, ">": 1 / 3, ">=": 1 / 3}
_OTHER = 0.25


@dataclass(frozen=True)
class Measured:
    """What a run has measured: it wins over the catalog, and that over all rules of thumb."""

    rates: Mapping[str, float] = field(default_factory=dict)
    """Rows a second of event time, by stream."""
    distinct: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Distinct values, by stream and column."""
    selectivities: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """The fraction of rows accepted, by stream and `selection_text` of the conditions."""
    csys: float | None = None
    """The overhead of a row in an operator, in comparisons."""


@dataclass(frozen=True)
class Estimates:
    """Statistics that were measured, else those of the catalog, with an assumption in place of what is not known."""

    catalog: Catalog = field(default_factory=Catalog)
    measured: Measured = field(default_factory=Measured)

    @property
    def csys(self) -> float:
        """The overhead of a row in an operator, in comparisons."""
        return self.measured.csys or 0.0

    def rate(self, stream: str) -> float:
        """Rows a second."""
        entry = self.catalog.find(stream)
        known = entry.statistics.rate if isinstance(entry, Stream) else None
        return self.measured.rates.get(stream) or known or RATE

    def knows_rate(self, stream: str) -> bool:
        """Whether the rate is known, not assumed."""
        entry = self.catalog.find(stream)
        return stream in self.measured.rates or (isinstance(entry, Stream) and entry.statistics.rate is not None)

    def distinct(self, name: str, expression: Scalar) -> float:
        """Distinct values of an expression over a stream or relation."""
        entry = self.catalog.find(name)
        if not isinstance(entry, Stream | Relation) or len(expression.columns) != 1:
            return DISTINCT
        (ref,) = expression.columns
        if (name, ref.name) in self.measured.distinct:
            return self.measured.distinct[name, ref.name]
        known = {column.lower(): count for column, count in entry.statistics.distinct}
        return float(known.get(ref.name.lower(), DISTINCT))

    def distinct_of(self, join: Join, expression: Scalar) -> float:
        """Distinct values of an expression over one input of a join."""
        (alias,) = expression.inputs
        scan = next(scan for scan in inputs_of(join) if scan.alias == alias)
        return self.distinct(scan.relation if isinstance(scan, RelationScan) else scan.stream, expression)

    def rows(self, relation: str) -> float:
        """Rows of a relation."""
        entry = self.catalog.find(relation)
        known = entry.statistics.rows if isinstance(entry, Relation) else None
        return float(known) if known is not None else ROWS

    def selectivity(self, stream: str, conditions: Iterable[Scalar]) -> float:
        """The fraction of a stream's rows that meet all the conditions: as measured, or as though independent."""
        all_of = tuple(conditions)
        known = self.measured.selectivities.get((stream, selection_text(all_of)))
        if known is not None:
            return known
        fraction = 1.0
        for condition in all_of:
            fraction *= self._selectivity(stream, condition)
        return fraction

    def _selectivity(self, stream: str, condition: Scalar) -> float:
        known = self.measured.selectivities.get((stream, selection_text([condition])))
        if known is not None:
            return known
        op, left = comparison_of(condition)
        if op == "=" and left is not None:
            return 1 / self.distinct(stream, left)
        return _PART.get(op or "", _OTHER) or _OTHER


def selection_text(conditions: Iterable[Scalar]) -> str:
    """Conditions as one text, whatever their order and the numbers of their parameters."""
    return " AND ".join(sorted(_NUMBER.sub(f"{PARAMETERS}.c", condition.sql) for condition in conditions))


_NUMBER = re.compile(rf"\b{PARAMETERS}\.c\d+\b")
