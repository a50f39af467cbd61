"""A run that is killed at any moment, again and again, while more rows come: every result once in the end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.tests.duck import differences, expected, plain_read
from penstock.tests.streams import SECOND, Asked, Workload, arrivals

JOINED = (("Heat", "A", 3 * SECOND), ("Wet", "B", 3 * SECOND))
APART = (("Heat", "A", 1 * SECOND), ("Wet", "B", 7 * SECOND))
QUERIES = [
    Asked("near", JOINED, ("A.k = B.k",), (("A.v", "x"), ("B.v", "y")), True),
    Asked("hot", JOINED, ("A.k = B.k", "A.v > 2.0"), (("A.v", "x"),), True),
    Asked("apart", APART, ("A.k = B.k", "A.v < B.v"), (("A.s", "s"),), False),
    Asked("alone", (("Heat", "A", None),), ("A.v > 1.5",), (("A.v", "x"), ("A.ts", "t")), False),
]
VISITORS = [
    "SELECT A.n FROM Heat A, Wet B WHERE A.k = B.k AND A.v > 0.5 WINDOW 5 sec",
    "SELECT A.n FROM Heat A, Wet B WHERE A.k = B.k AND A.v > 1.0 WINDOW 1 hour",
    "SELECT A.v, A.s FROM Heat A, Load B WHERE A.k = B.k WINDOW 2 sec",
    "SELECT A.b FROM Wet A WHERE A.v < 2.0",
]
SCRIPT = """
import sys
from penstock.cli import main
from penstock.runtime import propagate, results
from penstock.runtime.engine import Engine

propagate._FAN_IN, propagate._SPANS, propagate._WASTE, results._MERGE = 2, 0.01, 0.0, 2
Engine.__init__.__kwdefaults__["step_rows"] = 20
sys.argv = ["penstock", "run", "--once", "--plain"]
main()
"""
KILLS = 24


@pytest.mark.slow
@pytest.mark.parametrize("sharing", ["slice", "push-down"])
def test_kill(tmp_path: Path, sharing: str) -> None:
    """Killed while steps go on, at a moment that differs each time, with other queries in every life."""
    rng = random.Random(sharing)
    count = KILLS // 2 * 6
    rows = {stream: arrivals(rng, stream, count * 6) for stream in ("Heat", "Wet")}
    files = {stream: [own[i : i + 6] for i in range(0, len(own), 6)] for stream, own in rows.items()}
    given = Workload(0, QUERIES, files)
    make_project(tmp_path, given, sharing)
    wanted = expected(given.queries, given.rows)
    kills = parts = 0
    while kills < KILLS // 2:
        if parts < KILLS // 2:
            given.write(tmp_path / "data", parts, KILLS // 2)
            parts += 1
        for number, text in enumerate(VISITORS):
            file = tmp_path / "queries" / f"visitor{number}.cql"
            file.write_text(text) if rng.random() < 0.5 else file.unlink(missing_ok=True)
        kills += run(tmp_path, rng)
        found = {asked.name: plain_read(tmp_path / "state", asked) for asked in given.queries}
        assert not any(found[name] - wanted[name] for name in wanted), "a row is there twice"
        assert kills >= parts // 2, "runs end before they are killed"
    for part in range(parts, KILLS // 2):
        given.write(tmp_path / "data", part, KILLS // 2)
    assert run(tmp_path, None) == 0
    assert not differences(wanted, {asked.name: plain_read(tmp_path / "state", asked) for asked in given.queries})


def make_project(folder: Path, given: Workload, sharing: str) -> None:
    """A project over the files of a workload."""
    (folder / "queries").mkdir()
    (folder / "catalog").mkdir()
    for stream in ("Heat", "Wet", "Load"):
        (folder / "data" / stream).mkdir(parents=True)
    for asked in given.queries:
        (folder / "queries" / f"{asked.name}.cql").write_text(asked.text)
    (folder / "catalog" / "streams.yml").write_text(json.dumps(given.catalog(folder / "data")))
    memory = "spark: {spark.driver.memory: 1g}"
    (folder / "penstock.yml").write_text(f"state: state\nsettings: {{sharing: {sharing}}}\n{memory}\n")


def run(folder: Path, rng: random.Random | None) -> bool:
    """Run once; with random numbers, kill it some time after it began its work. Whether it was killed."""
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True) as child:
        assert child.stderr is not None
        lines = []
        for line in child.stderr:
            lines.append(line)
            if rng is not None and "starting Spark" in line:
                try:
                    child.wait(timeout=rng.uniform(3.0, 9.0))
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                break
        child.stderr.read()
        code = child.wait()
    assert code in (0, -signal.SIGKILL), "".join(lines)
    return code != 0
