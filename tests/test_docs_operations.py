"""docs/operations.md against a run: the project, the state folder, metrics, what is set aside; commands that exist."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import typer

import penstock
from penstock import cli
from penstock.compiler.settings import Settings
from penstock.project import KEYS, find_project
from penstock.runtime.session import SparkSession

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
HEAD = "k,v,ts\n"
FILES = {
    "penstock.yml": "",
    "catalog/s.yml": """
streams:
  S:
    source: {format: csv, path: data, options: {header: true}}
    schema: {k: int, v: double, ts: timestamp}
    lateness: 1 sec
""",
    "queries/join.cql": "SELECT A.k, B.v FROM S A JOIN S B ON A.k = B.k WINDOW 1 hour",
    "queries/count.cql": "SELECT k, COUNT(*) AS n FROM S GROUP BY k WINDOW 1 hour SLIDE 1 min",
    "data/0.csv": HEAD + "1,1.5,2026-01-01 00:00:00\n2,2.5,2026-01-01 00:01:00\n",
}
BAD = HEAD + "1,x,2026-01-01 00:01:00\n1,1,\n1\n1,1,2026-01-01 00:00:00\n1,1,2026-01-01 00:02:00\n"


def _block(name: str) -> str:
    (found,) = re.findall(rf"^<!-- {name} -->\n```\w+\n(.*?)^```$", TEXT, re.M | re.S)
    return found


def _rows(name: str) -> list[list[str]]:
    (table,) = re.findall(rf"^<!-- {name} -->\n\|.*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.M)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def _code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_project_has_every_key(tmp_path: Path) -> None:
    (tmp_path / "penstock.yml").write_text(_block("project"))
    project = find_project(tmp_path)
    assert re.findall(r"^(\w+):", _block("project"), re.M) == list(KEYS)
    assert re.findall(r"^  (\w+): (.*)$", _block("project"), re.M) == list(Settings().shown().items())
    assert (project.name, project.state) == ("shop", tmp_path.resolve() / ".penstock")
    assert project.settings == Settings() and project.spark == (("spark.driver.memory", "4g"),)


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has run twice, the second time with bad rows."""
    folder = tmp_path_factory.mktemp("shop")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    for number in range(2):
        with penstock.Session(folder, spark=spark) as session:
            session.run(once=True)
        (folder / "data" / f"{number + 1}.csv").write_text(BAD)
    return folder


def test_the_state_folder(folder: Path) -> None:
    """What is there is on the page, and what is on the page is there, or is there while a run goes on."""
    there = {path.name for path in (folder / ".penstock").iterdir()}
    listed = {place.partition("/")[0] for row in _rows("state") for place in _code(row[0])}
    assert there <= listed
    assert listed - there <= {"relations", "logs", "staging", "statistics.json"}


@pytest.mark.parametrize("place", [_code(row[0])[0] for row in _rows("state") if row[2] == "refused"])
def test_what_is_lost_is_refused(spark: SparkSession, folder: Path, place: str) -> None:
    lost, copy = folder / ".penstock" / place.partition("/")[0], folder / "copy"
    shutil.move(lost, copy)
    try:
        with pytest.raises(penstock.PenstockError) as caught, penstock.Session(folder, spark=spark) as session:
            session.run(once=True)
        assert caught.value.label == "damaged-state"
    finally:
        shutil.rmtree(lost, ignore_errors=True)
        shutil.move(copy, lost)


def test_metrics(folder: Path) -> None:
    (file,) = (folder / ".penstock" / "metrics").iterdir()
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [set(line) for line in lines] == [{key for row in _rows("metrics") for key in _code(row[0])}] * len(lines)


def test_reasons(folder: Path) -> None:
    files = (folder / ".penstock" / "rejected" / "S").rglob("*.json")
    reasons = {json.loads(line)["_reason"] for file in files for line in file.read_text("utf-8").splitlines()}
    assert reasons == {_code(row[0])[0] for row in _rows("reasons")}


def test_the_look_from_python(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    exec(_block("show"), {})
    assert capsys.readouterr().out.startswith("{'stream': 'S', 'rows': 7,")


def _commands(path: Path) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line.removeprefix(".venv/bin/") for line in lines if re.match(r"(\.venv/bin/)?penstock ", line)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_exists(path: Path) -> None:
    """With its options; it is not carried out."""
    commands = typer.main.get_command(cli.app)
    for line in _commands(path):
        words = shlex.split(line, comments=True)[1:]
        if words != ["--help"]:
            command = commands.get_command(typer.Context(commands), words[0])  # type: ignore[attr-defined]
            assert command is not None, line
            command.make_context(words[0], [word for word in words[1:] if word not in ("|", ">", "&")])


def test_there_are_commands() -> None:
    assert sum(len(_commands(path)) for path in PAGES) > 20
