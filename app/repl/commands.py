"""The commands of the REPL, beside the statements of the language: a name, what it takes, what it does, its help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.grammar.errors import PenstockError, did_you_mean
from penstock.grammar.source import Source, Span
from penstock.outcome import Outcome
from penstock.place import Batch
from penstock.tables import FORMATS

if TYPE_CHECKING:
    from penstock.repl.repl import Repl

Value = Outcome | Iterator[Batch]
_SHOWN = 20
"""`.results` shows so many, unless told otherwise."""

_SPELLINGS = {"help": ".help", "quit": ".quit", "exit": ".quit", ".exit": ".quit"}
"""What people type who know another prompt."""


class Quit(Exception):
    """The user wants to leave."""


@dataclass(frozen=True)
class Command:
    """One command."""

    name: str
    takes: str
    """What comes after the name; in brackets what can be left out."""
    help: str
    do: Callable[[Repl, str], Value]

    @property
    def choices(self) -> tuple[str, ...]:
        """What can come after the name, if it is one of a few."""
        return tuple(self.takes.strip("[]").split("|")) if "|" in self.takes else ()


def find_command(source: Source) -> tuple[Command, str]:
    """The command that a line begins with, and what comes after it."""
    match = re.fullmatch(r"\s*(\S+?)(?:\s+(.*?))?[\s;]*", source.text)
    assert match is not None
    name, argument = match.groups("")
    span = Span(*match.span(2) if argument else match.span(1))
    command = COMMANDS.get(_SPELLINGS.get(name.lower(), name.lower()))
    if command is None:
        raise PenstockError(
            f"there is no command '{name}'",
            span=Span(*match.span(1)),
            source=source,
            hint=f"{did_you_mean(name, [command.name for command in COMMANDS.values()])}\n.help  says what they do.",
            label="unknown-command",
        )
    needed, wrong = command.takes[:1] not in ("", "["), command.choices and argument not in ("", *command.choices)
    if (needed and not argument) or (argument and not command.takes) or wrong:
        raise PenstockError(
            f"{name} cannot be followed by '{argument}'" if argument else f"{name} is to be followed by something",
            span=span,
            source=source,
            hint=f"Write  {command.name} {command.takes}".rstrip(),
            label="bad-command",
        )
    return command, argument


def _help(repl: Repl, _: str) -> Value:
    rows = [{"command": f"{it.name} {it.takes}".rstrip(), "what it does": it.help} for it in COMMANDS.values()]
    said = (
        "Statements end with a semicolon: CREATE, ALTER and DROP QUERY, SHOW QUERIES, DESCRIBE, EXPLAIN, SET.\n"
        "A SELECT alone shows its results as they come, until Ctrl-C."
    )
    return Outcome(rows, said)


def _read(repl: Repl, argument: str) -> Value:
    path = Path(argument.strip("'\"")).expanduser()
    repl.read(path)
    return Outcome([])


def _mode(repl: Repl, argument: str) -> Value:
    repl.console.mode = argument or repl.console.mode
    return Outcome([], f"rows are shown as {repl.console.mode}")


def _timing(repl: Repl, argument: str) -> Value:
    repl.console.timing = argument == "on" if argument else not repl.console.timing
    return Outcome([], f"timing is {'on' if repl.console.timing else 'off'}")


def _run(repl: Repl, _: str) -> Value:
    repl.place.start()
    return Outcome([], "it runs, until  .stop  or the end of this REPL")


def _stop(repl: Repl, _: str) -> Value:
    if not repl.place.stop():
        other = repl.place.other_process
        raise PenstockError(
            "no run was begun here",
            hint="Begin one with  .run" if other is None else f"The run belongs to process {other}: stop it there.",
            label="nothing-to-stop",
        )
    return Outcome([], "the run has ended")


def _results(repl: Repl, argument: str) -> Value:
    name, _, count = argument.partition(" ")
    if count and not count.strip().isdecimal():
        raise PenstockError(f"'{count}' is not a number of rows", hint="Write  .results hot 5", label="bad-command")
    batches = list(repl.place.results(_unquoted(name), int(count or _SHOWN)))
    columns = batches[0].columns
    return Outcome([dict(zip(columns, row, strict=True)) for batch in batches for row in batch.rows])


def _tail(repl: Repl, argument: str) -> Value:
    return repl.place.tail(_unquoted(argument))


def _quit(repl: Repl, _: str) -> Value:
    raise Quit


def _unquoted(name: str) -> str:
    return name[1:-1] if name[:1] in ('"', "`") and name[-1:] == name[:1] else name


COMMANDS = {
    command.name.lower(): command
    for command in (
        Command("TAIL", "QUERY", "shows the results of a query as they come, until Ctrl-C", _tail),
        Command(".results", "QUERY [NUMBER]", f"shows the last results of a query, {_SHOWN} or so many", _results),
        Command(".run", "", "begins a run here, in the background", _run),
        Command(".stop", "", "ends that run, after the step that is under way", _stop),
        Command(".read", "FILE", "carries out the statements and commands of a file", _read),
        Command(".mode", f"[{'|'.join(FORMATS)}]", "shows rows this way from now on", _mode),
        Command(".timing", "[on|off]", "says after each statement how long it took", _timing),
        Command(".help", "", "shows this", _help),
        Command(".quit", "", "ends the REPL, as Ctrl-D does", _quit),
    )
}
"""All commands, by their names in small letters."""
