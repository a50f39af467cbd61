"""Projects: a folder with `penstock.yml`, a catalog and queries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.catalog import Catalog, load_catalog
from penstock.catalog.nodes import Node, read_yaml
from penstock.compiler.program import Program, Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.errors import PenstockError, did_you_mean, raise_all
from penstock.grammar.files import read_source

FILE = "penstock.yml"
KEYS = ("name", "state", "catalog", "queries", "settings", "spark")
QUERY_SUFFIX = ".cql"
TEST_SUFFIX = ".test.yml"


@dataclass(frozen=True)
class Project:
    """Where a project's parts are, and its settings."""

    root: Path
    name: str
    state: Path
    catalog: Path
    queries: Path
    settings: Settings
    spark: tuple[tuple[str, str], ...] = ()
    remote: str | None = None
    """The state folder, if it is not on this machine: a path with a scheme."""

    def query_files(self) -> list[Path]:
        """The files of queries, sorted."""
        return self._files(QUERY_SUFFIX)

    def test_files(self) -> list[Path]:
        """The files of tests, which are beside those of queries, sorted."""
        return self._files(TEST_SUFFIX)

    def _files(self, suffix: str) -> list[Path]:
        if self.queries.is_file():
            raise PenstockError(
                f"'{self.queries}' is a file, and queries are in a folder",
                hint="Name the folder with  queries:  in penstock.yml.",
                label="no-folder",
            )
        if not self.queries.is_dir():
            return []
        return sorted(file for file in self.queries.glob(f"*{suffix}") if not file.name.startswith("."))

    def program(self) -> Program:
        """The project's catalog and queries; all the errors of all the files at once."""
        errors: list[PenstockError] = []
        catalog = Catalog()
        try:
            catalog = load_catalog(self.catalog) if self.catalog.exists() else Catalog()
        except PenstockError as error:
            errors.append(error)
        try:
            program = read_program(scripts(self.query_files()), catalog, self.settings)
        except PenstockError as error:
            errors.append(error)
        raise_all(errors)
        return program


def find_project(start: Path) -> Project:
    """The project in a folder or in the nearest folder above it."""
    if not start.exists():
        raise PenstockError(f"there is no file or folder '{start}'", hint="Check the path.", label="no-such-file")
    folder = start.resolve()
    if folder.is_file():
        folder = folder.parent
    for candidate in (folder, *folder.parents):
        if (candidate / FILE).is_file():
            return _read(candidate)
    raise PenstockError(
        f"there is no {FILE} in {start} or in a folder above it",
        hint="Go to a project's folder, or make one with  penstock init my-project",
        label="no-project",
    )


def scripts(files: list[Path]) -> list[Script]:
    """Query files as scripts; a bare SELECT is called as its file."""
    found: list[Script] = []
    errors: list[PenstockError] = []
    for file in files:
        try:
            found.append(Script(file.stem, read_source(file)))
        except PenstockError as error:
            errors.append(error)
    raise_all(errors)
    return found


def _read(root: Path) -> Project:
    source = read_source(root / FILE)
    node = read_yaml(source)
    errors: list[PenstockError] = []
    keys = _entries(node, errors)
    for key, value in keys.items():
        if key not in KEYS:
            hint = did_you_mean(key, KEYS)
            errors.append(value.place.error("unknown key", hint=hint, label="unknown-key", on_key=True))
    texts = {
        key: _text(keys[key], errors)
        for key in ("name", "state", "catalog", "queries")
        if key in keys and keys[key].kind != "nothing"
    }
    settings = Settings()
    for key, value in _entries(keys["settings"], errors).items() if "settings" in keys else ():
        try:
            settings = settings.with_text(key, value.text)
        except PenstockError as error:
            errors.append(value.place.error(error.message, hint=error.hint, label=error.label))
    spark = _entries(keys["spark"], errors) if "spark" in keys else {}
    raise_all(errors)
    state = texts.get("state", ".penstock")
    return Project(
        root,
        texts.get("name", root.name),
        root / state,
        root / texts.get("catalog", "catalog"),
        root / texts.get("queries", "queries"),
        settings,
        tuple(sorted((key, value.text) for key, value in spark.items())),
        state if "://" in state else None,
    )


def _entries(node: Node, errors: list[PenstockError]) -> dict[str, Node]:
    if node.kind == "nothing":
        return {}
    if node.kind != "mapping":
        errors.append(
            node.place.error(
                f"expected a mapping, found {node.describe()}", hint="Write lines of  key: value.", label="wrong-kind"
            )
        )
        return {}
    return node.entries(errors)


def _text(node: Node, errors: list[PenstockError]) -> str:
    if node.kind in ("mapping", "list"):
        errors.append(
            node.place.error(f"expected a text, found {node.describe()}", hint="Write  key: value.", label="wrong-kind")
        )
    return node.text
