"""The command line.

Results go to stdout, messages to stderr. Exit codes: 0 fine, 1 the user's input is wrong, 2 misuse or an
internal failure, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from penstock import __version__
from penstock.api import FORMATS, KINDS, CompiledQueries, compiled
from penstock.catalog import Catalog, load_catalog
from penstock.compiler.program import Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.durations import parse_duration
from penstock.grammar.errors import PenstockError, did_you_mean, render
from penstock.grammar.source import Source
from penstock.preview import preview
from penstock.project import find_project, scripts
from penstock.running import RESULT_FORMATS, run_session, show_results
from penstock.session import Session
from penstock.statements import program_after

app = typer.Typer(
    name="penstock",
    help="Many standing window queries over data streams, compiled into one shared plan.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Targets = Annotated[
    list[Path] | None,
    typer.Argument(help="A project's folder, or .cql files. The project around the current folder when not given."),
]
ProjectFolder = Annotated[
    Path | None,
    typer.Argument(help="A project's folder. The project around the current folder when not given."),
]
CatalogOption = Annotated[
    Path | None,
    typer.Option("--catalog", "-c", help="A folder or file of YAML, instead of the project's catalog."),
]


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"penstock {__version__}")
        raise typer.Exit


@app.command()
def check(
    targets: Targets = None,
    catalog: CatalogOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing when all is well.")] = False,
) -> None:
    """Compile every query of a project or of some files, and say what is wrong.

    Examples:  penstock check;  penstock check my-project;  penstock check queries/hot.cql
    """
    result = _compile(targets, catalog)
    if not quiet:
        streams, relations = len(result.catalog.streams), len(result.catalog.relations)
        typer.echo(
            f"{_count(len(result), 'query', 'queries')}, {_count(streams, 'stream')} and "
            f"{_count(relations, 'relation')}: no mistakes",
            err=True,
        )


@app.command()
def explain(
    targets: Targets = None,
    catalog: CatalogOption = None,
    query: Annotated[list[str] | None, typer.Option("--query", "-q", help="Only this query; may be repeated.")] = None,
    text: Annotated[str | None, typer.Option("--sql", "-e", help="Explain this SELECT instead of files.")] = None,
    kind: Annotated[str, typer.Option("--kind", "-k", help="logical, shared, physical or cost.")] = "logical",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also show what each rule changed.")] = False,
    output: Annotated[str, typer.Option("--format", "-f", help="text, json or mermaid.")] = "text",
) -> None:
    """Show the plans of queries: each one's own, the plan they share, what is run, or what it costs.

    Examples:  penstock explain;  penstock explain --query hot --kind cost;  penstock explain -k physical -f mermaid;
    penstock explain -e "SELECT * FROM Temperature"
    """
    if output not in FORMATS:
        raise typer.BadParameter(f"give {' or '.join(FORMATS)}", param_hint="--format")
    if kind not in KINDS:
        raise typer.BadParameter(f"give {' or '.join(KINDS)}", param_hint="--kind")
    if text is not None and targets:
        raise typer.BadParameter("give either a SELECT or files", param_hint="--sql")
    result = _compile(targets, catalog) if text is None else _compile_text(text, catalog)
    chosen = list(result) if not query else [_known(name, result) for name in query]
    if not chosen:
        raise PenstockError(
            "there is no query to explain", hint="Give a SELECT, or put one into queries/name.cql.", label="no-query"
        )
    typer.echo(result.only(chosen).explain(kind, verbose=verbose, format=output))


@app.command()
def plan(
    project: ProjectFolder = None,
    statement: Annotated[
        str | None, typer.Option("--sql", "-e", help="What this CREATE, ALTER, DROP or SET would do, instead.")
    ] = None,
) -> None:
    """Show what the next run would change of the plan in force, before it does.

    It says which queries come, change and go, by which stages, what state and work the cost model predicts before
    and after, and from when on new queries are complete.

    Examples:  penstock plan;  penstock plan -e "ALTER QUERY hot SET WINDOW 10 min"
    """
    with Session(project or Path()) as session:
        typer.echo(preview(session, session.program if statement is None else program_after(session, statement)))


@app.command()
def run(
    project: Annotated[
        Path | None, typer.Argument(help="A project's folder; the one around here when not given.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Process what is available, then stop.")] = False,
    drain: Annotated[bool, typer.Option("--drain", help="Like --once, then close every window.")] = False,
    duration: Annotated[str | None, typer.Option("--for", help="Stop after a time, such as 30s.")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a live display.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")] = False,
) -> None:
    """Run the queries of a project; the results go into its state folder, or where INSERT INTO says.

    A run goes on where the last one ended. While it runs, a file that appears in queries/, changes or goes away
    registers, alters or drops its queries. Ctrl-C stops it after the step that is under way.

    Examples:  penstock run;  penstock run my-project --once;  penstock run --for 30s
    """
    seconds = None if duration is None else parse_duration(duration) / 1e6
    with Session(project or Path()) as session:
        run_session(session, once=once, drain=drain, seconds=seconds, plain=plain, quiet=quiet)


@app.command()
def results(
    query: Annotated[str, typer.Argument(help="The name of the query.")],
    project: Annotated[
        Path | None, typer.Argument(help="A project's folder; the one around here when not given.")
    ] = None,
    output: Annotated[str, typer.Option("--format", "-f", help="table, csv, json or parquet.")] = "table",
    since: Annotated[str | None, typer.Option("--since", help="Only results of this time or later.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="At most so many, the last ones.")] = None,
    target: Annotated[Path | None, typer.Option("--output", "-o", help="The folder for parquet.")] = None,
) -> None:
    """Show the results of a query.

    Examples:  penstock results hot;  penstock results hot -f csv > hot.csv;  penstock results hot -f parquet -o hot/
    """
    if output not in RESULT_FORMATS:
        raise typer.BadParameter(f"give {' or '.join(RESULT_FORMATS)}", param_hint="--format")
    if output == "parquet" and target is None:
        raise typer.BadParameter("parquet needs a folder to write to", param_hint="--output")
    with Session(project or Path()) as session:
        show_results(session, query, output, since=since, limit=limit, target=target)


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to write the project of the demonstration.")] = Path(
        "penstock-demo"
    ),
) -> None:
    """Write a small project with data, run it, and show its results and what sharing saved.

    Example:  penstock demo
    """
    from penstock.demo import run_demo

    run_demo(folder)


def _known(name: str, result: CompiledQueries) -> str:
    for known in result:
        if known.lower() == name.lower():
            return known
    raise PenstockError(
        f"there is no query called '{name}'",
        hint=did_you_mean(name, result) or "There are none.",
        label="unknown-query",
    )


def _compile(targets: list[Path] | None, catalog: Path | None) -> CompiledQueries:
    """Compile a project, or files with the catalog of the project around them."""
    paths = targets or [Path()]
    for path in paths:
        if not path.exists():
            raise PenstockError(f"there is no file or folder '{path}'", hint="Check the path.", label="no-such-file")
    if len(paths) == 1 and paths[0].is_dir():
        project = find_project(paths[0])
        if catalog is not None:
            return compiled(read_program(scripts(project.query_files()), load_catalog(catalog), project.settings))
        return compiled(project.program())
    if any(path.is_dir() for path in paths):
        raise typer.BadParameter("give one project's folder, or .cql files", param_hint="targets")
    known, settings = _surroundings(paths[0], catalog)
    return compiled(read_program(scripts(paths), known, settings))


def _compile_text(text: str, catalog: Path | None) -> CompiledQueries:
    known, settings = _surroundings(Path(), catalog)
    return compiled(read_program([Script("query", Source("<sql>", text))], known, settings))


def _surroundings(path: Path, catalog: Path | None) -> tuple[Catalog, Settings]:
    """The catalog and settings that apply to a file: those of the project around it, if there is one."""
    if catalog is not None:
        return load_catalog(catalog), Settings()
    try:
        project = find_project(path)
    except PenstockError as error:
        if error.label != "no-project":
            raise
        return Catalog(), Settings()
    return load_catalog(project.catalog) if project.catalog.exists() else Catalog(), project.settings


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


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
