"""The documentation against the code: its statements compile, what it says is refused is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import penstock
from penstock import cli
from penstock.catalog import Catalog, load_catalog
from penstock.compiler.compile import compile_program
from penstock.compiler.program import Definition, Program, Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar import ast
from penstock.grammar.parser import parse_script
from penstock.grammar.source import Source

ROOT = Path(__file__).resolve().parent.parent
CATALOG = load_catalog(ROOT / "catalog")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES.remove(ROOT / "docs" / "tutorial.md")  # a project of its own: test_docs_tutorial.py follows it
LANGUAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")


def _blocks(path: Path) -> list[str]:
    return re.findall(r"^```sql\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)


def _definition(node: ast.Statement, source: Source, number: int) -> Definition | None:
    """The query that a statement holds, whatever it does with it."""
    match node:
        case ast.CreateQuery(name, body):
            return Definition(name, body, source)
        case ast.Select() | ast.InsertInto():
            return Definition(f"query{number}", node, source)
        case ast.AlterQuery(_, body):
            return Definition(f"altered{number}", body, source)
        case ast.Explain(target):
            return _definition(target, source, number) if isinstance(target, ast.Statement) else None
    return None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_statements_compile(path: Path) -> None:
    source = Source(path.name, ";\n".join(block.rstrip().rstrip(";") for block in _blocks(path)))
    statements = parse_script(source)
    entries = [node for node in statements if isinstance(node, ast.CreateStream | ast.CreateRelation)]
    catalog = CATALOG
    for node in entries:
        catalog = catalog.without(node.name) if catalog.find(node.name) is not None else catalog
    text = ";".join(source.text[node.span.start : node.span.end] for node in entries)
    catalog = read_program([Script("entries", Source(path.name, text))], catalog, Settings()).catalog
    found = [_definition(node, source, number) for number, node in enumerate(statements)]
    queries = {definition.name: definition for definition in found if definition is not None}
    assert len(compile_program(Program(catalog, Settings(), queries))) == len(queries)


def test_there_are_statements_to_compile() -> None:
    assert len([block for path in PAGES for block in _blocks(path)]) >= 8


def test_the_streams_of_the_documentation_are_those_of_the_example() -> None:
    text = next(block for block in _blocks(ROOT / "docs" / "language.md") if "CREATE STREAM" in block)
    catalog = read_program([Script("s", Source("s", text))], Catalog(), Settings()).catalog
    for entry in catalog.entries:
        known = CATALOG.find(entry.name)
        assert known is not None
        assert known.columns == entry.columns


# What stands in the table of what is refused, and a few texts that are refused so.
REFUSED = {
    "a join of streams or an aggregate without a window": [
        "SELECT A.ts FROM Load A, Humidity B",
        "SELECT COUNT(*) FROM Load",
    ],
    "a query over relations alone": ["SELECT Owner FROM Racks"],
    "a window on a relation": ["SELECT Owner FROM Load, Racks [RANGE 1 min]"],
    "`SLIDE` without an aggregate": ["SELECT ts FROM Load WINDOW 1 min SLIDE 1 sec"],
    "a column beside an aggregate that is not in `GROUP BY`": ["SELECT ts, COUNT(*) FROM Load WINDOW 1 min"],
    "`LEFT`, `RIGHT`, `FULL`, `NATURAL`, `SEMI`, `ANTI` joins, `USING`": [
        *(f"SELECT A.ts FROM Load A {join} JOIN Racks R" for join in ("LEFT", "RIGHT", "FULL", "NATURAL")),
        *(f"SELECT A.ts FROM Load A LEFT {join} JOIN Racks R ON TRUE" for join in ("SEMI", "ANTI")),
        "SELECT A.ts FROM Load A JOIN Racks R USING (LocationId)",
    ],
    "`ORDER BY`, `LIMIT`, `OFFSET`": [f"SELECT ts FROM Load {c}" for c in ("ORDER BY ts", "LIMIT 5", "OFFSET 5")],
    "`UNION`, `EXCEPT`, `INTERSECT`": [
        f"SELECT ts FROM Load {word} SELECT ts FROM Humidity" for word in ("UNION", "EXCEPT", "INTERSECT")
    ],
    "a query inside a query, `WITH`": [
        "SELECT ts FROM (SELECT ts FROM Load)",
        "WITH a AS (SELECT ts FROM Load) SELECT ts FROM a",
    ],
    "`OVER`": ["SELECT MAX(Watts) OVER (ORDER BY ts) FROM Load"],
    "`UPDATE`, `DELETE`, `TRUNCATE`, `MERGE`": [
        "UPDATE Load SET Watts = 1",
        "DELETE FROM Load",
        "TRUNCATE TABLE Load",
        "MERGE INTO Load",
    ],
    "`HAVING` without an aggregate or `GROUP BY`": ["SELECT ts FROM Load HAVING Watts > 1 WINDOW 1 min"],
    "a query that reads its own results, also through others": [
        "CREATE QUERY a AS SELECT * FROM b; CREATE QUERY b AS SELECT * FROM a"
    ],
    "values of different kinds compared or mixed": [
        "SELECT ts FROM Load WHERE Watts > '30'",
        "SELECT COALESCE(Watts, 'none') FROM Load",
    ],
    "functions outside the list": ["SELECT reflect('x') FROM Load", "SELECT now() FROM Load"],
    "`1 < a < 5`": ["SELECT ts FROM Load WHERE 1 < Watts < 5"],
    "a window or slide of no length, a duration of over a hundred years": [
        "SELECT ts FROM Load WINDOW 0 sec",
        "SELECT COUNT(*) FROM Load WINDOW 1 min SLIDE 0 sec",
        "SELECT ts FROM Load WINDOW 40000 days",
    ],
}


def test_the_table_of_what_is_refused_is_checked() -> None:
    table = LANGUAGE.partition("\n## What is refused\n")[2]
    assert re.findall(r"^\| (.*?) \|", table, re.M)[1:] == list(REFUSED)


@pytest.mark.parametrize("text", [text for texts in REFUSED.values() for text in texts])
def test_what_is_refused(text: str) -> None:
    with pytest.raises(penstock.PenstockError) as caught:
        penstock.compile({"q": text}, catalog=CATALOG)
    assert all(error.hint and error.span for error in caught.value.errors)


def test_the_mistakes_in_the_readme(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.partition("A mistake is shown where it stands")[2].partition("```text\n")[2].partition("```")[0]
    query = dict.fromkeys(re.findall(r"error: .*\n  (.*)\n", shown))
    monkeypatch.setattr(sys, "argv", ["penstock", "explain", "-c", str(ROOT / "catalog"), "--sql", "\n".join(query)])
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err == shown


def test_the_places_of_a_project_named_in_the_readme() -> None:
    assert (ROOT / "penstock.yml").is_file()
    assert {"check", "explain"} <= set(re.findall(r"\.venv/bin/penstock (\w+)", (ROOT / "README.md").read_text()))


def test_the_plans_shown_are_those_the_queries_give() -> None:
    """Of the queries in the block above them."""
    path = ROOT / "docs" / "sharing.md"
    shown = []
    for queries, kind, plan in re.findall(
        r"^```sql\n(.*?)^```$|^<!-- explain (\w+) -->\n```text\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S
    ):
        if queries:
            program = read_program([Script("sharing", Source(path.name, queries))], CATALOG, Settings())
            compiled = penstock.api.compiled(program)
        else:
            assert plan.rstrip("\n") == compiled.explain(kind)
            shown.append(kind)
    assert shown == ["shared", "cost", "physical", "cost"]
