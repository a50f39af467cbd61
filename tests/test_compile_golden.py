"""Golden files for binding (every node with its columns) and for EXPLAIN LOGICAL."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.api import compiled
from penstock.catalog import load_catalog
from penstock.compiler.logical import Plan
from penstock.compiler.program import Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.source import Source
from penstock.tests.golden import check_golden, read_input

GOLDEN = Path(__file__).parent / "golden"
CATALOG = load_catalog(Path(__file__).parent.parent / "catalog")


def _compiled(path: Path) -> penstock.CompiledQueries:
    script = Script(path.stem, Source(f"{path.stem}.cql", read_input(path)))
    return compiled(read_program([script], CATALOG, Settings()))


def _nodes(plan: Plan) -> str:
    lines = []
    for node in plan.walk():
        assert isinstance(node, Plan)
        columns = ", ".join(f"{'.'.join(part for part in ref if part)} {type_}" for ref, type_ in node.schema.items())
        lines += [node.describe(), f"    {columns}"]
    return "\n".join(lines)


@pytest.mark.parametrize("path", sorted((GOLDEN / "bind").glob("*.txt")), ids=lambda path: path.stem)
def test_bind(path: Path) -> None:
    try:
        actual = "\n\n".join(_nodes(plan) for plan in _compiled(path).logical.values())
    except penstock.PenstockError as error:
        actual = str(error)
    check_golden(path, actual)


@pytest.mark.parametrize("path", sorted((GOLDEN / "explain").glob("*.txt")), ids=lambda path: path.stem)
def test_explain(path: Path) -> None:
    check_golden(path, _compiled(path).explain())
    assert _compiled(path).explain() == _compiled(path).explain()
