"""What is shipped: the packages, their data files, and the examples of the documentation."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from penstock.grammar.parser import parse_query, parse_script
from penstock.grammar.source import Source
from penstock.queries import example_names, example_text

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS: dict[str, Any] = PYPROJECT["tool"]["setuptools"]
PACKAGES: list[str] = SETUPTOOLS["packages"]
PACKAGE_DIR: dict[str, str] = SETUPTOOLS["package-dir"]
PACKAGE_DATA: dict[str, list[str]] = SETUPTOOLS["package-data"]
NOT_SOURCE = {"build", "dist"}


def _folder(package: str) -> Path:
    """Where the files of a package are, as setuptools finds it."""
    parent, rest = package, []
    while parent not in PACKAGE_DIR:
        parent, _, last = parent.rpartition(".")
        rest.insert(0, last)
    return ROOT.joinpath(PACKAGE_DIR[parent], *rest)


def _source_folders() -> list[Path]:
    folders = [path for path in ROOT.iterdir() if path.is_dir()]
    return [path for path in folders if path.name not in NOT_SOURCE and not path.name.startswith(".")]


def _run(*args: str) -> str:
    done = subprocess.run(args, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)


def test_every_folder_with_an_init_file_is_a_listed_package() -> None:
    found = {init.parent for folder in _source_folders() for init in folder.rglob("__init__.py")}
    assert {_folder(package) for package in PACKAGES} == found
    assert len(set(PACKAGES)) == len(PACKAGES)


def test_every_data_file_is_shipped() -> None:
    """The tests' own data stays in the clone."""
    patterns = [(_folder(package), pattern) for package, globs in PACKAGE_DATA.items() for pattern in globs]
    shipped = {path for folder, pattern in patterns for path in folder.glob(pattern)}
    folders = [_folder(package) for package in PACKAGES if not package.startswith("penstock.tests")]
    kinds = ("*.lark", "*.md", "*.yml", "*.cql", "*.properties", "*.css", "*.js", "py.typed")
    assert shipped == {path for folder in folders for kind in kinds for path in folder.rglob(kind)}


@pytest.mark.parametrize(("package", "pattern"), [(p, g) for p, globs in PACKAGE_DATA.items() for g in globs])
def test_every_pattern_of_package_data_matches(package: str, pattern: str) -> None:
    assert list(_folder(package).glob(pattern))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_imports(package: str) -> None:
    assert importlib.import_module(package).__doc__


def test_importing_penstock_does_not_import_pyspark() -> None:
    _run(sys.executable, "-c", "import penstock, sys; assert 'pyspark' not in sys.modules")


def test_compiling_does_not_import_pyspark() -> None:
    query = "SELECT A.Value FROM Temperature A WHERE A.Value > 30"
    code = f"import penstock, sys; penstock.compile({query!r}, catalog='catalog/').explain()"
    _run(sys.executable, "-c", f"{code}; assert 'pyspark' not in sys.modules")


def test_the_wheel_holds_every_package_and_data_file(tmp_path: Path) -> None:
    clone = tmp_path / "clone"  # building leaves files behind
    clone.mkdir()
    for package in PACKAGES:
        folder = _folder(package)
        shutil.copytree(folder, clone / folder.relative_to(ROOT), dirs_exist_ok=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, clone)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet")
    _run(*pip, str(clone), "--no-deps", "--no-build-isolation", "-w", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())

    expected = set()
    for package in PACKAGES:
        folder, inside = _folder(package), package.replace(".", "/")
        globs = ["*.py", *PACKAGE_DATA.get(package, [])]
        expected |= {f"{inside}/{path.relative_to(folder)}" for g in globs for path in folder.glob(g)}
    assert "penstock/grammar/penstock.lark" in expected
    assert expected <= held


def test_the_example_queries_parse() -> None:
    assert set(example_names()) == {path.stem for path in (ROOT / "queries").glob("*.cql")}
    for name in example_names():
        text = example_text(name)
        assert text.startswith("-- ")
        parse_query(Source(f"{name}.cql", text))


def test_an_unknown_example_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        example_text("../catalog/datacenter")


@pytest.mark.parametrize("name", ["README.md", "docs/language.md"])
def test_the_sql_of_the_documentation_parses(name: str) -> None:
    for block in _blocks(ROOT / name, "sql"):
        parse_script(Source(name, block))


def test_the_python_example_of_the_readme_prints_what_it_says() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.M | re.S)
    assert len(examples) == len(_blocks(ROOT / "README.md", "python")) == 1
    for code, output in examples:
        assert _run(sys.executable, "-c", code).rstrip() == output.rstrip()


def test_the_places_named_in_the_architecture_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for first in re.findall(r"^\| (`.*?) \|", text, re.M):
        folder = Path()
        for place in re.findall(r"`([^`]+)`", first):
            folder = Path(place).parent if "/" in place and not place.endswith("/") else folder
            assert (ROOT / place).exists() or (ROOT / folder / place).exists(), place
