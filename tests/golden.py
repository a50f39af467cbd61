"""Golden files: an input and what it must give, in one file.

The input comes first, then a line `----`, then the expected text. Run pytest with PENSTOCK_UPDATE_GOLDEN=1 to
write what the code gives now into the files, and read the difference before keeping it.
"""

from __future__ import annotations

import os
from pathlib import Path

from penstock import CompiledQueries
from penstock.api import compiled
from penstock.catalog import load_catalog
from penstock.compiler.program import Script, read_program
from penstock.compiler.settings import Settings
from penstock.grammar.source import Source

CATALOG = load_catalog(Path(__file__).parent.parent / "catalog")
SEPARATOR = "\n----\n"


def read_input(path: Path) -> str:
    """The input of a golden file."""
    return path.read_text(encoding="utf-8").partition(SEPARATOR)[0]


def check_golden(path: Path, actual: str) -> None:
    """Compare with what the file expects, or write it there if asked to."""
    given, _, expected = path.read_text(encoding="utf-8").partition(SEPARATOR)
    actual = actual.rstrip("\n") + "\n"
    if os.environ.get("PENSTOCK_UPDATE_GOLDEN") == "1":
        path.write_text(f"{given.rstrip()}{SEPARATOR}{actual}", encoding="utf-8")
    else:
        assert actual == expected, f"{path.name} differs; PENSTOCK_UPDATE_GOLDEN=1 rewrites it"


def compile_golden(path: Path) -> CompiledQueries:
    """The input of a golden file, compiled as a script."""
    script = Script(path.stem, Source(f"{path.stem}.cql", read_input(path)))
    return compiled(read_program([script], CATALOG, Settings()))
