"""What is typed or read, cut into entries: commands, a line each, and statements, which end with a semicolon."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.grammar.errors import PenstockError
from penstock.grammar.parser import left_open, split_statements, statement_end
from penstock.grammar.source import Source

_LEAD = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_ALONE = r"(?:help|quit|exit)(?=[ \t]*;?[ \t]*(?:\n|\Z))"
_COMMAND = re.compile(rf"({_LEAD})(\.|tail\b|{_ALONE})", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """A command or a statement, in its place: before it there is only space, so that lines and columns are right."""

    source: Source
    is_command: bool


def entries(lines: Iterable[str], name: str) -> Iterator[Entry]:
    """The entries of a text that is called so, each as soon as its last line is there."""
    begun = ""
    for line in lines:
        begun += line
        while (end := _end(begun)) is not None:
            yield from _entry(begun[:end], name)
            begun = _blank(begun[:end]) + begun[end:]
    yield from _entry(begun, name)


def is_command(text: str) -> bool:
    """Whether a text begins with a command."""
    return _COMMAND.match(text) is not None


def is_whole(text: str) -> bool:
    """Whether a text that is typed is all there: commands, and statements to their last semicolon."""
    rest = last_entry(text)
    return is_command(rest) or left_open(rest) in ('"', "`") or _is_empty(rest)


def last_entry(text: str) -> str:
    """The entry that a text ends with, as far as it is there."""
    while (end := _end(text)) is not None and end < len(text):
        text = text[end:]
    return text if end is None or is_command(text) else ""


def _end(text: str) -> int | None:
    """Where the first entry of a text ends: a statement with its semicolon, a command with its line."""
    command = _COMMAND.match(text)
    if command is None:
        return statement_end(text)
    line = text.find("\n", command.start(2)) + 1 or len(text)
    return line if command[2] == "." else statement_end(text[:line]) or line


def _entry(text: str, name: str) -> Iterator[Entry]:
    if not _is_empty(text):
        command = _COMMAND.match(text)
        plain = text if command is None else _blank(command[1]) + text[command.end(1) :].rstrip()
        yield Entry(Source(name, plain), command is not None)


def _is_empty(text: str) -> bool:
    """Whether there is no statement in a text, but for comments."""
    try:
        return not split_statements(Source("", text))
    except PenstockError:
        return False


def _blank(text: str) -> str:
    """As much space, and as many lines."""
    return re.sub(r"[^\n]", " ", text)
