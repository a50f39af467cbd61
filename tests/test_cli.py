"""The command line: exit codes, what goes to stdout and what to stderr."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock import __version__, cli
from penstock.commands import common
from penstock.commands.common import SHARED
from penstock.grammar.errors import PenstockError
from penstock.session import Session
from penstock.verbosity import Verbosity, verbosity

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ("check", "explain")


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in this process."""

    def call(*args: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["penstock", *map(str, args)])
        monkeypatch.setattr("penstock.verbosity._level", Verbosity.NORMAL)  # and so it is afterwards
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        code = exit_.value.code
        out, err = capsys.readouterr()
        return Done(code if isinstance(code, int) else int(code is not None), out, err)

    return call


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one right query."""
    (tmp_path / "queries").mkdir()
    shutil.copytree(ROOT / "catalog", tmp_path / "catalog", ignore=shutil.ignore_patterns("*.py*", "__pycache__"))
    (tmp_path / "penstock.yml").write_text("name: test\ncatalog: catalog\nqueries: queries\n")
    (tmp_path / "queries" / "warm.cql").write_text("SELECT Value FROM Temperature WHERE Value > 20\n")
    return tmp_path


# Help and misuse


def test_help_lists_the_commands(run: Run) -> None:
    done = run("--help")
    assert (done.code, done.err) == (0, "")
    assert all(command in done.out for command in COMMANDS)


def test_version(run: Run) -> None:
    assert run("--version") == Done(0, f"penstock {__version__}\n", "")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "Usage:"),
        (("nosuch",), "No such command 'nosuch'"),
        (("chek",), "Did you mean 'check'?"),
        (("check", "--nosuch"), "No such option"),
        (("check", "--verbos"), "--verbose"),
        (("explain", "--format", "xml"), "give text or json"),
        (("explain", "--kind", "shard"), "did you mean shared?"),
        (("explain", "--query"), "requires an argument"),
        (("explain", "--sql", "SELECT 1", "file.cql"), "either a SELECT or files"),
        (("check", ROOT, ROOT), "one project's folder"),
    ],
)
def test_misuse_is_2(run: Run, args: tuple[object, ...], said: str) -> None:
    done = run(*args)
    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.split())


@pytest.mark.parametrize("command", [command.__name__ for command in cli.COMMANDS])
def test_each_command_has_the_options_that_all_share(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert all(f"--{option}" in done.out for option in SHARED)
    assert f"\n  Examples:\n    penstock {command}" in done.out


@pytest.mark.parametrize(
    ("options", "level"),
    [
        ((), Verbosity.NORMAL),
        (("-q",), Verbosity.QUIET),
        (("-v",), Verbosity.VERBOSE),
        (("--debug",), Verbosity.DEBUG),
        (("-v", "--debug"), Verbosity.DEBUG),
    ],
)
def test_how_much_is_said(run: Run, project: Path, options: tuple[str, ...], level: Verbosity) -> None:
    assert run("check", project, *options).code == 0
    assert verbosity() is level


def test_quiet_and_verbose_at_once(run: Run, project: Path) -> None:
    done = run("check", project, "--quiet", "--verbose")
    assert (done.code, done.out) == (2, "") and "not both" in done.err


# check


def test_check_a_project(run: Run, project: Path) -> None:
    assert run("check", project) == Done(0, "", "1 query, 3 streams and 1 relation: no mistakes\n")


def test_check_quietly(run: Run, project: Path) -> None:
    assert run("check", "--quiet", project) == Done(0, "", "")


def test_check_the_project_around(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "queries")
    assert run("check").code == 0
    assert run("check", "warm.cql").code == 0


def test_check_the_example_project(run: Run) -> None:
    assert run("check", ROOT).code == 0


def test_check_files_with_the_catalog_of_their_project(run: Run, project: Path) -> None:
    other = project / "queries" / "hot.cql"
    other.write_text("SELECT Value FROM Temperature WHERE Value > 30; SET reevaluate = 5 sec")
    done = run("check", project / "queries" / "warm.cql", other)
    assert (done.code, done.err) == (0, "2 queries, 3 streams and 1 relation: no mistakes\n")


def test_check_with_another_catalog(run: Run, project: Path) -> None:
    (project / "other.yml").write_text("streams: {S: {schema: {ts: timestamp}}}\n")
    done = run("check", "--catalog", project / "other.yml", project)
    assert done.code == 1
    assert "There is S." in done.err


def test_mistakes_of_all_the_files_are_shown(run: Run, project: Path) -> None:
    (project / "queries" / "a.cql").write_text("SELECT Valu FROM Temperature")
    (project / "queries" / "b.cql").write_text("SELECT FROM Temperature")
    (project / "catalog" / "more.yml").write_text("streams: {S: {schema: {ts: timestmp}}}\n")
    done = run("check", project)
    assert (done.code, done.out) == (1, "")
    assert "more.yml:1:" in done.err
    assert "b.cql:1:8: error:" in done.err
    assert done.err.endswith("2 mistakes\n")
    (project / "queries" / "b.cql").unlink()
    (project / "catalog" / "more.yml").unlink()
    done = run("check", project)
    assert f"{project / 'queries' / 'a.cql'}:1:8: error: unknown column 'Valu'" in done.err
    assert "\n         ^^^^\n  Did you mean Value?" in done.err


# What is in penstock.yml, and what is said about it.
BROKEN = [
    ("queris: queries\n", "Did you mean queries?"),
    ("catalog: [1\n", "is not closed"),
    ("- a\n- b\n", "expected a mapping"),
    ("catalog: {a: b}\n", "expected a text"),
    ("settings: {sharing: slic}\n", "Did you mean slice?"),
    ("settings: {reevaluate: soon}\n", "'soon' is not a duration"),
    ("settings: {speed: 3}\n", "unknown setting 'speed'"),
    ("name: a\nname: b\n", "name"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_a_broken_project_file(run: Run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "penstock.yml").write_text(text)
    done = run("check", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert f"{tmp_path / 'penstock.yml'}:" in done.err
    assert said in done.err


def test_an_empty_project_is_fine(run: Run, tmp_path: Path) -> None:
    (tmp_path / "penstock.yml").touch()
    assert run("check", tmp_path) == Done(0, "", "0 queries, 0 streams and 0 relations: no mistakes\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_path(run: Run, tmp_path: Path, command: str) -> None:
    done = run(command, tmp_path / "nosuch.cql")
    assert (done.code, done.out) == (1, "")
    assert "there is no file or folder" in done.err


def test_a_folder_that_is_no_project(run: Run, tmp_path: Path) -> None:
    done = run("check", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert "there is no penstock.yml" in done.err
    assert "penstock init my-project" in done.err


def test_a_file_that_is_no_text(run: Run, project: Path) -> None:
    (project / "queries" / "bad.cql").write_bytes(b"SELECT \xff")
    done = run("check", project)
    assert (done.code, done.out) == (1, "")
    assert "bad.cql:1:8: error: the file is not UTF-8 text" in done.err


# explain


def test_explain_a_project(run: Run, project: Path) -> None:
    (project / "queries" / "hot.cql").write_text("SELECT Value FROM Temperature WHERE Value > 30\n")
    done = run("explain", project)
    assert (done.code, done.err) == (0, "")
    assert [line for line in done.out.splitlines() if line.startswith("Query")] == ["Query hot", "Query warm"]


def test_explain_one_query(run: Run) -> None:
    done = run("explain", ROOT, "--query", "HOT_with_humidity")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Query hot_with_humidity\n")
    assert done.out.count("Query ") == 1


def test_explain_an_unknown_query(run: Run) -> None:
    done = run("explain", ROOT, "--query", "hot_with_humidty")
    assert (done.code, done.out) == (1, "")
    assert "there is no query called 'hot_with_humidty'" in done.err
    assert "Did you mean hot_with_humidity?" in done.err


def test_explain_a_text(run: Run) -> None:
    done = run("explain", "--catalog", ROOT / "catalog", "--sql", "SELECT Value FROM Humidity")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Query query\n")


def test_explain_a_wrong_text(run: Run) -> None:
    done = run("explain", "--catalog", ROOT / "catalog", "--sql", "SELECT Valu FROM Humidity")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("<sql>:1:8: error: unknown column 'Valu'\n  SELECT Valu FROM Humidity\n         ^^^^\n")


def test_explain_nothing(run: Run) -> None:
    done = run("explain", "--catalog", ROOT / "catalog", "--sql", "")
    assert (done.code, done.out) == (1, "")
    assert "there is no query to explain" in done.err


def test_explain_as_json(run: Run, project: Path) -> None:
    done = run("explain", project, "--format", "json")
    (plan,) = json.loads(done.out)
    assert plan["query"] == "warm"
    assert plan["logical"][0] == "Query warm"


# What is not the user's fault


def test_an_internal_failure_is_2(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.delenv("PENSTOCK_DEBUG", raising=False)
    monkeypatch.setattr(common, "compiled", broken)
    done = run("check", project)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("internal failure: ZeroDivisionError: oops\n")
    assert "PENSTOCK_DEBUG" in done.err


def test_an_interruption_is_130(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(common, "compiled", interrupted)
    assert run("check", project).code == 130


def test_the_installed_command() -> None:
    script = Path(sys.executable).parent / "penstock"
    done = subprocess.run([script, "check", ROOT], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "no mistakes" in done.stderr


# What a migration would do


def test_plan(run: Run, project: Path) -> None:
    """What the next run would change, and what a statement would; without Spark, and without doing it."""
    done = run("plan", project)
    assert done.code == 0 and done.out.startswith("The migration adds warm:\n  add ingest-")
    assert "warm: complete from the start" in done.out
    done = run("plan", project, "-e", "ALTER QUERY warm AS SELECT Value FROM Humidity")
    assert done.code == 0 and "read Humidity" in done.out
    assert not (project / ".penstock").exists()


@pytest.mark.parametrize(
    ("statement", "message"),
    [("SHOW QUERIES", "changes nothing"), ("DROP QUERY cold", "no query called 'cold'"), ("ALTER QUERY warm SET", "")],
)
def test_plan_of_a_wrong_statement(run: Run, project: Path, statement: str, message: str) -> None:
    """A statement that is wrong, or changes nothing, is refused with its place."""
    done = run("plan", project, "--sql", statement)
    assert done.code == 1 and message in done.err and "<statement>:1:" in done.err


@pytest.mark.parametrize("terminal", [True, False])
def test_results_say_on_a_terminal_that_spark_starts(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    def no_results(*_: object) -> None:
        raise PenstockError("there are none", label="none")

    monkeypatch.setattr(Session, "results", no_results)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert "starting Spark" not in run("results", "wram", project).err
    assert ("starting Spark\n" in run("results", "warm", project).err) is terminal
