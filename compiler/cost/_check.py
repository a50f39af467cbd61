"""Argument checks that the cost functions share."""

import math


def non_negative(name: str, value: float) -> None:
    """Refuse a negative, infinite or undefined number."""
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number of at least 0, not {value!r}")


def positive(name: str, value: float) -> None:
    """Refuse anything but a finite number above zero."""
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number above 0, not {value!r}")


def fraction(name: str, value: float) -> None:
    """Refuse anything outside [0, 1]."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be between 0 and 1, not {value!r}")
