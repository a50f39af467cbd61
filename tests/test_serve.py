"""The socket that other processes attach through, with a session that only pretends."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import serve, wire
from penstock.grammar.errors import PenstockError, PenstockErrors
from penstock.grammar.source import Source, Span
from penstock.serve import Server
from penstock.wire import Line, Message, address_of, call, error_data, error_of


def pair() -> tuple[Line, Line]:
    here, there = socket.socketpair()
    return Line(here), Line(there)


# Messages


def test_messages_arrive_as_they_are() -> None:
    here, there = pair()
    sent = [{"text": "a\nb ; 'é'"}, {"rows": [[1, None, 2.5, "x"]] * 500}]
    sender = threading.Thread(target=lambda: [here.send(message) for message in sent] and here.close())
    sender.start()
    assert [there.receive() for _ in range(3)] == [*sent, None]
    sender.join()


@pytest.mark.parametrize("sent", [b"[1]\n", b"nonsense\n", b"\xff\n"])
def test_what_is_no_message(sent: bytes) -> None:
    here, there = socket.socketpair()
    here.sendall(sent)
    with pytest.raises(ValueError):
        Line(there).receive()


def test_half_a_message_is_none() -> None:
    here, there = socket.socketpair()
    here.sendall(b'{"do"')
    here.close()
    assert Line(there).receive() is None


def test_who_waits_hears_that_it_is_over() -> None:
    here, there = pair()
    heard: list[Message | None] = []
    waiting = threading.Thread(target=lambda: heard.append(there.receive()))
    waiting.start()
    there.close()
    waiting.join()
    assert heard == [None] and here.receive() is None


def test_errors_arrive_with_their_places() -> None:
    one = PenstockError("no", span=Span(1, 3), source=Source("<repl>", "text"), hint="do", label="x")
    two = PenstockError("neither")
    (again,) = error_of(error_data(one)).errors
    assert (str(again), again.label, again.span) == (str(one), "x", Span(1, 3))
    assert str(error_of(error_data(PenstockErrors([one, two])))) == f"{one}\n\n{two}"


# The server


class Pretended:
    """A session that waits."""

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """What the server was asked; it answers with the same, and waits as long as it is told to."""
    found: list[Message] = []

    def answer(session: Any, line: Line, message: Message) -> None:
        found.append(message)
        if message["do"] == "wait":
            session.asked.set()
            session.go_on.wait()
        with line:
            line.send({"heard": message["do"]})

    monkeypatch.setattr(serve, "answer", answer)
    return found


@pytest.fixture
def server(tmp_path: Path, asked: list[Message]) -> Iterator[Server]:
    made = Server(Pretended(), tmp_path)
    made.start()
    yield made
    made._session.go_on.set()
    made.stop()


def dial(state: Path) -> Line:
    line = call(address_of(state))
    assert line is not None
    return line


def test_many_ask_at_once(server: Server, tmp_path: Path) -> None:
    lines = [dial(tmp_path) for _ in range(5)]
    for number, line in enumerate(lines):
        line.send({"do": f"{number}"})
    assert [line.receive() for line in lines] == [{"heard": f"{number}"} for number in range(5)]
    assert not server.has_changed
    line = dial(tmp_path)
    line.send({"do": "execute"})
    assert line.receive() == {"heard": "execute"} and server.has_changed


def test_nonsense_is_hung_up_on(server: Server, tmp_path: Path) -> None:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(address_of(tmp_path)))
    connection.sendall(b"GET / HTTP/1.1\n")
    assert connection.recv(10) == b""


def test_the_end_of_a_run(server: Server, tmp_path: Path, asked: list[Message]) -> None:
    """What is under way is finished, who has not said what they want is hung up on, and nobody gets in any more."""
    silent, busy = dial(tmp_path), dial(tmp_path)
    busy.send({"do": "wait"})
    server._session.asked.wait()
    end = threading.Thread(target=server.stop)
    end.start()
    assert silent.receive() is None
    server._session.go_on.set()
    assert busy.receive() == {"heard": "wait"}
    end.join()
    assert call(address_of(tmp_path)) is None and not address_of(tmp_path).exists()


def test_an_address_that_a_dead_run_has_left(server: Server, tmp_path: Path, asked: list[Message]) -> None:
    other = tmp_path / "other"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(address_of(other)))
    left.close()
    assert call(address_of(other)) is None
    again = Server(server._session, other)
    again.start()
    dial(other).close()
    again.stop()


def test_nobody_else_can_pretend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder that others may write to is not used; the run goes on without being reached."""
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setattr(serve, "address_of", lambda _: folder / "x.sock")
    made = Server(Pretended(), tmp_path)
    made.start()
    assert list(folder.iterdir()) == [] and call(folder / "x.sock") is None
    made.stop()
    assert not wire.is_ours(tmp_path / "nosuch")


def test_the_address_is_short_and_private(server: Server, tmp_path: Path) -> None:
    address = address_of(tmp_path / ("long" * 100))
    assert len(os.fsencode(address)) < 100
    assert stat.S_IMODE(address.parent.stat().st_mode) == 0o700
    assert address_of(tmp_path) == address_of(tmp_path / "x" / "..") != address
