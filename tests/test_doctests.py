"""The examples in docstrings, run."""

from __future__ import annotations

import doctest
import importlib
import shutil
from pathlib import Path

import pytest

import penstock
from penstock.runtime.session import SparkSession

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"app": "penstock", **{name: f"penstock.{name}" for name in ("catalog", "compiler", "grammar", "runtime")}}
FILES = {
    "penstock.yml": "",
    "catalog/sensors.yml": """
streams:
  Temperature:
    source: {format: csv, path: data/temperature, options: {header: true}}
    schema: {LocationId: int, Value: double, ts: timestamp}
    lateness: 5 sec
  Humidity:
    source: {format: csv, path: data/humidity, options: {header: true}}
    schema: {LocationId: int, Value: double, ts: timestamp}
    lateness: 5 sec
""",
    "queries/near.cql": """
SELECT A.LocationId, A.Value AS t, B.Value AS h
FROM Temperature A JOIN Humidity B ON A.LocationId = B.LocationId WINDOW 1 min
""",
    "data/temperature/0.csv": """LocationId,Value,ts
1,31.5,2026-01-01 00:00:00
2,35.0,2026-01-01 00:01:00
3,20.0,2026-01-01 00:01:00
""",
    "data/humidity/0.csv": """LocationId,Value,ts
1,40.0,2026-01-01 00:00:30
2,50.0,2026-01-01 00:02:00
""",
}
"""The project that examples name: sensors."""


def modules() -> list[str]:
    """The modules whose docstrings have examples."""
    found = []
    for folder, package in FOLDERS.items():
        for file in (ROOT / folder).rglob("*.py"):
            if ">>> " in file.read_text("utf-8"):
                inside = file.relative_to(ROOT / folder).with_suffix("")
                found.append(".".join([package, *inside.parts]).removesuffix(".__init__"))
    return sorted(found)


@pytest.mark.parametrize("name", modules())
def test_examples(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each in a folder of its own with the project."""
    module = importlib.import_module(name)
    monkeypatch.chdir(tmp_path)
    tests = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert tests
    for test in tests:
        shutil.rmtree("sensors", ignore_errors=True)
        for file, text in FILES.items():
            path = tmp_path / "sensors" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        test.globs |= {"penstock": penstock}
        said: list[str] = []
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
        assert said == [], "".join(said)


def test_what_is_public_has_examples() -> None:
    assert {"penstock.api", "penstock.session", "penstock.query", "penstock.catalog.model"} <= set(modules())
