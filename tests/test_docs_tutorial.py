"""docs/tutorial.md, followed word for word: every file, every command, and what it says.

`<!-- file PATH -->` is a file to write, `<!-- shell -->` lines for a shell, `<!-- shown -->` what the last ones say.
`<!-- running -->` is a command that goes on, as in a terminal of its own, until `<!-- interrupted -->`; what it says
stands after `<!-- said -->`.
"""

from __future__ import annotations

import io
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock import cli
from penstock.runtime.session import SparkSession
from tests.pages import check_page

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tutorial.md"
HOME = "/home/ann/greenhouse"
PATIENCE = 300


class Screen(io.StringIO):
    """What a command says, for others to wait for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = str(folder)
        self._told = threading.Condition()

    @property
    def text(self) -> str:
        """What has been said, with the folder of the page in place of the test's."""
        return self.getvalue().replace(self._folder, HOME).replace("\r\n", "\n")

    def write(self, text: str) -> int:
        with self._told:
            self._told.notify_all()
            return super().write(text)

    def wait_for(self, text: str) -> None:
        """Wait until a text has been said, if not word for word: see `constant`."""
        wanted = constant(text)
        with self._told:
            said = self._told.wait_for(lambda: wanted in constant(self.text), PATIENCE)
        assert said, f"{text}\nis not in\n{self.text}"


def constant(text: str) -> str:
    """What a command says, without what is different each time: how long it took, in how many steps, predictions."""
    text = re.sub(r"^(?:step \d+: .*\n)+", "step …\n", text, flags=re.M)
    text = re.sub(r"^\d+ steps?, (?=.* result)", "N steps, ", text, flags=re.M)
    text = re.sub(r"after step \d+", "after step N", text)
    text = re.sub(r"\b\d+\.\d+ s\b", "N s", text)
    text = re.sub(r"(?<=^  predicted state: ).*|(?<=^  predicted work: ).*", "…", text, flags=re.M)
    table = re.compile(r"^(?:│.*\n)+", re.M)
    return table.sub(lambda rows: "".join(sorted(rows[0].splitlines(keepends=True))), text)


class Terminal:
    """Carries out the page; commands of Penstock in this process, so that one Spark does for all of them.

    They must run in the main thread, where the page is not followed: it hands them over.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch
        self._commands: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._shown = ""
        self._running: tuple[Screen, threading.Event] | None = None

    def follow(self, page: Path) -> None:
        """Follow a page to its end."""
        failures: list[BaseException] = []

        def walk() -> None:
            try:
                check_page(page, self._carried_out)
            except BaseException as failure:
                failures.append(failure)
                if self._running is not None:
                    os.kill(os.getpid(), signal.SIGINT)
            finally:
                self._commands.put(None)

        thread = threading.Thread(target=walk, daemon=True)
        thread.start()
        while (command := self._commands.get()) is not None:
            command()
        for failure in failures:
            raise failure

    def _carried_out(self, what: str, name: str, block: str) -> str:
        match what:
            case "file":
                (self._folder / name).write_text(block, encoding="utf-8")
            case "shell":
                self._shown = "".join(self._line(line) for line in block.replace("\\\n", "").splitlines())
            case "shown":
                return block if constant(self._shown) == constant(block) else self._shown
            case "running":
                self._running = self._begun(shlex.split(block)[1:])
            case "said" if self._running is not None:
                self._running[0].wait_for(block)
            case "interrupted" if self._running is not None:
                (screen, done), self._running = self._running, None
                os.kill(os.getpid(), signal.SIGINT)
                done.wait()
                said = "".join(screen.text.splitlines(keepends=True)[-block.count("\n") :])
                return block if constant(said) == constant(block) else said
            case _:
                raise ValueError(f"unknown block: {what}")
        return block

    def _line(self, line: str) -> str:
        """What a line for a shell says."""
        if line.startswith("penstock "):
            screen, done = self._begun(shlex.split(line)[1:])
            done.wait()
            return screen.text
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        said = subprocess.run(
            line, shell=True, cwd=self._folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert said.returncode == 0, said.stdout
        return said.stdout.decode()

    def _begun(self, words: list[str]) -> tuple[Screen, threading.Event]:
        """Hand a command of Penstock over to the main thread; what it says, and when it has ended."""
        screen, done = Screen(self._folder), threading.Event()

        def run() -> None:
            with self._monkeypatch.context() as patch:
                patch.setattr(sys, "argv", ["penstock", *words])
                patch.setattr(sys, "stdout", screen)
                patch.setattr(sys, "stderr", screen)
                try:
                    cli.main()
                except SystemExit:
                    pass
                finally:
                    screen.write("")
                    done.set()

        self._commands.put(run)
        return screen, done


def test_tutorial(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / Path(HOME).name
    folder.mkdir()
    monkeypatch.chdir(folder)
    Terminal(folder, monkeypatch).follow(PAGE)
