"""Projects: where they are found, and what is read from them."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.compiler.settings import Settings
from penstock.project import Project, find_project, scripts

STREAM = "streams: {S: {schema: {x: int, ts: timestamp}}}\n"


def _project(root: Path, text: str = "") -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "penstock.yml").write_text(text)
    return root


def _error(start: Path) -> penstock.PenstockError:
    with pytest.raises(penstock.PenstockError) as caught:
        find_project(start)
    return caught.value


def test_an_empty_file_means_the_usual_places(tmp_path: Path) -> None:
    root = _project(tmp_path / "plant").resolve()
    assert find_project(root) == Project(
        root, "plant", root / ".penstock", root / "catalog", root / "queries", Settings(), ()
    )


def test_everything_can_be_set(tmp_path: Path) -> None:
    root = _project(
        tmp_path,
        "name: mine\nstate: /data/state\ncatalog: streams.yml\nqueries: standing\n"
        "settings: {reevaluate: 5 sec, sharing: pull-up, objective: cpu}\n"
        "spark: {spark.master: 'local[2]', spark.sql.shuffle.partitions: 4}\n",
    ).resolve()
    found = find_project(root)
    assert (found.name, found.state) == ("mine", Path("/data/state"))
    assert (found.catalog, found.queries) == (root / "streams.yml", root / "standing")
    assert found.settings == Settings(5_000_000, "pull-up", "cpu")
    assert found.spark == (("spark.master", "local[2]"), ("spark.sql.shuffle.partitions", "4"))


def test_the_state_may_be_elsewhere(tmp_path: Path) -> None:
    assert find_project(_project(tmp_path, "state: hdfs://host/state\n")).remote == "hdfs://host/state"


def test_a_project_is_searched_upward(tmp_path: Path) -> None:
    root = _project(tmp_path / "outer").resolve()
    deep = root / "queries" / "deep"
    deep.mkdir(parents=True)
    (deep / "q.cql").touch()
    assert find_project(deep).root == find_project(deep / "q.cql").root == root
    inner = _project(root / "queries" / "inner")
    assert find_project(inner).root == inner.resolve()


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _project(tmp_path / "plant")
    monkeypatch.chdir(tmp_path / "plant")
    assert find_project(Path()).name == "plant"
    monkeypatch.chdir(tmp_path)
    assert find_project(Path("plant")).root == (tmp_path / "plant").resolve()


def test_no_project(tmp_path: Path) -> None:
    error = _error(tmp_path)
    assert error.label == "no-project"
    assert "penstock init" in (error.hint or "")


# What is in the file, the text under the carets, a part of the message.
WRONG = [
    ("nam: x", "nam", "unknown key"),
    ("settings: {sharing: most}", "most", "sharing cannot be 'most'"),
    ("settings: {reevaluate: 0 sec}", "0 sec", "longer than zero"),
    ("settings: {reevaluate: 3}", "3", "'3' is not a duration"),
    ("settings: 5", "5", "expected a mapping"),
    ("spark: [a]", "[a]", "expected a mapping"),
    ("queries: [a]", "[a]", "expected a text"),
]


@pytest.mark.parametrize(("text", "under", "message"), WRONG)
def test_a_wrong_file(tmp_path: Path, text: str, under: str, message: str) -> None:
    (error,) = _error(_project(tmp_path, text)).errors
    assert message in error.message
    assert error.source is not None and error.span is not None
    assert error.source.text[error.span.start : error.span.end] == under
    assert error.hint


def test_all_the_mistakes_of_a_file_at_once(tmp_path: Path) -> None:
    error = _error(_project(tmp_path, "nam: x\nsettings: {sharing: most, speed: 3}\n"))
    assert len(error.errors) == 3


def test_query_files_are_sorted_and_not_hidden(tmp_path: Path) -> None:
    root = _project(tmp_path)
    (root / "queries").mkdir()
    for name in ("b.cql", "a.cql", ".hidden.cql", "notes.txt", "c.sql"):
        (root / "queries" / name).write_text("SELECT x FROM S")
    assert [file.name for file in find_project(root).query_files()] == ["a.cql", "b.cql"]
    assert [script.name for script in scripts(find_project(root).query_files())] == ["a", "b"]


def test_no_folder_of_queries(tmp_path: Path) -> None:
    project = find_project(_project(tmp_path))
    assert project.query_files() == []
    assert project.program().queries == {}


def test_the_program_of_a_project(tmp_path: Path) -> None:
    root = _project(tmp_path, "catalog: s.yml\nsettings: {sharing: none}\n")
    (root / "s.yml").write_text(STREAM)
    (root / "queries").mkdir()
    (root / "queries" / "up.cql").write_text("SELECT x FROM S; SELECT x + 1 AS y FROM S; SET objective = cpu")
    (root / "queries" / "named.cql").write_text("CREATE QUERY other AS SELECT ts FROM S")
    program = find_project(root).program()
    assert list(program.queries) == ["other", "up_1", "up_2"]
    assert program.settings == Settings(sharing="none", objective="cpu")
    assert program.catalog.names == ("S",)


def test_the_mistakes_of_catalog_and_queries_at_once(tmp_path: Path) -> None:
    root = _project(tmp_path, "catalog: s.yml\n")
    (root / "s.yml").write_text("streams: {S: {schema: {ts: timestmp}}}\n")
    (root / "queries").mkdir()
    (root / "queries" / "a.cql").write_text("SELECT FROM S")
    (root / "queries" / "b.cql").write_text("DROP QUERY a")
    with pytest.raises(penstock.PenstockErrors) as caught:
        find_project(root).program()
    assert sorted(Path(e.source.name).name for e in caught.value.errors if e.source) == ["a.cql", "b.cql", "s.yml"]
