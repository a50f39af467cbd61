"""docs/errors.md against the code: it has every label, and its examples make the mistakes it says."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

import penstock
from penstock import cli
from penstock.catalog import load_catalog, parse_catalog
from penstock.commands.group import Commands
from penstock.grammar.errors import PenstockError
from penstock.grammar.mistake_table import MISTAKES
from penstock.runtime.session import SparkSession
from penstock.session import Session

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "errors.md"
TEXT = PAGE.read_text(encoding="utf-8")
CATALOG = load_catalog(ROOT / "catalog")
FOLDERS = ("app", "catalog", "compiler", "grammar", "runtime")
TREES = {path: ast.parse(path.read_text("utf-8")) for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
ERRORS = ("PenstockError", "CatalogError", "error", "fail")
"""What makes an error; they take a label by its name."""
TICKS = "CREATE STREAM Ticks (value BIGINT, timestamp TIMESTAMP) FROM rate; SELECT value FROM Ticks"


def _calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Every call, by the last part of what is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""), node


def _texts(node: ast.AST | None) -> set[str]:
    """The texts that an expression may give: one, or one of two."""
    if isinstance(node, ast.IfExp):
        return _texts(node.body) | _texts(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def _places(tree: ast.AST) -> dict[str, int]:
    """Functions of a file that take a label by its place, and that place; those of a class do not count `self`."""
    methods = {id(item) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for item in node.body}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = [arg.arg for arg in node.args.args]
            if "label" in names:
                found[node.name] = names.index("label") - (id(node) in methods)
    return found


def _labels() -> set[str]:
    """The labels in the source: given by name, by place, or as what a parameter is when it is left out."""
    found = {mistake.label for mistake in MISTAKES}
    for tree in TREES.values():
        places = _places(tree)
        for name, call in _calls(tree):
            for keyword in call.keywords:
                found |= _texts(keyword.value) if keyword.arg == "label" else set()
            if name in places and places[name] < len(call.args):
                found |= _texts(call.args[places[name]])
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                given = dict(zip((arg.arg for arg in node.args.kwonlyargs), node.args.kw_defaults, strict=True))
                found |= _texts(given.get("label"))
    return found


def _rows(text: str) -> list[tuple[str, str, list[str]]]:
    """The rows of the page's tables: how examples are tried, the label, the examples."""
    found = []
    for kind, table in re.findall(r"(?:^<!-- (\w+) -->\n)?^(\| label (?:.*\n)(?:\|.*\n)*)", text, re.M):
        for row in table.splitlines()[2:]:
            cells = [cell.strip() for cell in row.strip("|").split(" | ")]
            found.append((kind, cells[0].strip("` "), re.findall(r"`([^`]+)`", cells[3]) if kind else []))
    return found


ROWS = _rows(TEXT)


def test_every_label_of_the_source_is_on_the_page() -> None:
    labels = [label for _, label, _ in ROWS]
    assert len(labels) == len(set(labels))
    assert set(labels) == _labels()


def test_every_error_has_a_label() -> None:
    without = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path, tree in TREES.items()
        for name, call in _calls(tree)
        if name in ERRORS and any(k.arg == "hint" for k in call.keywords)
        if not any(keyword.arg in ("label", None) for keyword in call.keywords)
    ]
    assert without == []


def test_the_texts_that_do_not_parse_are_those_of_the_grammar() -> None:
    """PENSTOCK_UPDATE_GOLDEN=1 writes them into the page."""
    lines = ["| label | says | do | example |\n", "|---|---|---|---|\n"]
    for it in MISTAKES:
        said, do = (" ".join(text.split()) for text in (it.message.replace("{found}", "…"), it.hint))
        lines.append(f"| `{it.label}` | {said} | {do} | `{it.examples[0]}` |\n")
    table = r"(?<=<!-- parsed -->\n)(?:\|.*\n)+"
    if os.environ.get("PENSTOCK_UPDATE_GOLDEN") == "1":
        PAGE.write_text(re.sub(table, lambda _: "".join(lines), TEXT), encoding="utf-8")
    else:
        found = re.search(table, TEXT)
        assert found is not None and found[0] == "".join(lines)


