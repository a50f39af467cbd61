"""Where a piece of text stands: files of input and spans in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """A range of characters, `[start, end)`, in a source."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The range from the start of this span to the end of the other."""
        return Span(self.start, other.end)


NO_SPAN = Span(0, 0)


@dataclass(frozen=True)
class Source:
    """A text and the name under which the user knows it, usually a file's path."""

    name: str
    text: str

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if number <= len(lines) else ""
