"""Golden files for EXPLAIN of the shared and physical plan and of the cost; the kind is the second part of the name."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.tests.golden import check_golden, compile_golden

GOLDEN = Path(__file__).parent / "golden"

OTHER = {
    "verbose": {"kind": "logical", "verbose": True},
    "json": {"kind": "physical", "format": "json"},
    "mermaid": {"format": "mermaid"},
}


@pytest.mark.parametrize("path", sorted((GOLDEN / "plans").glob("*.txt")), ids=lambda path: path.stem)
def test_plan(path: Path) -> None:
    kind = path.stem.split(".")[1]
    options = OTHER.get(kind, {"kind": kind})
    check_golden(path, compile_golden(path).explain(**options))  # type: ignore[arg-type]
    assert compile_golden(path).explain(**options) == compile_golden(path).explain(**options)  # type: ignore[arg-type]
