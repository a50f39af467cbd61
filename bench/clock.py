"""Time by the clock, and by the processors: the latter hardly minds what else the machine does."""

from __future__ import annotations

import os
import time
from pathlib import Path


class Clock:
    """The seconds since it was made, and how many of them the processors worked for this process and those below it.

    What the JVM's compilers take is left out: it tells how warm the JVM is, and not what the work costs.
    """

    def __init__(self) -> None:
        self._began, self._used = time.perf_counter(), _used()

    def read(self) -> tuple[float, float]:
        """Seconds by the clock and seconds of processor time."""
        return time.perf_counter() - self._began, _used() - self._used


def _used() -> float:
    """Processor time of this process and all that live below it, as Linux counts it."""
    ticks, parents = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (known := _stat(entry)):
            _, parents[int(entry.name)], ticks[int(entry.name)] = known
    own = {os.getpid()}
    while below := {process for process, parent in parents.items() if parent in own} - own:
        own |= below
    total = 0
    for process in own & set(ticks):
        threads = (_stat(thread) for thread in Path(f"/proc/{process}/task").glob("*"))
        total += ticks[process] - sum(known[2] for known in threads if known and known[0].startswith(("C1 ", "C2 ")))
    return total / os.sysconf("SC_CLK_TCK")


def _stat(folder: Path) -> tuple[str, int, int] | None:
    """The name of a process or thread, its parent and its ticks; None if it has just ended."""
    try:
        name, _, text = (folder / "stat").read_text().partition("(")[2].rpartition(")")
    except OSError:
        return None
    fields = text.split()
    return name, int(fields[1]), int(fields[11]) + int(fields[12])
