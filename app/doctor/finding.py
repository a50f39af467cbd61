"""What a check has found."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.grammar.errors import PenstockError

OK, WARNING, FAILED = "ok", "warning", "failed"


@dataclass(frozen=True)
class Finding:
    """A check, how it ended, what was found, and what to do about it."""

    check: str
    status: str
    found: str
    advice: str = ""


def ok(check: str, found: str) -> Finding:
    """All is well."""
    return Finding(check, OK, found)


def warning(check: str, found: str, advice: str) -> Finding:
    """It may go wrong."""
    return Finding(check, WARNING, found, advice)


def failed(check: str, found: str, advice: str) -> Finding:
    """It will go wrong."""
    return Finding(check, FAILED, found, advice)


def refused(check: str, error: PenstockError) -> Finding:
    """The first of the mistakes that were found."""
    first, *others = error.errors
    more = f" (and {len(others)} more)" if others else ""
    return failed(check, f"{first.message}{more}", (first.hint or "").replace("\n", " "))
