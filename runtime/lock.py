"""One process for each state folder."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from penstock.grammar.errors import PenstockError
from penstock.runtime.failures import system_reason


class Lock:
    """Held while a run goes on; the system frees it when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._file: TextIO | None = None

    def acquire(self) -> None:
        """Take it, or say who has it."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = self._path.open("a+", encoding="utf-8")
        except OSError as error:
            raise PenstockError(
                f"the state folder {self._path.parent} cannot be used: {system_reason(error)[0]}",
                hint="Name a folder that can be written to with  state:  in penstock.yml.",
                label="unwritable-state",
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = _holder(file.read())
            file.close()
            raise PenstockError(
                f"the state folder {self._path.parent} is in use by {holder}",
                hint="Stop that run, or use another state folder.",
                label="busy-state",
            ) from None
        file.seek(0)
        file.truncate()
        since = datetime.now(UTC).isoformat(timespec="seconds")
        json.dump({"process": os.getpid(), "host": socket.gethostname(), "since": since}, file)
        file.flush()
        self._file = file

    def release(self) -> None:
        """Give it back."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def is_held(self) -> bool:
        """Whether a run goes on."""
        try:
            with self._path.open(encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False
        return False

    def last_holder(self) -> str | None:
        """Who has it, or had it and has not given it back; None if nobody."""
        text = self._path.read_text(encoding="utf-8") if self._path.exists() else ""
        return _holder(text) if text else None


def _holder(text: str) -> str:
    try:
        found = json.loads(text)
        return f"process {found['process']} on {found['host']}, since {found['since']}"
    except (ValueError, KeyError):
        return "another process"
