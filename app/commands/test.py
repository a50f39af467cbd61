"""`penstock test`: the tests of queries."""

from __future__ import annotations

import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from penstock.api import compiled
from penstock.commands.common import Quiet, choice, count, refuse_missing
from penstock.compiler.program import Program
from penstock.grammar.errors import PenstockError
from penstock.project import TEST_SUFFIX, Project, find_project
from penstock.testing.model import Case, Outcome
from penstock.testing.read import read_cases
from penstock.testing.report import FORMATS, as_json, as_junit, as_text
from penstock.verbosity import say

_QUICK = (("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),)
"""Tests are over before it would pay that Java compiles thoroughly: this halves their time."""


def test(
    targets: Annotated[
        list[Path] | None,
        typer.Argument(
            help=f"A project's folder, or *{TEST_SUFFIX} files. The project around the current folder when not given.",
            metavar="PATH",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option("--filter", "-k", metavar="TEXT", help="Only tests with this in their or their query's name."),
    ] = None,
    output: Annotated[str, choice(FORMATS, "--format", "-f", help="How to write what came of them.")] = "text",
    quiet: Quiet = False,
) -> None:
    """Run the tests of queries: the rows they give, and the results that must come.

    The tests of  queries/hot.cql  are in  queries/hot.test.yml . They run on Spark with rows of their own, and leave
    the project's sources and its state alone. The exit code is 1 if a test fails.

    Examples:
      penstock test                        all tests of the project around the current folder
      penstock test queries/hot.test.yml   those of one file
      penstock test -k hour                those with "hour" in their name
      penstock test -f junit > tests.xml
    """
    paths = targets or [Path()]
    project, files = _files(paths)
    program = project.program()
    cases = [case for case in read_cases(files, compiled(program)) if pattern is None or _is_meant(case, pattern)]
    if not cases:
        hint = (
            f"Write one into {project.queries.name}/NAME{TEST_SUFFIX}." if pattern is None else "Give another --filter."
        )
        raise PenstockError("there is no test to run", hint=hint, label="no-test")
    outcomes = _run(cases, program, project, quiet=quiet)
    if output == "text":
        as_text(outcomes, Console(soft_wrap=False), failed_only=quiet)
    elif output == "json":
        for line in as_json(outcomes):
            typer.echo(line)
    else:
        typer.echo(as_junit(outcomes))
    if not all(outcome.is_fine for outcome in outcomes):
        raise typer.Exit(1)


def _files(paths: list[Path]) -> tuple[Project, list[Path]]:
    """The project that paths belong to, and the files of tests that they mean."""
    for path in paths:
        refuse_missing(path)
    if any(path.is_dir() for path in paths) and len(paths) > 1:
        raise typer.BadParameter(f"give one project's folder, or *{TEST_SUFFIX} files", param_hint="PATH")
    project = find_project(paths[0])
    if paths[0].is_dir():
        return project, [_as_seen_from_here(file) for file in project.test_files()]
    for path in paths:
        if not path.name.endswith(TEST_SUFFIX):
            raise PenstockError(
                f"'{path}' is no file of tests",
                hint=f"Give files whose names end in {TEST_SUFFIX}.",
                label="no-test-file",
            )
    return project, paths


def _as_seen_from_here(file: Path) -> Path:
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file


def _is_meant(case: Case, pattern: str) -> bool:
    """Whether a test has a text in its name or its query's, or is matched by it as a pattern."""
    names = (case.name.lower(), case.query.lower())
    return any(pattern.lower() in name or fnmatch(name, pattern.lower()) for name in names)


def _run(cases: list[Case], program: Program, project: Project, *, quiet: bool) -> list[Outcome]:
    """What came of the tests, in the order they are written in; how far it is, on stderr."""
    from penstock.runtime.session import spark_session
    from penstock.testing.run import run_cases

    began = time.monotonic()
    say("starting Spark")
    spark = spark_session((*_QUICK, *project.spark))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shows = sys.stderr.isatty() and not quiet
    found: dict[int, Outcome] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shows) as progress:
        task = progress.add_task("tests", total=len(cases))
        for outcome in run_cases(cases, program, spark):
            found[id(outcome.case)] = outcome
            progress.advance(task)
    failed = sum(not outcome.is_fine for outcome in found.values())
    said = f"{count(failed, 'test')} of {len(cases)} failed" if failed else f"{count(len(cases), 'test')}, all fine"
    say(f"{said}, in {time.monotonic() - began:.1f} s")
    return [found[id(case)] for case in cases]
