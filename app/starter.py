"""Projects that are written for the user: templates, copied into a folder."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from penstock.grammar.errors import PenstockError
from penstock.sensors import DataCenter, Failure, write_owners, write_readings

_IGNORED = "# What a run keeps: it is made again when it is needed.\n.penstock/\n"
_CENTER = DataCenter(racks=20, aisle=5, period=10, failures=(Failure(1, 120, 300),), moved=300)
_SECONDS = 600
_IN_A_FILE = 60


def make_project(folder: Path) -> None:
    """Write a small project with data of its own, which runs at once."""
    refuse_used(folder)
    write_template("starter", folder)
    write_owners(_CENTER, folder / "data")
    for second in range(0, _SECONDS, _IN_A_FILE):
        write_readings(_CENTER, folder / "data", second, second + _IN_A_FILE, "csv")


def refuse_used(folder: Path) -> None:
    """Raise an error if there is something in a folder, or something else in its place."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = f"the folder {folder} is not empty" if folder.is_dir() else f"{folder} is a file"
        raise PenstockError(what, hint="Name a folder that does not exist yet.", label="folder-in-use")


def write_template(name: str, folder: Path) -> None:
    """Copy a template's files into a folder."""
    for path, text in template(name).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def program_name() -> str:
    """How this program is called from here."""
    called = sys.argv[0]
    return called if "/" in called and shutil.which("penstock") != called else "penstock"


def template(name: str) -> dict[str, str]:
    """The texts of a template's files, by their paths."""
    root = resources.files("penstock") / "templates" / name
    return {**dict(_texts(root, "")), ".gitignore": _IGNORED}


def _texts(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _texts(entry, f"{path}{entry.name}/")
        else:
            yield f"{path}{entry.name}", entry.read_text(encoding="utf-8")
