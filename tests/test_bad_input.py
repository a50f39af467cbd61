"""Bad input and bad luck, for every command: one clear message, the right exit code, nothing lost.

Here without Spark, in this process; with it in test_bad_luck.py.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock import PenstockError, cli
from penstock.runtime import java
from penstock.runtime import session as spark_session
from penstock.runtime.lock import Lock
from penstock.serve import Server
from penstock.session import Session
from penstock.verbosity import Verbosity

NAMES = [command.__name__ for command in cli.COMMANDS]
CALLS: dict[str, tuple[str, ...]] = {
    "explain": ("PROJECT",),
    "check": ("PROJECT",),
    "plan": ("PROJECT",),
    "run": ("PROJECT", "--once"),
    "results": ("hot", "PROJECT"),
    "repl": ("PROJECT", "-c", "SHOW QUERIES"),
    "test": ("PROJECT",),
}
"""How commands that work on a project are called."""
OTHERS = {"init", "demo", "bench", "doctor"}
"""They make what they need, or look at the machine; their own tests have what can be wrong."""
ON_PROJECT = [name for name in NAMES if name in CALLS]
READ_STATE = [name for name in ON_PROJECT if name in ("plan", "run", "results", "repl")]
CATALOG = """\
streams:
  Heat:
    source: {format: csv, path: data, options: {header: true}}
    schema: {k: int, v: double, ts: timestamp}
    timestamp: ts
"""


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs a command on a project in this process, without Spark: to ask for it is a failure of the test."""

    def no_spark(*_: object, **__: object) -> None:
        raise AssertionError("Spark is started")

    monkeypatch.setattr(spark_session, "spark_session", no_spark)
    monkeypatch.setattr("penstock.verbosity._level", Verbosity.NORMAL)

    def call(name: str, project: Path, *more: str) -> Done:
        args = [str(project) if arg == "PROJECT" else arg for arg in CALLS[name]]
        monkeypatch.setattr(sys, "argv", ["penstock", name, *args, *more])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        code = exit_.value.code
        out, err = capsys.readouterr()
        assert "Traceback" not in err, err
        return Done(code if isinstance(code, int) else int(code is not None), out, err)

    return call


def refused(done: Done, *said: str, code: int = 1) -> None:
    """One message, with something to do about it, and nothing on stdout."""
    assert (done.code, done.out) == (code, ""), done
    assert all(text in done.err for text in said), done.err
    assert done.err.count("error: ") == 1, done.err
    assert len(done.err.strip().splitlines()) >= 2, f"nothing to do about it: {done.err}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that is right."""
    folder = tmp_path / "project"
    for part in ("catalog", "queries", "data"):
        (folder / part).mkdir(parents=True)
    (folder / "penstock.yml").write_text("name: test\n")
    (folder / "catalog" / "streams.yml").write_text(CATALOG)
    (folder / "queries" / "hot.cql").write_text("SELECT k, v FROM Heat WHERE v > 30\n")
    (folder / "queries" / "hot.test.yml").write_text("tests: {nothing: {expect: []}}\n")
    return folder


def test_every_command_is_here() -> None:
    assert set(NAMES) <= set(CALLS) | OTHERS


# The project


def no_such_folder(folder: Path) -> Path:
    return folder / "nosuch"


def no_project(folder: Path) -> Path:
    (folder / "penstock.yml").unlink()
    return folder


def broken_yaml(folder: Path) -> Path:
    (folder / "penstock.yml").write_text("name: [test\n")
    return folder


def broken_catalog(folder: Path) -> Path:
    (folder / "catalog" / "streams.yml").write_text(CATALOG + "  Cold: {schema: [\n")
    return folder


def wrong_type_in_the_catalog(folder: Path) -> Path:
    (folder / "catalog" / "streams.yml").write_text(CATALOG.replace("double", "dubble"))
    return folder


def wrong_query(folder: Path) -> Path:
    (folder / "queries" / "hot.cql").write_text("SELECT k, w FROM Heat\n")
    return folder


def no_text(folder: Path) -> Path:
    (folder / "queries" / "hot.cql").write_bytes(b"SELECT k FROM Heat -- \xe9\xff")
    return folder


def folder_for_a_query(folder: Path) -> Path:
    (folder / "queries" / "cold.cql").mkdir()
    return folder


