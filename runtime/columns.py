"""How columns are called in Spark: the column Value of the input Temperature is `Temperature.Value`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from penstock.compiler.scalar import ColumnRef, Scalar, replaced

TIME = "_ts"
"""The time of a result."""
AT = "_at"
"""An input's event time in microseconds."""
RANK = "_rank"
"""Which row of its stream a row is, in the order of event time and position, counted from 1."""
SEEN = "_seen"
"""How many rows of a stream there are up to the event time of an input's row."""
REACH = "_reach"
"""How far down the chain a row goes, in microseconds."""
QUERY = "_query"


def quoted(name: str) -> str:
    """A column's name as Spark SQL."""
    return "`" + name.replace("`", "``") + "`"


def column(alias: str, name: str) -> str:
    """The name of an input's column."""
    return f"{alias}.{name}"


def flat_sql(scalar: Scalar, names: dict[ColumnRef, ColumnRef] | None = None) -> str:
    """A scalar's Spark SQL, over columns called after their inputs, or as `names` says."""
    own = {ref: ColumnRef("", column(*ref)) for ref in scalar.columns if ref.input}
    return replaced(scalar, {**own, **(names or {})}).sql


def all_of(conditions: Iterable[str]) -> str:
    """Conditions that must all hold; one that is NULL never does, and Spark would not take it for a condition."""
    return " AND ".join("FALSE" if condition == "NULL" else f"({condition})" for condition in conditions) or "TRUE"


def literal(value: object) -> str:
    """A constant as Spark SQL."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, float):
        return f"{value!r}D" if "e" not in repr(value) else f"CAST({value!r} AS DOUBLE)"
    return str(value)


def changing(value: int, over: str) -> str:
    """A number that differs from step to step, beside an expression that is a number too."""
    return looked_up([f"{value}L"], 0, over)


def looked_up(values: Iterable[str], position: int, over: str) -> str:
    """One of some constants of one type, beside an expression that is a number.

    Spark would write a constant into the code it makes, and so make and compile new code when it changes; what is
    looked up in an array stays out of the code.
    """
    return f"element_at(array({', '.join(values)}), CAST(({over}) & 0L AS INT) + {position + 1})"
