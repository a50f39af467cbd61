"""The one error class for what the user can mend, and the one function that draws it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from penstock.grammar.source import Source, Span


class PenstockError(Exception):
    """The user's input is wrong: what was found, where, and what to do about it.

    `hint` says what was expected or what to do next, `label` names the kind of mistake.
    """

    def __init__(
        self,
        message: str,
        *,
        span: Span | None = None,
        source: Source | None = None,
        hint: str | None = None,
        label: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.source = source
        self.hint = hint
        self.label = label

    @property
    def errors(self) -> tuple[PenstockError, ...]:
        """Every single error in this one."""
        return (self,)

    def located(self, source: Source | None) -> PenstockError:
        """The same error, in that source unless it has one already."""
        for error in self.errors:
            error.source = error.source or source
        return self

    def __str__(self) -> str:
        return render(self)


class PenstockErrors(PenstockError):
    """Several errors found in one go."""

    def __init__(self, errors: Iterable[PenstockError]) -> None:
        self._errors = tuple(single for error in errors for single in error.errors)
        super().__init__("; ".join(error.message for error in self._errors))

    @property
    def errors(self) -> tuple[PenstockError, ...]:
        return self._errors


def raise_all(errors: Iterable[PenstockError]) -> None:
    """Raise the errors as one, if there are any: file by file, and in each from top to bottom."""
    found = [single for error in errors for single in error.errors]
    found.sort(key=lambda e: (e.source.name if e.source else "", e.span.start if e.span else 0))
    if len(found) == 1:
        raise found[0]
    if found:
        raise PenstockErrors(found)


def render(error: PenstockError) -> str:
    """An error as text: place, message, the line with carets under the span, the hint."""
    return "\n\n".join(_render_single(single) for single in error.errors)


def _render_single(error: PenstockError) -> str:
    lines = []
    source, span = error.source, error.span
    if source is None:
        lines.append(f"error: {error.message}")
    elif span is None:
        lines.append(f"{source.name}: error: {error.message}")
    else:
        number, column = source.position(span.start)
        lines.append(f"{source.name}:{number}:{column}: error: {error.message}")
        text = source.line(number)
        if text.strip():
            width = max(1, min(span.end - span.start, len(text) - column + 1))
            indent = "".join("\t" if c == "\t" else " " for c in text[: column - 1])
            lines += [f"  {text}", f"  {indent}{'^' * width}"]
    if error.hint:
        lines += [f"  {line}" for line in error.hint.splitlines()]
    return "\n".join(lines)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence that names the closest known name, or lists what there is."""
    names = sorted(set(known), key=str.lower)
    by_lower = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.65)
    if close:
        return f"Did you mean {by_lower[close[0]]}?"
    if not names:
        return ""
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"There is {shown}." if len(names) == 1 else f"There are {shown}."