def _compiled(text: str, _: Path) -> None:
    penstock.compile({"q": text}, catalog=CATALOG)


def _executed(text: str, folder: Path) -> None:
    with Session(catalog=CATALOG, state=folder / "state") as session:
        session.execute(text)


def _catalog(text: str, _: Path) -> None:
    parse_catalog(text)


def _python(text: str, folder: Path) -> None:
    with Session(catalog=CATALOG, state=folder / "state") as session:
        session.register("hot", "SELECT ts FROM Load")
        exec(text, {"penstock": penstock, "s": session})


def _commanded(text: str, folder: Path) -> None:
    """Commands in a project, the last one in this process and without what makes an exit code of its error."""
    (folder / "queries").mkdir()
    (folder / "penstock.yml").touch()
    (folder / "queries" / "hot.cql").write_text(TICKS)
    before, _, last = text.rpartition(";")
    subprocess.run(["bash", "-c", before], check=True)
    commands, words = typer.main.get_command(cli.app), shlex.split(last)[1:]
    with commands.make_context("penstock", words) as context:
        super(Commands, commands).invoke(context)


def _run(text: str, folder: Path) -> None:
    """Something done in Python with a session of the project that the page describes."""
    files = dict(zip(("catalog/streams.yml", "queries/near.cql"), RUN_PROJECT, strict=True))
    for name, content in {**files, "penstock.yml": "", "data/0.csv": "place,degrees,ts\n1,31,2026-01-01\n"}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    catalog = folder / "catalog" / "streams.yml"
    with penstock.Session(folder) as session:
        session.spark  # noqa: B018  the one of the tests, found in this thread
        exec(text, {"penstock": penstock, "s": session, "catalog": catalog, "Path": Path})


RUN_PROJECT = re.findall(r"^```(?:yaml|cql)\n(.*?)^```$", TEXT.partition("\n## Running\n")[2], re.M | re.S)
TRIED: dict[str, Callable[[str, Path], None]] = {
    "parsed": _compiled,
    "compiled": _compiled,
    "executed": _executed,
    "catalog": _catalog,
    "command": _commanded,
    "python": _python,
}


def _examples(*kinds: str) -> list[pytest.ParameterSet]:
    return [
        pytest.param(kind, label, example, id=label)
        for kind, label, examples in ROWS
        for example in examples
        if kind in kinds
    ]


def test_every_label_has_an_example() -> None:
    assert [label for _, label, examples in ROWS if not examples] == []


@pytest.mark.parametrize(("kind", "label", "example"), _examples(*TRIED))
def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, label: str, example: str) -> None:
    _makes(TRIED[kind], label, example, tmp_path, monkeypatch)


@pytest.mark.parametrize(("kind", "label", "example"), _examples("run"))
def test_examples_that_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, label: str, example: str
) -> None:
    _makes(_run, label, example, tmp_path, monkeypatch)


def _is_said(label: str, message: str) -> bool:
    """Whether a message is one of those that the page has for a label."""
    (says,) = re.findall(rf"^\| `{label}` \| (.*?) \|", TEXT, re.M)
    return any(re.search(re.escape(part).replace("…", ".*"), message) for part in says.split("; "))


def _makes(
    example_of: Callable[[str, Path], None], label: str, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(PenstockError) as caught:
        example_of(text, folder)
    assert any(_is_said(label, error.message) for error in caught.value.errors if error.label == label)


@pytest.mark.parametrize(("kind", "label", "example"), _examples("process"))
def test_examples_that_start_spark(tmp_path: Path, kind: str, label: str, example: str) -> None:
    """In processes of their own: here Spark may have been started already. They show the message, not the label."""
    (tmp_path / "queries").mkdir()
    (tmp_path / "penstock.yml").touch()
    (tmp_path / "queries" / "hot.cql").write_text(TICKS)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", example], cwd=tmp_path, env=environment, capture_output=True, text=True)
    (says,) = re.findall(rf"^\| `{label}` \| (.*?) \|", TEXT, re.M)
    assert done.returncode == 1
    assert any(re.search(re.escape(part).replace("…", ".*"), done.stderr) for part in says.split("; "))
