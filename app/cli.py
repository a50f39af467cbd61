"""The command line.

Results go to stdout, messages to stderr. Exit codes: 0 fine, 1 the user's input is wrong, 2 misuse or an
internal failure, 130 interrupted.
"""

from __future__ import annotations

from typing import Annotated

import typer

from penstock import __version__
from penstock.commands.bench import bench
from penstock.commands.check import check
from penstock.commands.demo import demo
from penstock.commands.doctor import doctor
from penstock.commands.explain import explain
from penstock.commands.group import Commands, help_and_examples, with_shared_options
from penstock.commands.init import init
from penstock.commands.plan import plan
from penstock.commands.repl import repl
from penstock.commands.results import results
from penstock.commands.run import run
from penstock.commands.test import test

COMMANDS = (check, explain, plan, run, results, repl, test, bench, demo, init, doctor)

app = typer.Typer(
    name="penstock",
    cls=Commands,
    help="Many standing window queries over data streams, compiled into one shared plan.",
    epilog="New here?  penstock demo  shows it all in two minutes;  penstock COMMAND --help  shows examples.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in COMMANDS:
    text, examples = help_and_examples(command)
    app.command(help=text, epilog=examples)(with_shared_options(command))


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"penstock {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code."""
    app()
