"""Worker processes from the outside: they are started, asked, watched and ended."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from pathlib import Path
from typing import IO, Any

_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY = 0.1
"""Memory is looked at so often, in seconds."""


class WorkerFailed(Exception):
    """A job was not done: its code raised an error, the process ended, or it took too long."""


class Worker:
    """A process of its own for a system, with a log of all that it says."""

    def __init__(self, python: Path, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log
        with log.open("ab") as said:
            self._process = subprocess.Popen(
                [python, "-P", Path(__file__).with_name("worker.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                start_new_session=True,  # what it starts itself can be ended with it
            )
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._peak = 0
        self._over = threading.Event()
        assert self._process.stdout is not None
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()
        threading.Thread(target=self._watch, daemon=True).start()

    def do(self, call: str, job: dict[str, Any], limit: float) -> dict[str, Any]:
        """Have a job done; what it gave, with the most memory that the process held meanwhile."""
        self._peak = 0
        found = self._ask({"call": call, "job": job}, limit)
        return {**found, "peak_mb": round(max(self._peak, memory_of(self._process.pid)) / 2**20)}

    def end(self) -> None:
        """End the process and all that it has started."""
        self._over.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=limit)
        except queue.Empty:
            self.end()
            raise WorkerFailed(f"took longer than {limit:,.0f} s") from None
        except OSError:
            line = None
        if line is None:
            self.end()
            raise WorkerFailed(f"the process ended with code {self._process.returncode}, see {self._log}")
        answer = json.loads(line)
        if "error" in answer:
            with self._log.open("a", encoding="utf-8") as log:
                log.write(answer["trace"])
            raise WorkerFailed(str(answer["error"]).splitlines()[0][:300])
        found: dict[str, Any] = answer["ok"]
        return found

    def _read(self, out: IO[str]) -> None:
        for line in out:
            self._answers.put(line)
        self._answers.put(None)

    def _watch(self) -> None:
        while not self._over.wait(_EVERY):
            self._peak = max(self._peak, memory_of(self._process.pid))


def memory_of(process: int) -> int:
    """The bytes that a process and all below it hold, as Linux counts them; 0 where it cannot be told."""
    return sum(_resident(one) for one in _with_all_below(process))


def _with_all_below(process: int) -> list[int]:
    found = [process]
    for one in found:
        with contextlib.suppress(OSError):  # it may have just ended
            for children in Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, children.read_text().split())
    return found


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0
