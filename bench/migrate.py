"""Queries that come and go while others run: how soon a new one is in force, and what the others notice of it.

Run it with  .venv/bin/python bench/migrate.py [--quick] [--only ten,thousand,churn]. Data is made by a seeded generator
and read as fast as it goes, one second of it in every step. Take the ratios, not the figures: the machine may be busy
with other things.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from data import make_stream

if TYPE_CHECKING:
    from penstock import Session
    from penstock.runtime.engine import StepReport

SCHEMA = {"k": "bigint", "v": "double", "ts": "timestamp"}
JOIN = "SELECT x.k, x.ts AS ats, x.v AS av, y.v AS bv FROM a x, b y WHERE x.k = y.k"
RATE = 1_000
PARTS = ("ten", "thousand", "churn")
TABLE = "{:<52}{:>10}{:>10}{:>14}"


def query(number: int) -> str:
    """One of many queries of two templates, with ten windows."""
    selection = f"x.v > {90 + number % 997 * 0.01:.2f}" if number % 2 else f"y.v < {10 - number % 997 * 0.01:.2f}"
    return f"{JOIN} AND {selection} WINDOW {6 * (1 + number % 10)} sec"


def other_template(number: int) -> str:
    """A query unlike all others."""
    return (
        f"{JOIN} AND x.v + {number % 7 + 1} * y.v > {180 + number * 0.01:.2f} AND x.v - y.v <> {number} WINDOW 30 sec"
    )


class Live:
    """A session that runs, and the times at which its steps were done."""

    def __init__(self, folder: Path, seconds: int, count: int) -> None:
        import penstock
        from penstock.runtime.engine import Engine

        Engine.__init__.__kwdefaults__["step_rows"] = 2 * RATE  # one second of both streams
        for seed, name in enumerate(("a", "b")):
            make_stream(folder / name, rate=RATE, seconds=seconds, keys=5_000, per_file=1, seed=seed)
        streams = {
            name: {
                "schema": SCHEMA,
                "source": {"format": "parquet", "path": str(folder / name), "options": {"maxFilesPerTrigger": 1}},
                "statistics": {"rate": RATE, "distinct": {"k": 5_000}},
            }
            for name in ("a", "b")
        }
        self.steps: list[tuple[int, float, float, int]] = []  # number, when done, seconds, rows
        self.news = threading.Condition()
        self.session: Session = penstock.Session(catalog={"streams": streams}, state=folder / "state")
        for number in range(count):
            self.session.register(f"q{number}", query(number))
        self.session.on_step = self._note

    def _note(self, report: StepReport) -> None:
        with self.news:
            self.steps.append((report.step, time.perf_counter(), report.seconds, sum(report.rows.values())))
            self.news.notify_all()

    def wait_for(self, step: int) -> float:
        """When a step was done."""
        with self.news:
            self.news.wait_for(lambda: bool(self.steps) and self.steps[-1][0] >= step)
            return next(done for number, done, _, _ in self.steps if number >= step)

    def after(self, more: int) -> None:
        """Wait for so many steps more."""
        self.wait_for((self.steps[-1][0] if self.steps else 0) + more)

    def rows_between(self, begin: float, end: float) -> int:
        """The rows taken in some time."""
        return sum(rows for _, done, _, rows in self.steps if begin <= done < end)


def latencies(live: Live, texts: list[str], label: str) -> dict[str, float]:
    """Register and drop queries one after the other; medians of what a registration takes."""
    from penstock.runtime.engine import Migration

    found: list[Migration] = []
    live.session.on_migration = found.append
    in_force, first_done, made = [], [], []
    rng = random.Random(1)
    for number, text in enumerate(texts):
        live.after(2)
        time.sleep(rng.random() * live.steps[-1][2])  # at any time of a step
        began = time.perf_counter()
        live.session.register(f"{label}{number}", text)
        in_force.append(time.perf_counter() - began)
        first_done.append(live.wait_for(found[-1].step + 1) - began)
        made.append(found[-1].seconds)
        live.after(1)
        live.session.drop(f"{label}{number}")
    steps = [seconds for _, _, seconds, _ in live.steps[-4 * len(texts) :]]
    return {
        "step": statistics.median(steps),
        "in force": statistics.median(in_force),
        "worst": max(in_force),
        "first done": statistics.median(first_done),
        "made": statistics.median(made),
    }


def show(title: str, rows: list[tuple[str, dict[str, float], float]]) -> None:
    """A table of latencies; the goal is one step more than what is allowed."""
    print(f"\n{title}")
    print(TABLE.format("", "median", "worst", "allowed"))
    for name, found, extra in rows:
        print(f"  {name}: a step takes {found['step']:.3f} s, the change itself {found['made']:.3f} s")
        allowed = found["step"] + extra
        print(TABLE.format("    from the call to the first step under the new plan", f"{found['in force']:.3f}",
                           f"{found['worst']:.3f}", f"{allowed:.3f}"))  # fmt: skip
        print(TABLE.format("    … to the end of that step", f"{found['first done']:.3f}", "", ""))


def one_more(folder: Path, rounds: int, count: int, allowed: tuple[float, float]) -> None:
    """Queries run, and one more comes: of a known template, and of a new one."""
    live = Live(folder, 40 + rounds * 30, count)
    live.session.start()
    live.after(30)
    known = latencies(live, [query(5_000 + n) for n in range(rounds)], "known")
    new = latencies(live, [other_template(n) for n in range(rounds)], "new")
    live.session.stop()
    rows = [("of a known template", known, allowed[0]), ("of a new template", new, allowed[1])]
    show(f"With {count:,} queries running, one more", rows)


def churn(folder: Path, minutes: int) -> None:
    """A hundred registrations and drops a minute, in every second period, and what the others notice."""
    period = 30.0
    live = Live(folder, 200 + minutes * 60 * 9, 10)
    live.session.start()
    live.after(40)
    speeds: dict[str, list[float]] = {"undisturbed": [], "with 100 changes a minute": []}
    sizes = []
    number = 0
    for index in range(int(minutes * 60 * 2 / period)):
        kind = list(speeds)[index % 2]
        began = time.perf_counter()
        standing: list[str] = []
        while (now := time.perf_counter()) < began + period:
            if kind == "undisturbed":
                time.sleep(0.05)
                continue
            if len(standing) >= 5:
                live.session.drop(standing.pop(0))
            else:
                number += 1
                text = other_template(number) if number % 10 == 0 else query(5_000 + number)
                live.session.register(f"c{number}", text)
                standing.append(f"c{number}")
            time.sleep(max(0.0, now + 0.6 - time.perf_counter()))
        ended = time.perf_counter()
        speeds[kind].append(live.rows_between(began, ended) / (ended - began))
        for name in standing:
            live.session.drop(name)
        rows = live.session.execute("SHOW STATE")
        parts = ("chunks", "log", "plans", "staging")  # Spark clears its checkpoints itself, after ten minutes
        files = sum(1 for part in parts for _ in (folder / "state" / part).rglob("*"))
        sizes.append((sum(row["rows"] for row in rows), sum(row["chunks"] for row in rows), files))
    live.session.stop()
    print(f"\nQueries come and go, {minutes} minutes of it, 10 others run")
    for kind, found in speeds.items():
        print(f"  {kind:<28}{statistics.median(found):>10,.0f} rows/s   {' '.join(f'{s:,.0f}' for s in found)}")
    ratios = [b / a for a, b in zip(*speeds.values(), strict=True)]
    print(f"  ratio of neighbouring periods: median {statistics.median(ratios):.2f} (goal at least 0.90)")
    for label, (rows_kept, chunks, files) in (("first", sizes[0]), ("last", sizes[-1])):
        print(f"  after the {label} period: {rows_kept:,} rows and {chunks} chunks of state, {files} files")


def main() -> None:
    """Make the data and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="penstock-migrate-"))
    try:
        for part in options.only.split(","):
            print(f"  running {part} …", file=sys.stderr)
            if part == "ten":
                one_more(folder / part, 5 if options.quick else 30, 10, (0.1, 0.1))
            elif part == "thousand":
                one_more(folder / part, 3 if options.quick else 15, 1_000, (0.3, 1.0))
            else:
                churn(folder / part, 1 if options.quick else 5)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
