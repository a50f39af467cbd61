"""What can come next where the cursor is: keywords by the grammar, names by what is known, files by what is there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from penstock.compiler.functions import AGGREGATES, SCALARS
from penstock.compiler.settings import OBJECTIVES, SHARING
from penstock.grammar.builder import SHOWN
from penstock.grammar.parser import Next, left_open, what_may_follow
from penstock.grammar.words import KEYWORDS, RESERVED, WORDS, is_bare, quoted
from penstock.names import Names
from penstock.repl.commands import COMMANDS, Command
from penstock.repl.entries import is_command, last_entry

_FORMATS = ("csv", "json", "orc", "parquet", "rate", "text")
_UNITS = ("ms", "sec", "min", "hour", "day")
_VALUES = {"sharing": SHARING, "objective": OBJECTIVES, "prefilter": ("true", "false")}
_CLAUSES = ("select", "from", "join", "where", "on", "by", "having", "window", "slide", "range", "lateness", "retain")
_NAME = r'(?:\w+|"[^"\n]+"|`[^`\n]+`)'
_PLACE = re.compile(r"\b(?:from|into)\s+[\w.]+\s+'([^'\n]*)$", re.IGNORECASE)
_ALIAS = re.compile(rf"(?:\bfrom|\bjoin|,)\s+({_NAME})(?:\s+(?:as\s+)?({_NAME}))?", re.IGNORECASE)


@dataclass(frozen=True)
class Suggestion:
    """A text that can stand in place of the last `length` characters before the cursor, and what it is."""

    text: str
    length: int
    kind: str


def suggestions(before: str, after: str, names: Names, root: Path) -> list[Suggestion]:
    """What can come where the cursor is, between two texts; files of sources are below a folder."""
    statement = last_entry(before)
    if is_command(statement):
        return list(_of_command(statement, names))
    mark = left_open(statement)
    place = _PLACE.search(statement)
    if place is not None and mark == "'":
        return _paths(place[1], root)
    if mark:
        return []
    word = re.search(r"\w*$", statement)
    assert word is not None
    head = statement[: word.start()]
    owner = re.search(rf"({_NAME})\.$", head)
    if owner is not None:
        found = _columns_of(owner[1], statement + after, names)
        return _matching(word[0], {"column": map(_bare, found)})
    follows = what_may_follow(head)
    if follows is None:
        return _matching(word[0], {"keyword": _cased(WORDS, word[0])})
    kinds: dict[str, Iterable[str]] = dict(_names_for(head, after, follows, names))
    return _matching(word[0], {**kinds, "keyword": _cased(follows.words, word[0])})


class StatementCompleter(Completer):
    """Completes statements and commands with the names that are known now."""

    def __init__(self, names: Callable[[], Names], root: Path) -> None:
        self._names = names
        self._root = root

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before, after = document.text_before_cursor, document.text_after_cursor
        for found in suggestions(before, after, self._names(), self._root):
            yield Completion(found.text, -found.length, display_meta=found.kind)


def _of_command(text: str, names: Names) -> Iterator[Suggestion]:
    """A command, or what comes after it."""
    name, space, argument = text.lstrip().partition(" ")
    if not space:
        yield from _matching(name, {"command": [command.name for command in COMMANDS.values()]})
        return
    command: Command | None = COMMANDS.get(name.lower())
    if command is None:
        return
    argument = argument.lstrip()
    if command.takes == "FILE":
        yield from _paths(argument, Path())
    elif command.takes.startswith("QUERY"):
        yield from _matching(argument, {"query": map(_bare, names.queries)})
    else:
        yield from _matching(argument, {command.name[1:]: command.choices})


def _names_for(head: str, after: str, follows: Next, names: Names) -> Iterator[tuple[str, Iterable[str]]]:
    """The names that can come after the beginning of a statement, by kind."""
    words = re.findall(r"\w+|[^\w\s]", head.lower())
    first, last = (words or [""])[0], (words or [""])[-1]
    if not follows.name:
        return
    clause = next((word for word in reversed(words) if word in _CLAUSES), "")
    if first == "show":
        yield "show", SHOWN
    elif first == "describe":
        yield from _by_kind(names)
    elif last in ("query", "stream", "relation") and first != "create":
        known = {"query": names.queries, "stream": names.streams, "relation": names.relations}[last]
        yield last, map(_bare, known)
    elif first == "set":
        setting = words[-2] if last == "=" else ""
        values = (value if value.isidentifier() else f"'{value}'" for value in _VALUES.get(setting, ()))
        yield ("value", values) if setting else ("setting", names.settings)
    elif last == "into" or (last == "from" and first == "create" and words[1:2] != ["query"]):
        yield "format", _FORMATS
    elif clause in ("window", "slide", "range", "lateness", "retain"):
        yield "unit", _UNITS if last.isdecimal() else ()
    elif clause in ("from", "join"):
        yield from _by_kind(names)
    elif clause:
        tables = _tables(head + after, names)
        columns = [name for table in tables.values() for name in table] or [c for t in names.inputs.values() for c in t]
        yield "column", map(_bare, dict.fromkeys(columns))
        yield "alias", [f"{alias}." for alias in tables]
        yield "function", [f"{name}(" for name in sorted({**AGGREGATES, **SCALARS})]


def _by_kind(names: Names) -> Iterator[tuple[str, Iterable[str]]]:
    """Everything that a query can read from."""
    yield "stream", map(_bare, names.streams)
    yield "relation", map(_bare, names.relations)
    yield "query", map(_bare, names.queries)


def _tables(statement: str, names: Names) -> dict[str, list[str]]:
    """What a statement reads from: the columns of each, by its alias."""
    known = {name.lower(): columns for name, columns in names.inputs.items()}
    found = {}
    for match in _ALIAS.finditer(statement):
        name, alias = match[1], match[2]
        columns = known.get(name.strip('"`').lower())
        if columns is not None:
            found[name if alias is None or alias.lower() in KEYWORDS else alias] = columns
    return found


def _columns_of(owner: str, statement: str, names: Names) -> list[str]:
    """The columns of an alias, or of a stream, relation or query by its name."""
    tables = {**names.inputs, **_tables(statement, names)}
    return next((columns for name, columns in reversed(tables.items()) if name.lower() == owner.lower()), [])


def _matching(prefix: str, texts: dict[str, Iterable[str]]) -> list[Suggestion]:
    return [
        Suggestion(text, len(prefix), kind)
        for kind, some in texts.items()
        for text in some
        if text.lstrip('"').lower().startswith(prefix.lower())
    ]


def _cased(words: Iterable[str], prefix: str) -> list[str]:
    """Keywords, in small letters for those who type them so."""
    return sorted(word.lower() if prefix.islower() else word.upper() for word in words)


def _bare(name: str) -> str:
    return name if is_bare(name, RESERVED) else quoted(name)


def _paths(prefix: str, root: Path) -> list[Suggestion]:
    """The files and folders whose path begins so."""
    folder, begun = os.path.split(prefix)
    try:
        found = sorted((root / Path(folder).expanduser()).iterdir())
    except OSError:
        return []
    return [
        Suggestion(f"{path.name}/" if path.is_dir() else path.name, len(begun), "folder" if path.is_dir() else "file")
        for path in found
        if path.name.startswith(begun) and (begun or not path.name.startswith("."))
    ]
