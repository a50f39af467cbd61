"""Files that arrive at a steady pace, and how long it takes until what they give is there."""

from __future__ import annotations

import shutil
import statistics
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyarrow import parquet

Commit = tuple[float, int]
"""A time, and how many rows have been taken since the commit before it."""


class Feeder:
    """Gives files of several streams, made before, to whoever reads the folders of the same names."""

    def __init__(self, data: Path, live: Path, names: Sequence[str], every: float) -> None:
        self._files = [sorted((data / name).glob("*.parquet")) for name in names]
        self._live, self._names, self._every = live, names, every
        self.arrivals: list[float] = []
        self.rows: list[int] = []
        """Of the files that have arrived: when, and how many rows there are in all up to them."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)
        for name in names:
            (live / name).mkdir(parents=True)

    @property
    def total(self) -> int:
        """The rows of all files."""
        return sum(_rows(path) for files in self._files for path in files)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Let no more files arrive."""
        self._stop.set()
        self._thread.join()

    def wait(self) -> None:
        """Wait until all files have arrived."""
        self._thread.join()

    def _feed(self) -> None:
        began, given = time.time(), 0
        for number, files in enumerate(zip(*self._files, strict=True)):
            if self._stop.wait(max(0.0, began + number * self._every - time.time())):
                return
            for name, path in zip(self._names, files, strict=True):
                hidden = self._live / name / f".{path.name}"
                shutil.copyfile(path, hidden)
                hidden.rename(hidden.with_name(path.name))
                given += _rows(path)
            self.arrivals.append(time.time())
            self.rows.append(given)


def _rows(path: Path) -> int:
    rows: int = parquet.read_metadata(path).num_rows
    return rows


def latencies(feeder: Feeder, commits: Sequence[Commit], skip: int) -> dict[str, Any]:
    """How long it took until the results of each file were there, but for the first ones, while things get warm.

    What cannot keep up takes longer and longer: it is sustained if the last third takes hardly longer than the others.
    """
    found, taken, place = [], 0, 0
    for when, rows in commits:
        taken += rows
        while place < len(feeder.rows) and feeder.rows[place] <= taken:
            found.append(round(when - feeder.arrivals[place], 4))
            place += 1
    found = found[skip:]
    third = max(1, len(found) // 3)
    early, late = statistics.median(found[:-third] or found), statistics.median(found[-third:])
    return {
        "seconds": statistics.median(found),
        "worst": max(found),
        "p95": sorted(found)[max(0, round(0.95 * len(found)) - 1)],
        "latencies": found,
        "sustained": late < 1.5 * early + 0.2,
    }