def file_for_the_queries(folder: Path) -> Path:
    shutil.rmtree(folder / "queries")
    (folder / "queries").write_text("SELECT k FROM Heat")
    return folder


PROJECTS = {
    no_such_folder: ("no file or folder '",),
    no_project: ("there is no penstock.yml in",),
    broken_yaml: ("penstock.yml:1:7: error: ",),
    broken_catalog: ("streams.yml:6:", "error: "),
    wrong_type_in_the_catalog: ("streams.yml:4:25: error: ", "Did you mean double?"),
    wrong_query: ("hot.cql:1:11: error: unknown column 'w'", "There are k, ts, v."),
    no_text: ("hot.cql:1:23: error: the file is not UTF-8 text", "Save it as UTF-8"),
    folder_for_a_query: ("cold.cql'", "Is a directory"),
    file_for_the_queries: ("queries' is a file", "Name the folder"),
}


@pytest.mark.parametrize("name", ON_PROJECT)
@pytest.mark.parametrize("spoil", PROJECTS, ids=lambda spoil: spoil.__name__)
def test_a_project_that_is_wrong(run: Run, project: Path, name: str, spoil: Callable[[Path], Path]) -> None:
    refused(run(name, spoil(project)), *PROJECTS[spoil])
    assert not (project / ".penstock").exists()


@pytest.mark.parametrize("name", [name for name in ON_PROJECT if name in ("run", "plan", "results", "repl")])
def test_a_file_in_place_of_a_project(run: Run, project: Path, name: str) -> None:
    """Nobody who names one query wants all of them to be run."""
    refused(run(name, project / "queries" / "hot.cql"), "hot.cql' is a file", "Give the folder")


EMPTY = {"check": 0, "plan": 0, "repl": 0}


@pytest.mark.parametrize("name", ON_PROJECT)
def test_an_empty_project(run: Run, tmp_path: Path, name: str) -> None:
    """There is nothing to do in it, which is fine where nothing is to be done."""
    (tmp_path / "penstock.yml").touch()
    done = run(name, tmp_path)
    if name in EMPTY:
        assert done.code == 0
    else:
        refused(done, "error: there is no ")


# The state folder


def unwritable(project: Path) -> str:
    """A state folder that even root cannot make."""
    (project / "penstock.yml").write_text("state: data.csv/state\n")
    (project / "data.csv").touch()
    return "something above it is a file"


def a_file(project: Path) -> str:
    (project / ".penstock").touch()
    return "there is a file in its place"


@pytest.mark.parametrize("spoil", [unwritable, a_file], ids=lambda spoil: spoil.__name__)
def test_a_state_folder_that_cannot_be_made(run: Run, project: Path, spoil: Callable[[Path], str]) -> None:
    said = spoil(project)
    refused(run("run", project), "the state folder ", said, "state:  in penstock.yml")
    for name in ("check", "plan"):
        assert run(name, project).code == 0


REFUSALS = {
    errno.EROFS: "read-only",
    errno.EACCES: "no right to it",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
}


