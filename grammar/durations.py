"""Durations: text such as `5 min` to microseconds and back."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation, Overflow

from penstock.grammar.errors import PenstockError, did_you_mean

MICROSECONDS = {
    unit: micros
    for micros, units in {
        1_000: ("ms", "millisecond", "milliseconds"),
        1_000_000: ("s", "sec", "secs", "second", "seconds"),
        60_000_000: ("min", "mins", "minute", "minutes"),
        3_600_000_000: ("h", "hour", "hours"),
        86_400_000_000: ("d", "day", "days"),
    }.items()
    for unit in units
}

_PRINTED = (
    (86_400_000_000, "d"),
    (3_600_000_000, "h"),
    (60_000_000, "min"),
    (1_000_000, "sec"),
    (1_000, "ms"),
)

EXPECTED = "a duration such as 5 min"
UNITS = "Units are ms, s or sec, min, h or hour, d or day."
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
LONGEST = 100 * 365 * 86_400_000_000


def to_microseconds(number: str, unit: str) -> int:
    """The length of `number unit`; an error without a place if it is no duration."""
    micros = MICROSECONDS.get(unit.lower())
    if micros is None:
        guess = did_you_mean(unit, MICROSECONDS) if len(unit) > 2 else ""
        raise PenstockError(
            f"unknown unit of time '{unit}'",
            hint=f"{guess}\n{UNITS}" if guess.endswith("?") else UNITS,
            label="unknown-unit",
        )
    if _NUMBER.fullmatch(number) is None:
        raise PenstockError(f"'{number}' is not a number", hint=f"Expected {EXPECTED}.", label="bad-duration")
    try:
        length = Decimal(number) * micros
    except (InvalidOperation, Overflow):  # an exponent beyond all bounds
        length = Decimal("Infinity")
    if abs(length) > LONGEST:
        raise PenstockError(
            f"{number} {unit} is longer than a hundred years",
            hint="Give a shorter duration.",
            label="duration-too-long",
        )
    if length != length.to_integral_value():
        raise PenstockError(
            f"{number} {unit} is not a whole number of microseconds",
            hint="Give fewer decimal places, or a smaller unit.",
            label="duration-too-fine",
        )
    return int(length)


def parse_duration(text: object) -> int:
    """The microseconds of a text such as `5 min`, `5min` or `0`."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]*)\s*", str(text))
    if match is None or (not match[2] and Decimal(match[1]) != 0):
        raise PenstockError(f"'{text}' is not a duration", hint=f"Expected {EXPECTED}. {UNITS}", label="bad-duration")
    return to_microseconds(match[1], match[2] or "s")


def format_duration(micros: int) -> str:
    """A duration in the largest unit that gives a short, exact number: `90 sec`, `1.5 sec`."""
    if micros == 0:
        return "0 sec"
    for size, unit in _PRINTED:
        if micros % size == 0:
            return f"{micros // size} {unit}"
    return f"{format(Decimal(micros) / 1000, 'f')} ms"
