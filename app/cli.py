"""The command line.

Results go to stdout, messages to stderr. Exit codes: 0 fine, 1 the user's input is wrong, 2 misuse or an
internal failure, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from penstock import __version__
from penstock.commands.check import check
from penstock.commands.demo import demo
from penstock.commands.explain import explain
from penstock.commands.plan import plan
from penstock.commands.results import results
from penstock.commands.run import run
from penstock.grammar.errors import PenstockError, render

COMMANDS = (check, explain, plan, run, results, demo)

app = typer.Typer(
    name="penstock",
    help="Many standing window queries over data streams, compiled into one shared plan.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in COMMANDS:
    app.command()(command)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"penstock {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app()
    except PenstockError as error:
        print(render(error), file=sys.stderr)
        many = len(error.errors)
        if many > 1:
            print(f"\n{many} mistakes", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:  # the last resort: never a traceback without a word on what to do
        if os.environ.get("PENSTOCK_DEBUG"):
            raise
        print(f"internal failure: {type(error).__name__}: {error}", file=sys.stderr)
        print("Please report it; PENSTOCK_DEBUG=1 shows where it happened.", file=sys.stderr)
        sys.exit(2)
