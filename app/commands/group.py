"""The commands as a group: the options that all of them share, their help, and how each of them ends."""

from __future__ import annotations

import errno
import functools
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from penstock.commands.common import SHARED
from penstock.grammar.errors import PenstockError, render
from penstock.verbosity import Verbosity, say, set_verbosity, verbosity

SECTIONS = {
    "First steps": ("demo", "init", "test", "doctor"),
    "Look before you run": ("check", "explain", "plan"),
    "Run": ("run", "results", "repl", "bench"),
}
"""The commands as the help groups them."""
INTERRUPTED = 130


def with_shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that all of them share; one that has a parameter of such a name is given it."""
    signature = inspect.signature(command, eval_str=True)
    own = {name: it.replace(kind=it.KEYWORD_ONLY) for name, it in signature.parameters.items()}
    shared = {
        name: own.get(name, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=type_))
        for name, type_ in SHARED.items()
    }

    @functools.wraps(command)
    def run(**given: Any) -> None:
        set_verbosity(_level(*(given[name] for name in SHARED)))
        command(**{name: value for name, value in given.items() if name in own})

    parameters = [*(it for name, it in own.items() if name not in shared), *shared.values()]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def help_and_examples(command: Callable[..., None]) -> tuple[str, str]:
    """A command's docstring: what it does, and its examples, a line for each, as they are to be shown."""
    text, _, examples = inspect.cleandoc(command.__doc__ or "").partition("\nExamples:\n")
    return text.strip(), f"\b\nExamples:\n{examples.rstrip()}" if examples else ""


class Commands(TyperGroup):
    """Shows the commands in sections, and turns the ways in which a command can end into exit codes."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections = {title: [name for name in names if name in self.commands] for title, names in SECTIONS.items()}
        shown = {name for names in sections.values() for name in names}
        sections["More"] = [name for name in self.list_commands(ctx) if name not in shown]
        width = max(map(len, self.commands))
        for title, names in sections.items():
            if names:
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(width), _summary(self.commands[name].help)) for name in names])

    def invoke(self, ctx: Any) -> Any:
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
            return done
        except PenstockError as error:
            _complain(render(error))
            if len(error.errors) > 1:
                _complain(f"\n{len(error.errors)} mistakes")
            if verbosity() is Verbosity.DEBUG and error.__cause__ is not None:
                _complain("".join(traceback.format_exception(error)))
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            _complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _write_no_more()
            raise typer.Exit(0) from None
        except Exception as error:
            if isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "exit_code"):
                raise  # typer has a word on it
            raise typer.Exit(_say_failure(error)) from None


def _say_failure(error: Exception) -> int:
    """The last resort: never a traceback without a word on what to do. The exit code."""
    from penstock.runtime.failures import failure

    if verbosity() is Verbosity.DEBUG:
        _complain("".join(traceback.format_exception(error)).rstrip())
    told = failure("this cannot be done", error)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        _write_no_more()
    if told is not None:
        _complain(render(told))
        return 1
    first = next(iter(str(error).strip().splitlines()), "")
    _complain(f"internal failure: {type(error).__name__}: {first}")
    _complain("Please report it; --debug or PENSTOCK_DEBUG=1 shows where it happened.")
    return 2


def _write_no_more() -> None:
    """Let what is still to be written to stdout go nowhere, so that the end of the process is quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _level(quiet: bool, verbose: bool, debug: bool) -> Verbosity:
    if quiet and (verbose or debug):
        raise typer.BadParameter("give it or --quiet, not both", param_hint="--debug" if debug else "--verbose")
    if debug or os.environ.get("PENSTOCK_DEBUG"):
        return Verbosity.DEBUG
    if verbose:
        return Verbosity.VERBOSE
    return Verbosity.QUIET if quiet else Verbosity.NORMAL


def _summary(text: str | None) -> str:
    """What a command does, in a line."""
    return re.split(r"[.:;](?:\s|$)", " ".join((text or "").split()), maxsplit=1)[0]


def _complain(text: str) -> None:
    """An error, which is said in any case."""
    say(text, Verbosity.QUIET)
