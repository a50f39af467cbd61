"""Carries out entries one after the other, wherever they come from."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from penstock.grammar import ast
from penstock.grammar.errors import PenstockError
from penstock.grammar.files import read_source
from penstock.grammar.parser import parse_statement
from penstock.place import Place
from penstock.repl.commands import Value, find_command
from penstock.repl.console import Console
from penstock.repl.entries import Entry, entries


class Repl:
    """Statements are for the place, commands for the REPL itself; what comes out goes to the console."""

    def __init__(self, place: Place, console: Console) -> None:
        self.place = place
        self.console = console
        self._reading: list[Path] = []

    def do(self, entry: Entry) -> Value:
        """Carry out an entry; what is to be shown."""
        if entry.is_command:
            command, argument = find_command(entry.source)
            return command.do(self, argument)
        if isinstance(parse_statement(entry.source), ast.Select):
            return self.place.select(entry.source)
        return self.place.execute(entry.source)

    def do_all(self, found: Iterable[Entry]) -> None:
        """Carry out entries and show what comes out; the first mistake ends it."""
        for entry in found:
            began = time.perf_counter()
            self.console.show(self.do(entry))
            self.console.say_time(time.perf_counter() - began)

    def read(self, path: Path) -> None:
        """Carry out the entries of a file."""
        if path.resolve() in self._reading:
            raise PenstockError(
                f"'{path}' reads itself", hint="Take the  .read  of it out of the file.", label="reads-itself"
            )
        source = read_source(path)
        self._reading.append(path.resolve())
        try:
            self.do_all(entries(source.text.splitlines(keepends=True), source.name))
        finally:
            self._reading.pop()
