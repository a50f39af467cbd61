"""What the shell completes: commands, choices, and the names of queries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import typer

from penstock import cli
from penstock.starter import make_project

QUERIES = ["hot", "overload", "owners", "scorching"]


def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shell: str, line: str) -> list[str]:
    """What is offered at the end of a line, as the script of a shell asks for it."""
    environment = {
        "_PENSTOCK_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as exit_:
        typer.main.get_command(cli.app).main([], prog_name="penstock")
    assert not exit_.value.code
    return capsys.readouterr().out.split()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_project(tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.mark.parametrize("line", ["penstock results ", "penstock explain --query ", "penstock explain .. --query "])
@pytest.mark.usefixtures("project")
def test_names_of_queries(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path, line: str
) -> None:
    if ".." in line:
        monkeypatch.chdir(project / "queries")
    assert asked(monkeypatch, capsys, "bash", line) == QUERIES
    assert asked(monkeypatch, capsys, "bash", f"{line}o") == ["overload", "owners"]
    assert not (project / ".penstock").exists()


def test_nothing_where_there_is_no_project(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert asked(monkeypatch, capsys, "bash", "penstock results ") == []


def test_nothing_where_a_query_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    (project / "queries" / "hot.cql").write_text("SELECT")
    assert asked(monkeypatch, capsys, "bash", "penstock results ") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shell: str) -> None:
    offered = " ".join(asked(monkeypatch, capsys, shell, "penstock "))
    assert all(command.__name__ in offered for command in cli.COMMANDS)
    assert "physical" in " ".join(asked(monkeypatch, capsys, shell, "penstock explain --kind "))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shell: str
) -> None:
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: shell)
    with pytest.raises(SystemExit) as exit_:
        cli.app(["--show-completion"], prog_name="penstock")
    assert not exit_.value.code
    assert f"complete_{shell}" in capsys.readouterr().out
    assert os.environ.get("_PENSTOCK_COMPLETE") is None