@pytest.mark.parametrize("number", REFUSALS, ids=errno.errorcode.get)
def test_a_disk_that_refuses(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        refused(run("run", project), "the state folder ", REFUSALS[number])


def test_a_busy_state_folder(run: Run, project: Path) -> None:
    """Another run is refused, and says who runs; to look is allowed."""
    lock = Lock(project / ".penstock")
    lock.acquire()
    refused(run("run", project), f"is in use by process {os.getpid()} on ", "Stop that run")
    assert run("check", project).code == run("plan", project).code == run("repl", project).code == 0
    for text in ("DROP QUERY hot", ".run"):
        refused(run("repl", project, "-c", text), f"is in use by process {os.getpid()} on ", "Stop that run")
    lock.release()


def test_a_state_folder_of_a_run_that_can_be_attached_to(run: Run, project: Path) -> None:
    """The run answers, whatever has become of the project's files meanwhile; it is not stopped from elsewhere."""
    server = Server(Session(project), project / ".penstock")
    server.start()
    (project / "queries" / "hot.cql").write_text("SELECT nothing FROM Heat")
    shown = run("repl", project, "-m", "csv")
    assert (shown.code, shown.out, shown.err) == (0, "query,results,complete from\r\nhot,,\r\n", "")
    refused(run("repl", project, "-c", "DROP QUERY cold"), "no query called 'cold'", "There is hot.")
    refused(run("repl", project, "-c", ".stop"), "no run was begun here", f"process {os.getpid()}: stop it there")
    refused(run("repl", project, "-c", ".run"), f"process {os.getpid()} runs this project already")
    server.stop()
    refused(run("repl", project), "unknown column 'nothing'")


def entry(project: Path, text: str) -> Path:
    """The end of a step in the log."""
    log = project / ".penstock" / "log"
    log.mkdir(parents=True)
    (log / "0000000007.done.json").write_text(text)
    return log / "0000000007.done.json"


STATE = json.dumps(
    {
        "format": 2,
        "step": 7,
        "plan": 3,
        "starts": "",
        "streams": {},
        "chains": {},
        "columns": {},
        "trimmed": {},
        "retained": {},
        "groups": [],
        "results": [],
        "counts": {},
    }
)
LOGS = {
    "cut off": STATE[:70],
    "empty": "",
    "garbage": "\x00\x01 garbage",
    "of another kind": "[1, 2]",
    "without all": '{"format": 2}',
}


@pytest.mark.parametrize("name", READ_STATE)
@pytest.mark.parametrize("kind", LOGS)
def test_a_log_that_is_damaged(run: Run, project: Path, name: str, kind: str) -> None:
    """Nobody goes on from it, nobody makes it worse."""
    file = entry(project, LOGS[kind])
    refused(run(name, project), f"the state is damaged: {file}", "Put a copy of the state folder back")
    assert file.read_text() == LOGS[kind]


@pytest.mark.parametrize("name", READ_STATE)
def test_a_plan_that_is_gone(run: Run, project: Path, name: str) -> None:
    entry(project, STATE)
    refused(run(name, project), "the state is damaged: ", "plans/0000000003.json: it is not there")


@pytest.mark.parametrize("name", READ_STATE)
def test_a_log_of_another_version(run: Run, project: Path, name: str) -> None:
    entry(project, STATE.replace('"format": 2', '"format": 1'))
    refused(run(name, project), "written in format 1", "Go on with the version that wrote it")


# The machine


NEED_JAVA = {**CALLS, "repl": ("PROJECT", "-c", ".run")}


@pytest.mark.parametrize("name", [name for name in ON_PROJECT if name in ("run", "results", "repl", "test")])
def test_no_java(project: Path, name: str) -> None:
    """Said before anything is started or written."""
    home = Path(sys.executable).parent
    args = [str(project) if arg == "PROJECT" else arg for arg in NEED_JAVA[name]]
    bare = {"PATH": str(home), "HOME": str(project)}
    done = subprocess.run([home / "penstock", name, *args], env=bare, capture_output=True, text=True, check=False)
    refused(Done(done.returncode, done.stdout, done.stderr.replace("starting Spark\n", "")), "Java", "Install Java 17")
    assert not (project / ".penstock" / "log").exists()


def test_java_home_that_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere/java")
    with pytest.raises(PenstockError, match="JAVA_HOME is /nowhere/java"):
        java.find_java()


@pytest.mark.parametrize("name", ON_PROJECT)
def test_an_interruption(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for place in ("penstock.commands.common.compiled", "penstock.standing.compiled", "penstock.project.read_program"):
        monkeypatch.setattr(place, interrupted)
    assert run(name, project) == Done(130, "", "interrupted\n")


def shell(command: str, project: Path, **extra: str) -> Done:
    """A line in a shell."""
    environment = {**os.environ, **extra, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_what_is_written_to_goes_away_or_is_full(project: Path) -> None:
    """`… | head` is quiet, a full disk is not."""
    many = "\n".join(f"CREATE QUERY q{i} AS SELECT k FROM Heat WHERE v > {i};" for i in range(500))
    (project / "queries" / "many.cql").write_text(many)
    done = shell("penstock explain | head -n 1; echo ${PIPESTATUS[0]}", project)
    assert (done.out, done.err) == ("Query hot\n0\n", "")
    refused(shell("penstock explain > /dev/full", project), "the disk is full")


@pytest.mark.parametrize("extra", [{}, {"NO_COLOR": "1"}], ids=["piped", "NO_COLOR"])
def test_no_colours_where_they_cannot_be_seen(project: Path, extra: dict[str, str]) -> None:
    (project / "queries" / "cold.cql").write_text("SELECT nothing FROM Heat")
    done = shell("penstock --help; penstock check; penstock plan", project, **extra)
    assert "\x1b" not in done.out + done.err
