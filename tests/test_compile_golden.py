"""Golden files for binding (every node with its columns) and for EXPLAIN LOGICAL."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.compiler.logical import Plan
from penstock.tests.golden import check_golden, compile_golden

GOLDEN = Path(__file__).parent / "golden"


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
        actual = "\n\n".join(_nodes(plan) for plan in compile_golden(path).logical.values())
    except penstock.PenstockError as error:
        actual = str(error)
    check_golden(path, actual)


@pytest.mark.parametrize("path", sorted((GOLDEN / "explain").glob("*.txt")), ids=lambda path: path.stem)
def test_explain(path: Path) -> None:
    check_golden(path, compile_golden(path).explain())
    assert compile_golden(path).explain() == compile_golden(path).explain()
