"""Readings that come as time goes by."""

from __future__ import annotations

import threading
from pathlib import Path

from penstock.demo.scenario import Scenario
from penstock.sensors import write_readings


class Feed:
    """Writes the files of the live part one after the other, in a thread of its own."""

    def __init__(self, scenario: Scenario, data: Path) -> None:
        self._scenario = scenario
        self._data = data
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="penstock-demo-feed", daemon=True)

    def _work(self) -> None:
        for second in range(0, self._scenario.live, self._scenario.tick):
            if self._stopped.wait(self._scenario.pause if second else 0):
                return
            self._write(second)

    def _write(self, second: int) -> None:
        write_readings(self._scenario.center, self._data, second, second + self._scenario.tick, "parquet")

    def write_the_rest(self) -> None:
        """Write what comes after the live part, all at once."""
        for second in range(self._scenario.live, self._scenario.live + self._scenario.later, self._scenario.tick):
            self._write(second)

    def __enter__(self) -> Feed:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
