"""The REPL at a terminal: a prompt with history, completion and colours, until Ctrl-D."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.filters import completion_is_selected
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from penstock.grammar.errors import PenstockError, render
from penstock.names import Names
from penstock.place import Place
from penstock.repl.commands import Quit
from penstock.repl.complete import StatementCompleter
from penstock.repl.entries import entries, is_whole
from penstock.repl.highlight import STYLE, StatementLexer
from penstock.repl.repl import Repl
from penstock.verbosity import Verbosity, say, verbosity


def talk(repl: Repl) -> None:
    """Ask for statements and commands until the user has had enough; no mistake ends it."""
    prompter = _Prompter(repl.place)
    say(_welcome(repl.place))
    while True:
        try:
            prompter.learn_names()
            repl.place.look_after_the_run()
            text = prompter.ask()
            _carry_out(repl, text)
        except (EOFError, Quit):
            return
        except KeyboardInterrupt:
            pass  # what was typed is given up
        except Exception as error:
            _complain(error)


def _carry_out(repl: Repl, text: str) -> None:
    try:
        repl.do_all(entries(text.splitlines(keepends=True), "<repl>"))
    except KeyboardInterrupt:
        say("")  # ^C stands where the prompt would


def _complain(error: Exception) -> None:
    """Say what went wrong; the REPL goes on."""
    if isinstance(error, PenstockError):
        say(render(error), Verbosity.QUIET)
        return
    if verbosity() is Verbosity.DEBUG:
        say("".join(traceback.format_exception(error)).rstrip())
    say(f"internal failure: {error!r}\nPlease report it; --debug shows where it happened.", Verbosity.QUIET)


def _welcome(place: Place) -> str:
    other = place.other_process
    where = "nothing runs; .run begins a run" if other is None else f"attached to the run of process {other}"
    return f"{place.name}: {where}\n.help lists the commands, Tab completes, Ctrl-D ends"


class _Prompter:
    """The prompt."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._names = Names()
        self._session: PromptSession[str] = PromptSession(
            multiline=True,
            history=_history(),
            lexer=StatementLexer(),
            completer=StatementCompleter(lambda: self._names, place.root),
            complete_while_typing=False,
            auto_suggest=AutoSuggestFromHistory(),
            key_bindings=_keys(),
            style=STYLE,
            prompt_continuation=lambda width, _, __: "… ".rjust(width),
            refresh_interval=1,
        )

    def ask(self) -> str:
        """What the user types: a command, or statements to their semicolon."""
        bar = self._bar()
        with patch_stdout(raw=True):
            return self._session.prompt(f"{self._place.name}> ", bottom_toolbar=bar)

    def learn_names(self) -> None:
        """Take over the names that are known now; a project that is broken for the moment has those of before."""
        try:
            self._names = self._place.names()
        except PenstockError as error:
            say(render(error), Verbosity.VERBOSE)

    def _bar(self) -> Callable[[], str]:
        other = self._place.other_process

        def text() -> str:
            steps = self._place.steps
            if steps is not None:
                return f"running, {steps:,} steps"
            return "nothing runs" if other is None else f"attached to the run of process {other}"

        return text


def _keys() -> KeyBindings:
    """Enter ends what is whole, and begins another line of what is not."""
    keys = KeyBindings()

    @keys.add("enter", filter=~completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_whole(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    @keys.add("enter", filter=completion_is_selected)
    def _(event: KeyPressEvent) -> Any:
        event.current_buffer.complete_state = None

    return keys


def _history() -> History:
    """What was typed before, also in earlier sessions, if there is a place to keep it."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "penstock"
    file = folder / "history"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.open("a").close()
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return FileHistory(str(file))
