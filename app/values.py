"""Rows of Spark as values for people and for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.runtime.session import DataFrame


def values_of(rows: DataFrame) -> Iterator[list[Any]]:
    """The values of each row, as they come.

    Times are as Spark writes them, in the zone that queries are read in; Python's are in the local one.
    """
    quoted = {name: "`" + name.replace("`", "``") + "`" for name in rows.columns}
    shown = rows.select(
        *(
            rows[quoted[name]].cast("string").alias(name) if type_ == "timestamp" else rows[quoted[name]]
            for name, type_ in rows.dtypes
        )
    )
    return (list(row.asDict(recursive=True).values()) for row in shown.toLocalIterator())
