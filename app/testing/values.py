"""Values of tests: from text to what a column of a type holds, and back."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from penstock.grammar.durations import parse_duration
from penstock.grammar.errors import PenstockError

Value = Any
"""None, or what Python has for a type; of arrays, maps and structs their JSON."""

DAY = date(2026, 1, 1)
"""The day of times that are given without one."""
TIMES = "Write a time of the day such as 00:05 or 00:05:30.25, the time since midnight such as 5 s, or a date and time."
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,6})?)?")
_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_TRUTH = {"true": True, "false": False}
_NESTED = ("array<", "map<", "struct<")
_RELATIVE = {"float": 1e-6, "double": 1e-9}
"""How far numbers of a type that is not exact may be apart, in parts of themselves."""


def is_nested(type_: str) -> bool:
    """Whether a type has parts."""
    return type_.startswith(_NESTED)


def parse(text: str, type_: str, day: date = DAY) -> Value:
    """The value that a text stands for; an error without a place if it is none of that type.

    >>> parse("31", "double"), parse("00:05", "timestamp").isoformat()
    (31.0, '2026-01-01T00:05:00+00:00')
    """
    if type_ == "timestamp":
        return moment(text, day)
    try:
        return _parsed(text.strip(), text, type_)
    except (ValueError, KeyError, InvalidOperation):
        raise PenstockError(
            f"'{text}' is no {type_}", hint=_hint(type_), label="wrong-value"
        ) from None  # fmt: skip


def _parsed(bare: str, text: str, type_: str) -> Value:
    if type_ in _BITS:
        number = int(bare)
        if not -(2 ** (_BITS[type_] - 1)) <= number < 2 ** (_BITS[type_] - 1):
            raise ValueError
        return number
    if type_ in _RELATIVE:
        return float(bare)
    if type_.startswith("decimal"):
        return _decimal(bare, type_)
    if type_ == "boolean":
        return _TRUTH[bare.lower()]
    if type_ == "date":
        return date.fromisoformat(bare)
    return text


def _decimal(text: str, type_: str) -> Decimal:
    precision, scale = map(int, re.findall("[0-9]+", type_))
    number = Decimal(text)
    exact = number.quantize(Decimal(1).scaleb(-scale)) if number.is_finite() else number
    if exact != number or len(exact.as_tuple().digits) > precision:
        raise ValueError
    return exact


def _hint(type_: str) -> str:
    if type_ in _BITS:
        return f"Write a whole number of {_BITS[type_]} bits."
    if type_ == "boolean":
        return "Write true or false."
    return "Write it as 2026-01-31." if type_ == "date" else "Write a number that fits the type, such as 31.5."


def moment(text: str, day: date = DAY) -> datetime:
    """The time that a text stands for, in UTC: on that day, if the text names none.

    >>> [moment(text).isoformat(sep=" ") for text in ("00:05", "90 s", "2026-02-01 12:00")]
    ['2026-01-01 00:05:00+00:00', '2026-01-01 00:01:30+00:00', '2026-02-01 12:00:00+00:00']
    """
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    bare = text.strip()
    try:
        clock = _CLOCK.fullmatch(bare)
        if clock is not None:
            hours, minutes, seconds = (int(part or 0) for part in clock.group(1, 2, 3))
            if hours > 23 or minutes > 59 or seconds > 59:
                raise ValueError
            since = timedelta(
                hours=hours, minutes=minutes, seconds=seconds, microseconds=round(float(clock[4] or 0) * 1e6)
            )
            return midnight + since
        if re.fullmatch(r"[0-9.]+\s*[A-Za-z]+", bare):
            return midnight + timedelta(microseconds=parse_duration(bare))
        found = datetime.fromisoformat(bare)
        return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise PenstockError(f"'{text}' is not a time", hint=TIMES, label="bad-moment") from None


def nested(value: object) -> str:
    """An array, a map or a struct as what it is compared by."""
    return json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)


def from_result(value: Any, type_: str) -> Value:
    """A value that came out of a query."""
    if value is None or not is_nested(type_):
        return value
    return nested(dict(value) if type_.startswith("map<") else value)


def as_input(value: Value, type_: str) -> object:
    """A value as it is written into a file of JSON that a stream or a relation is read from."""
    if value is None:
        return None
    if is_nested(type_):
        return json.loads(value)
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")
    return str(value).lower() if isinstance(value, bool) else str(value)


def shown(value: Value, day: date = DAY) -> str:
    """A value as people read it; a time on that day without the day."""
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        text = value.strftime("%H:%M:%S.%f").removesuffix(".000000")
        return text if value.date() == day else f"{value:%Y-%m-%d} {text}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_exact(type_: str) -> bool:
    """Whether values of a type are the same or not, and never nearly the same."""
    return type_ not in _RELATIVE


def is_close(one: Value, other: Value, type_: str, tolerance: float = 0.0) -> bool:
    """Whether two values of a type count as the same."""
    if one is None or other is None or is_exact(type_):
        return bool(one == other)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=_RELATIVE[type_], abs_tol=tolerance)
