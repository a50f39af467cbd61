"""Ctrl-C while a run goes on."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any


class Interruption:
    """The first Ctrl-C asks for an end after the step that is under way, the second one ends at once.

    Spark must have been started before: it takes Ctrl-C for itself when it does.
    """

    def __init__(self, stop: Callable[[], None], say: Callable[[str], None]) -> None:
        self._stop = stop
        self._say = say
        self.came = False

    def __enter__(self) -> Interruption:
        self._previous = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._previous)

    def _interrupt(self, *_: Any) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
        self._say("stopping after this step; Ctrl-C again stops at once")
        self._stop()
