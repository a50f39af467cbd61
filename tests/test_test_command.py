"""`penstock test` on Spark: the tests of the example project, and the examples of docs/testing.md."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from penstock import cli
from penstock.queries import example_names
from penstock.runtime.session import SparkSession
from penstock.starter import write_template

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "testing.md").read_text("utf-8")
PARTS = """
streams:
  Parts:
    schema:
      {list: array<int>, map: "map<string,double>", d: "decimal(4,1)", on: boolean, day: date, s: string, ts: timestamp}
"""
MORE = {
    "catalog/parts.yml": PARTS,
    "queries/all.cql": "SELECT list, map, d, `on`, day, s, ts FROM Parts",
    "queries/sunk.cql": "INSERT INTO json 'out' SELECT A.s FROM all A WHERE A.`on`",
    "queries/all.test.yml": r"""
rows:
  Parts:
    - {list: [1, 2], map: {a: 1.5}, d: 1.5, on: true, day: 2026-01-31, s: "ä,\"\n", ts: 00:01}
    - {s: "", on: false, ts: 00:01}
tests:
  values of all types:
    expect:
      - {_ts: 00:01, list: , map: , d: , on: false, day: , s: "", ts: 00:01}
      - {_ts: 00:01, list: [1, 2], map: {a: 1.5}, d: 1.50, on: true, day: 2026-01-31, s: "ä,\"\n", ts: 00:01}
  a query that reads another and writes elsewhere:
    query: sunk
    expect: [{_ts: 00:01, s: "ä,\"\n"}]
""",
    "queries/unfit.test.yml": """
tests:
  a list that is none of numbers:
    query: all
    rows: {Parts: [{list: [x], ts: 00:01}]}
    expect: []
""",
}


def penstock(monkeypatch: pytest.MonkeyPatch, *args: str) -> int:
    monkeypatch.setattr(sys, "argv", ["penstock", "test", *args])
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return int(caught.value.code or 0)


def test_the_example_project(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every query of it has tests, and they are fine; nothing of the project is touched."""
    assert penstock(monkeypatch, str(ROOT), "-f", "junit") == 0
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert {Path(suite.get("name") or "").name for suite in root} == {f"{name}.test.yml" for name in example_names()}
    assert not (ROOT / ".penstock").exists()


def test_the_documentation(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its files make a project, whose tests come out as it shows; values of all types are read and compared."""
    files = dict(re.findall(r"^<!-- file (\S+) -->\n```\w+\n(.*?)^```$", PAGE, re.M | re.S))
    shutil.copytree(ROOT / "catalog", tmp_path / "catalog", ignore=shutil.ignore_patterns("*.py"))
    (tmp_path / "queries").mkdir()
    (tmp_path / "penstock.yml").touch()
    for name, content in {**files, **MORE}.items():
        (tmp_path / name).write_text(content, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert penstock(monkeypatch) == 1
    out, err = capsys.readouterr()
    sections = re.split(r"^(?=\S)", "\n".join(map(str.rstrip, out.splitlines())) + "\n", flags=re.M)
    shown = re.findall(r"^<!-- output -->\n```text\n(.*?)^```$", PAGE, re.M | re.S)
    assert len(shown) == 2 and set(shown) <= set(sections), (out, err)
    failed = [section for section in sections if "FAIL" in section]
    assert [section.partition(".")[0] for section in failed] == ["queries/late", "queries/unfit"]
    assert "1 of the rows of Parts cannot be read" in failed[1]
    assert "2 tests of 8 failed, in " in err
    assert not (tmp_path / ".penstock").exists() and not (tmp_path / "out").exists()


def test_a_new_project(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What  penstock init  writes has tests to begin with, in one run."""
    write_template("starter", tmp_path)
    assert penstock(monkeypatch, str(tmp_path)) == 0
    assert capsys.readouterr().out.count("  ok    ") == 2


def test_one_test(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of one file, filtered by a pattern, as JSON."""
    file = ROOT / "queries" / "hot_with_humidity.test.yml"
    assert penstock(monkeypatch, str(file), "-f", "json", "-q", "-k", "*SHORTER*") == 0
    out, err = capsys.readouterr()
    (line,) = map(json.loads, out.splitlines())
    assert (line["query"], line["outcome"], line["file"]) == ("temperature_with_humidity", "passed", str(file))
    assert err == ""


def test_paths_that_are_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    query = str(ROOT / "queries" / "hot_with_humidity.cql")
    for args, code, said in (
        ((query,), 1, f"'{query}' is no file of tests"),
        (("nosuch",), 1, "there is no file or folder 'nosuch'"),
        ((str(ROOT), query), 2, "give one project's folder"),
        ((str(ROOT), "-k", "nosuch"), 1, "there is no test to run"),
        ((str(ROOT), "-f", "xml"), 2, "--format"),
    ):
        assert penstock(monkeypatch, *args) == code
        out, err = capsys.readouterr()
        assert out == "" and said in err
