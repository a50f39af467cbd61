"""How fast queries compile: `penstock check` on a small project, and a thousand queries in one call.

Run it with  make bench  or  .venv/bin/python bench/compile.py [--runs N] [--queries N].
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import penstock

ROOT = Path(__file__).resolve().parent.parent
CATALOG = ROOT / "catalog"
FILES = 10
TARGETS = {"check": 1.0, "compile": 5.0}  # seconds


def query(number: int) -> str:
    """One of the four shapes of query, with constants and a window of its own."""
    window, limit = 1 + number % 60, number % 97
    return (
        f"SELECT A.* FROM Temperature A, Humidity B WHERE A.LocationId = B.LocationId WINDOW {window} min",
        f"SELECT A.LocationId, A.Value AS t, B.Value AS h FROM Temperature A JOIN Humidity B "
        f"ON A.LocationId = B.LocationId WHERE A.Value > {limit} AND B.Value < {limit + 5} WINDOW {window} min",
        f"SELECT A.LocationId, MAX(A.Value) AS t, COUNT(*) AS n FROM Temperature A, Humidity B WHERE A.LocationId = "
        f"B.LocationId AND A.Value > {limit} GROUP BY A.LocationId HAVING COUNT(*) > 3 WINDOW {window} min SLIDE 1 min",
        f"SELECT R.Owner, C.Watts, A.Value FROM Temperature A [RANGE {window} min] JOIN Load C [RANGE 5 min] "
        f"ON A.LocationId = C.LocationId JOIN Racks R ON R.LocationId = A.LocationId WHERE C.Watts > {limit}",
    )[number % 4]


def make_project(folder: Path) -> None:
    """A project of ten files in a folder."""
    (folder / "queries").mkdir()
    (folder / "catalog").mkdir()
    shutil.copy(CATALOG / "datacenter.yml", folder / "catalog")
    (folder / "penstock.yml").write_text("catalog: catalog\nqueries: queries\n", encoding="utf-8")
    for number in range(FILES):
        (folder / "queries" / f"q{number}.cql").write_text(query(number), encoding="utf-8")


def measure(action: Callable[[], object], runs: int) -> list[float]:
    """The seconds that each run took."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return seconds


def check(runs: int) -> list[float]:
    """`penstock check` from the shell, its start included."""
    command = [Path(sys.executable).parent / "penstock", "check", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        make_project(Path(folder))
        return measure(lambda: subprocess.run([*command, folder], check=True), runs)


def compile_all(count: int, runs: int) -> list[float]:
    """Many queries in one call of `penstock.compile`."""
    queries = {f"q{number}": query(number) for number in range(count)}
    return measure(lambda: penstock.compile(queries, catalog=CATALOG), runs)


def row(what: str, seconds: list[float], target: float) -> str:
    """One line of the table."""
    best, median = min(seconds), statistics.median(seconds)
    verdict = "met" if median <= target else "missed"
    return f"{what:<36}{best:>9.2f}{median:>9.2f}{target:>9.2f}  {verdict}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, help="how often to measure each (default: 5 and 3)")
    parser.add_argument("--queries", type=int, default=1000, help="how many queries to compile at once")
    options = parser.parse_args()
    if min(options.queries, 1 if options.runs is None else options.runs) < 1:
        parser.error("give numbers of at least 1")
    print(f"{'seconds':<36}{'best':>9}{'median':>9}{'target':>9}")
    print(row(f"penstock check, {FILES} files", check(options.runs or 5), TARGETS["check"]))
    target = TARGETS["compile"] * options.queries / 1000
    print(row(f"penstock.compile, {options.queries} queries", compile_all(options.queries, options.runs or 3), target))


if __name__ == "__main__":
    main()
