"""How a process talks to the run of another one: one JSON object a line over a Unix socket of the user's own."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import stat
import struct
from pathlib import Path
from typing import Any

from penstock.grammar.errors import PenstockError, PenstockErrors
from penstock.grammar.source import Source, Span

Message = dict[str, Any]
_PATIENCE = 60
"""Who reads nothing for so many seconds is hung up on: files that wait to be read pile up."""


def address_of(state: Path) -> Path:
    """Where the run over a state folder is reached.

    It is not in the state folder: paths of sockets may be no longer than a hundred bytes, and folders are copied.
    """
    digest = hashlib.sha256(os.fsencode(state.resolve())).hexdigest()
    return Path(f"/tmp/penstock-{os.getuid()}") / f"{digest[:24]}.sock"


def is_ours(folder: Path) -> bool:
    """Whether a folder is there that nobody else can put a socket into."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


class Line:
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _PATIENCE, 0))
        self._connection = connection
        self._incoming = connection.makefile("rb")

    def send(self, message: Message) -> None:
        """Send a message; what JSON does not know goes as text."""
        self._connection.sendall(json.dumps(message, default=str).encode() + b"\n")

    def receive(self) -> Message | None:
        """The next message; None when the other end says no more."""
        try:
            line = self._incoming.readline()
        except ConnectionResetError:
            return None  # it has hung up without hearing what it was told
        if not line.endswith(b"\n"):
            return None
        message = json.loads(line)
        if not isinstance(message, dict):
            raise ValueError(f"no message: {message!r}")
        return message

    def hear_no_more(self) -> None:
        """Let whoever waits for a message find that there is none."""
        with contextlib.suppress(OSError):  # the other end was quicker
            self._connection.shutdown(socket.SHUT_RD)

    def close(self) -> None:
        """Hang up; whoever waits for a message finds that there is none."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._incoming.close()
        self._connection.close()

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def call(address: Path) -> Line | None:
    """A connection to the run at an address; None if there is none."""
    if not is_ours(address.parent):
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(address))
    except OSError:
        connection.close()
        return None
    return Line(connection)


def error_data(error: PenstockError) -> list[Message]:
    """An error as JSON has it."""
    return [
        {
            "message": single.message,
            "span": single.span,
            "source": None if single.source is None else [single.source.name, single.source.text],
            "hint": single.hint,
            "label": single.label,
        }
        for single in error.errors
    ]


def error_of(data: list[Message]) -> PenstockError:
    """The error again."""
    errors = [
        PenstockError(
            single["message"],
            span=None if single["span"] is None else Span(*single["span"]),
            source=None if single["source"] is None else Source(*single["source"]),
            hint=single["hint"],
            label=single["label"],
        )
        for single in data
    ]
    return errors[0] if len(errors) == 1 else PenstockErrors(errors)
