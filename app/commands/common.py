"""What commands share: arguments, and how they find what they work on."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.api import CompiledQueries, compiled
from penstock.catalog import Catalog, load_catalog
from penstock.compiler.program import Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source
from penstock.project import FILE as PROJECT_FILE
from penstock.project import find_project, scripts
from penstock.session import Session

Targets = Annotated[
    list[Path] | None,
    typer.Argument(
        help="A project's folder, or .cql files. The project around the current folder when not given.",
        metavar="PATH",
    ),
]
ProjectFolder = Annotated[
    Path | None,
    typer.Argument(
        help="A project's folder. The project around the current folder when not given.",
        metavar="FOLDER",
        callback=lambda path: _project_folder(path),
    ),
]
CatalogOption = Annotated[
    Path | None,
    typer.Option("--catalog", "-c", help="A folder or file of YAML, instead of the project's catalog."),
]


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show results and errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show more, Spark's warnings too.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show everything; keep Spark's log in a file.")]
SHARED = {"quiet": Quiet, "verbose": Verbose, "debug": Debug}
"""The options that every command has, without saying so; one that has such a parameter is given it."""


def one_of(value: str, choices: tuple[str, ...], option: str) -> str:
    """The value of an option that takes one of a few."""
    if value not in choices:
        close = difflib.get_close_matches(value, choices, n=1)
        guess = f"; did you mean {close[0]}?" if close else ""
        raise typer.BadParameter(f"give {' or '.join(choices)}{guess}", param_hint=option)
    return value


def choice(choices: tuple[str, ...], *names: str, help: str) -> Any:
    """An option that takes one of a few values, which the shell completes."""
    return typer.Option(
        *names,
        help=help,
        metavar="|".join(choices),
        callback=lambda value: value if value is None else one_of(value, choices, names[0]),
        autocompletion=lambda: list(choices),
    )


def query_names(context: typer.Context) -> list[str]:
    """The names of the queries of the project at hand, for the shell to complete; none if something is wrong."""
    targets = [*(context.params.get("targets") or ()), *context.args, Path()]  # args: an option waits for its value
    try:
        with Session(Path(targets[0])) as session:
            return list(session.queries)
    except PenstockError:
        return []


def count(number: int, one: str, many: str | None = None) -> str:
    """A number of things, in words."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def refuse_missing(path: Path) -> None:
    """Raise an error if there is nothing at a path."""
    if not path.exists():
        raise PenstockError(f"there is no file or folder '{path}'", hint="Check the path.", label="no-such-file")


def _project_folder(path: Path | None) -> Path | None:
    """The folder that was given; a file in it is most likely meant otherwise."""
    if path is not None and path.is_file() and path.name != PROJECT_FILE:
        raise PenstockError(
            f"'{path}' is a file, and this takes a project's folder",
            hint=f"Give the folder that {PROJECT_FILE} is in, or nothing when you are in it.",
            label="no-folder",
        )
    return path


def compile_targets(targets: list[Path] | None, catalog: Path | None) -> CompiledQueries:
    """Compile a project, or files with the catalog of the project around them."""
    paths = targets or [Path()]
    for path in paths:
        refuse_missing(path)
    if len(paths) == 1 and paths[0].is_dir():
        project = find_project(paths[0])
        if catalog is not None:
            return compiled(read_program(scripts(project.query_files()), load_catalog(catalog), project.settings))
        return compiled(project.program())
    if any(path.is_dir() for path in paths):
        raise typer.BadParameter("give one project's folder, or .cql files", param_hint="targets")
    known, settings = _surroundings(paths[0], catalog)
    return compiled(read_program(scripts(paths), known, settings))


def compile_text(text: str, catalog: Path | None) -> CompiledQueries:
    """Compile a text with the catalog of the project around here."""
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
