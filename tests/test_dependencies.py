"""Dependencies point one way: grammar ← catalog ← compiler ← runtime ← penstock."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = ("grammar", "catalog", "compiler", "runtime", "app")
ONLY_IN = {"pyspark": ("runtime",), "sqlglot": ("compiler/scalar/",), "lark": ("grammar",)}


def _imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("folder", ORDER[:-1])
def test_no_package_imports_one_above_it(folder: str) -> None:
    allowed = ORDER[: ORDER.index(folder) + 1]
    for file in (ROOT / folder).rglob("*.py"):
        for name in _imports(file):
            if name.startswith("penstock."):
                top = name.split(".")[1]
                assert top in allowed, f"{file.name} imports {name} from above"
            assert name != "penstock", f"{file.name} imports the facade"


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_stays_in_its_place(library: str) -> None:
    for folder in ORDER:
        for file in (ROOT / folder).rglob("*.py"):
            place = file.relative_to(ROOT).as_posix()
            if not place.startswith(ONLY_IN[library]):
                used = {name for name in _imports(file) if name.split(".")[0] == library}
                assert not used, f"{place} imports {used}"
