"""The examples of docs/repl.md, run."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

from penstock.grammar.errors import PenstockError, render
from penstock.place import Place
from penstock.repl.console import Console
from penstock.repl.entries import entries
from penstock.repl.repl import Repl
from penstock.runtime.session import SparkSession
from penstock.session import Session

PAGE = Path(__file__).resolve().parent.parent / "docs" / "repl.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"^<!-- (show|mistake) -->\n```repl\n(.*?)^```\n\n(```text\n(?:.*?)^```\n|(?:\|[^\n]*\n)+)", re.M | re.S
)
READINGS = {
    "heat": [(0, 1, 31.0), (14, 1, 39.0), (30, 2, 36.5)],
    "damp": [(12, 1, 70.0), (35, 2, 55.0)],
}


def block(comment: str) -> str:
    """The text of the block after a comment."""
    found = re.search(rf"^<!-- {comment} -->\n```\w+\n(.*?)^```$", TEXT, re.M | re.S)
    assert found is not None
    return found[1]


def write_project(folder: Path) -> None:
    """The project that the page describes."""
    for part in ("catalog", "queries", *(f"data/{name}" for name in READINGS)):
        (folder / part).mkdir(parents=True)
    (folder / "penstock.yml").touch()
    (folder / "catalog" / "streams.yml").write_text(block("catalog"))
    (folder / "queries" / "near.cql").write_text(block("query near"))
    for name, rows in READINGS.items():
        value = "degrees" if name == "heat" else "percent"
        lines = (
            f'{{"place": {place}, "{value}": {found}, "ts": "2026-01-01 00:00:{at:02}"}}\n' for at, place, found in rows
        )
        (folder / "data" / name / "0.json").write_text("".join(lines))


def test_examples(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block gives what stands after it; PENSTOCK_UPDATE_GOLDEN=1 writes that into the page."""
    monkeypatch.setenv("COLUMNS", "100")
    write_project(tmp_path)
    with Session(tmp_path, spark=spark) as session:
        session.run(once=True)
    place = Place(tmp_path, spark)

    def given(match: re.Match[str]) -> str:
        kind, typed, before = match.groups()
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                Repl(place, Console("table")).do_all(entries(typed.splitlines(keepends=True), "<repl>"))
                assert kind == "show"
            except PenstockError as error:
                assert kind == "mistake", error
                print(render(error))
        lines = [line.rstrip() for line in out.getvalue().splitlines()]
        table = [line for line in lines if line.startswith("|")]
        shown = "\n".join(table) + "\n" if before.startswith("|") else "```text\n" + "\n".join(lines) + "\n```\n"
        return match[0][: match.start(3) - match.start()] + shown

    found = EXAMPLE.sub(given, TEXT)
    place.stop()
    assert len(EXAMPLE.findall(TEXT)) == TEXT.count("```repl\n") == 5
    if os.environ.get("PENSTOCK_UPDATE_GOLDEN") == "1":
        PAGE.write_text(found, encoding="utf-8")
    else:
        assert found == TEXT
