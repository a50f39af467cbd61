"""The examples of docs/queries, run: every table of results and every plan is what comes out.

The comment before a block says what it is; docs/queries/README.md lists them.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from penstock.grammar.parser import parse_script
from penstock.grammar.source import Source
from penstock.runtime.session import SparkSession
from penstock.session import Session
from tests.pages import check_page

PAGES = sorted((Path(__file__).resolve().parent.parent / "docs" / "queries").glob("*.md"))
DAY = "2026-01-01 "


def rows_of(table: str) -> list[list[str]]:
    """The rows of a table; a time alone is one of the day of the examples."""
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return [head, *([re.sub(r"^(?=\d\d:\d\d:\d\d)", DAY, cell) for cell in row] for row in rows)]


def table_of(head: list[str], rows: list[list[str]]) -> str:
    """Rows as a table."""
    lines = [head, *([cell.removeprefix(DAY) for cell in row] for row in sorted(rows))]
    first, *others = (f"| {' | '.join(line)} |\n" for line in lines)
    return "".join([first, f"|{'---|' * len(head)}\n", *others])


def shown(rows: list[dict[str, Any]]) -> str:
    """What a statement shows: a plan as it is, else a table."""
    if not rows or "plan" in rows[0]:
        return "".join(f"{row['plan']}\n" for row in rows)
    return table_of(list(rows[0]), [[str(value) for value in row.values()] for row in rows])


class Example:
    """A project, run as far as its page says."""

    def __init__(self, spark: SparkSession, folder: Path, text: str) -> None:
        (folder / "queries").mkdir(parents=True)
        (folder / "penstock.yml").write_text("state: state\n", "utf-8")
        (folder / "queries" / "example.cql").write_text(text, "utf-8")
        self.folder = folder
        self.session = Session(folder, spark=spark)
        self.shown = ""
        self.done = 0  # 1 when what is there has been taken, 2 when every window is closed too
        for stream in self.session.program.catalog.streams:
            self.path(stream.name).mkdir(parents=True)

    def path(self, name: str) -> Path:
        """Where a stream or a relation is read from."""
        entry = self.session.program.catalog.find(name)
        assert entry is not None and entry.source is not None
        return self.folder / str(entry.source.path)

    def come(self, name: str, rows: list[list[str]]) -> None:
        """Write rows: as one more file of a folder, or in place of the file that was there."""
        path = self.path(name)
        path = path / f"{len(list(path.iterdir()))}.csv" if path.is_dir() else path
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["" if cell == "NULL" else cell for cell in row] for row in rows])
        self.done = 0

    def execute(self, text: str) -> None:
        """Carry out statements; what the last one shows is shown next."""
        for node in parse_script(Source("<page>", text)):
            found = self.session.execute(text[node.span.start : node.span.end])
            self.shown = shown(found)
        self.done = 0

    def results(self, name: str, *, drain: bool) -> str:
        """All the results of a query so far, as a table."""
        if self.done < 1 + drain:
            self.session.run(once=not drain, drain=drain)
            self.done = 1 + drain
        found = self.session.results(name)
        texts = found.selectExpr(*(f"CAST(`{column}` AS STRING)" for column in found.columns))
        return table_of(
            found.columns, [["NULL" if value is None else value for value in row] for row in texts.collect()]
        )

    def lines(self, folder: str) -> str:
        """The lines of the files in a folder, sorted."""
        files = (self.folder / folder).rglob("[!._]*.json")
        return "".join(sorted(line for file in files for line in file.read_text("utf-8").splitlines(keepends=True)))


def carried_out(example: Example, what: str, name: str, block: str) -> str:
    """Do what a block says; what the block should be."""
    match what:
        case "rows":
            example.come(name, rows_of(block))
        case "execute":
            example.execute(block)
        case "results" | "drained":
            return example.results(name, drain=what == "drained")
        case "shows":
            return example.shown
        case "lines":
            return example.lines(name)
        case _:
            raise ValueError(f"unknown block: {what}")
    return block


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page(spark: SparkSession, tmp_path: Path, path: Path) -> None:
    """Every example gives what its page says."""
    examples: list[Example] = []

    def run(what: str, name: str, block: str) -> str:
        if what == "example":
            examples.append(Example(spark, tmp_path / str(len(examples)), block))
            return block
        return carried_out(examples[-1], what, name, block)

    check_page(path, run)
    text = path.read_text(encoding="utf-8")
    assert text.count("```sql\n") == len(re.findall(r"^<!-- (?:example|execute) -->\n```sql$", text, re.M))


def test_every_kind_of_query_has_a_page_that_is_listed() -> None:
    index = next(path for path in PAGES if path.stem == "README").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == {path.name for path in PAGES if path.stem != "README"}
