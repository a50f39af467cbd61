"""How much is said: one level for the whole process, which every command's options set."""

from __future__ import annotations

import sys
from enum import IntEnum


class Verbosity(IntEnum):
    """From errors only to everything."""

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2
    DEBUG = 3


_level = Verbosity.NORMAL


def verbosity() -> Verbosity:
    """How much is to be said now."""
    return _level


def set_verbosity(level: Verbosity) -> None:
    """Say so much from now on."""
    global _level
    _level = level


def say(text: str, level: Verbosity = Verbosity.NORMAL) -> None:
    """A message on stderr, if so much is to be said."""
    if _level >= level:
        print(text, file=sys.stderr)
