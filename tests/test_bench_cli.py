"""`penstock bench`, from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def _bench(*args: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "penstock"), "bench", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_a_tiny_run(tmp_path: Path) -> None:
    done = _bench("windows", "--tiny", "--rounds", "1", "--systems", "penstock,duckdb", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "One join, one query" in done.stdout and "missed" in done.stdout and "not measured" in done.stdout
    assert "windows: round 1/1, 1/" in done.stderr
    result = json.loads((tmp_path / "windows.json").read_text(encoding="utf-8"))
    cases = {case["name"]: case for case in result["cases"]}
    assert not any(case["void"] or case["failure"] for case in cases.values())
    answers = [cases[name]["rounds"][0] for name in ("penstock, 60 s", "duckdb, 60 s")]
    assert answers[0]["results"] == answers[1]["results"] and answers[0]["results"]["q"] > 0
    assert answers[0]["checksum"] == answers[1]["checksum"] != 0
    assert (tmp_path / "windows.svg").exists() and (tmp_path / "benchmarks.md").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("window",), "did you mean windows?"),
        (("--systems", "sparc"), "did you mean spark?"),
    ],
)
def test_a_wrong_name(args: tuple[str, ...], said: str) -> None:
    done = _bench(*args)
    assert done.returncode == 2 and said in done.stderr
