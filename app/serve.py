"""How other processes attach to a run: it listens on a socket, and does for them what they ask."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.answers import answer
from penstock.verbosity import Verbosity, say
from penstock.wire import Line, Message, address_of, call, is_ours

if TYPE_CHECKING:
    from penstock.session import Session


class Server:
    """Answers whoever attaches to a run, each in a thread of its own, until it is stopped."""

    def __init__(self, session: Session, state: Path) -> None:
        self.has_changed = False
        """Whether anybody has asked for a statement to be carried out."""
        self._session = session
        self._address = address_of(state)
        self._listener: socket.socket | None = None
        self._threads: list[threading.Thread] = []
        self._waiting: set[Line] = set()
        """Those who have not said yet what they want."""
        self._lock = threading.Lock()
        self._is_over = False

    def start(self) -> None:
        """Listen from now on; who holds the lock of the state folder may take the address from whoever left it."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._address.parent.mkdir(mode=0o700, exist_ok=True)
            if not is_ours(self._address.parent):
                raise PermissionError(f"{self._address.parent} belongs to somebody else")
            self._address.unlink(missing_ok=True)
            listener.bind(str(self._address))
            listener.listen()
        except OSError as error:  # a run is worth more than being reached
            listener.close()
            say(f"no other process can attach to this run: {error}", Verbosity.VERBOSE)
            return
        self._listener = listener
        self._begin(self._accept, listener)

    def stop(self) -> None:
        """Finish what is under way and listen no more."""
        listener = self._listener
        if listener is None:
            return
        with self._lock:
            self._is_over = True
            for line in self._waiting:
                line.hear_no_more()
        self._wake(listener)
        for thread in self._threads:
            thread.join()
        self._listener = None

    def _begin(self, work: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=work, args=args, name="penstock-serve", daemon=True)
        self._threads = [old for old in self._threads if old.is_alive()] + [thread]
        thread.start()

    def _wake(self, listener: socket.socket) -> None:
        """Let the thread that listens find that it is over."""
        line = call(self._address)
        if line is None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # somebody has removed the file of the socket
        else:
            line.close()
        self._address.unlink(missing_ok=True)

    def _accept(self, listener: socket.socket) -> None:
        with listener:
            while True:
                try:
                    line = Line(listener.accept()[0])
                except OSError:
                    return
                with self._lock:
                    if self._is_over:
                        line.close()
                        return
                    self._waiting.add(line)
                self._begin(self._serve, line)

    def _serve(self, line: Line) -> None:
        message = self._heard(line)
        with self._lock:
            self._waiting.discard(line)
        if message is None:
            line.close()
            return
        self.has_changed = self.has_changed or message.get("do") == "execute"
        answer(self._session, line, message)

    def _heard(self, line: Line) -> Message | None:
        try:
            return line.receive()
        except (OSError, ValueError):
            return None  # it has gone, or is none of ours
