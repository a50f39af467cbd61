"""What is registered while nothing runs: the next session has it; and where statements are carried out then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source
from penstock.place import Place
from penstock.runtime.lock import Lock
from penstock.session import Session

CATALOG = """\
streams:
  Heat:
    source: {format: json, path: data/Heat}
    schema: {k: int, v: double, ts: timestamp}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one query in a file."""
    for part in ("catalog", "queries", "data/Heat"):
        (tmp_path / part).mkdir(parents=True)
    (tmp_path / "penstock.yml").write_text("name: test\n")
    (tmp_path / "catalog" / "streams.yml").write_text(CATALOG)
    (tmp_path / "queries" / "warm.cql").write_text("SELECT k, v FROM Heat WHERE v > 20\n")
    return tmp_path


def said(place: Place, text: str) -> str:
    return place.execute(Source("<repl>", text)).said


def refusal(place: Place, text: str) -> str:
    with pytest.raises(PenstockError) as caught:
        place.execute(Source("<repl>", text))
    return str(caught.value)


def test_a_statement_is_kept(project: Path) -> None:
    """Queries, and the streams they read, are there for another session until they are dropped."""
    place = Place(project)
    assert "the stream Wet is defined" in said(place, "CREATE STREAM Wet (k INT, ts TIMESTAMP) FROM json 'data/wet'")
    assert said(place, "CREATE QUERY damp AS SELECT k FROM Wet") == "damp is registered, and begins with the next run"
    assert said(place, "create query damp as select k from Wet") == "damp stands already"
    with Session(project) as session:
        assert set(session.queries) == {"warm", "damp"} and "Wet" in session.program.catalog.names
    assert said(Place(project), "DROP QUERY damp") == "damp is dropped; its results so far stay"
    assert list(place.names().queries) == ["warm"]  # the first place has noticed
    assert said(place, "DROP QUERY IF EXISTS damp") == "there was no damp"


def test_what_a_file_holds_stays_what_it_is(project: Path) -> None:
    place, file = Place(project), project / "queries" / "warm.cql"
    assert f"remove {file}" in said(place, "DROP QUERY warm")
    assert place.names().queries == {}
    place = Place(project)
    assert f"edit {file}" in said(place, "ALTER QUERY warm AS SELECT k FROM Heat")
    assert place.names().queries == {"warm": ["k"]}
    assert Place(project).names().queries == {"warm": ["k", "v"]}
    file.write_text("SELECT v FROM Heat\n")
    assert place.names().queries == {"warm": ["v"]}


def test_a_failed_statement_leaves_everything_as_it_was(project: Path) -> None:
    place = Place(project)
    assert "<repl>:1:28: error: unknown column 'w'" in refusal(place, "CREATE QUERY hot AS SELECT w FROM Heat")
    assert "there is a query called 'warm' already" in refusal(place, "CREATE QUERY Warm AS SELECT k FROM Heat")
    assert "there is no query called 'wram'" in refusal(place, "DROP QUERY wram")
    with Lock(project / ".penstock"):
        assert "is in use by process" in refusal(place, "CREATE QUERY hot AS SELECT v FROM Heat")
    assert list(place.names().queries) == ["warm"]
    assert not (project / ".penstock" / "registered.json").exists()


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"catalog": {}}'])
def test_what_was_kept_is_damaged(project: Path, text: str) -> None:
    (project / ".penstock").mkdir()
    (project / ".penstock" / "registered.json").write_text(text)
    with pytest.raises(PenstockError, match=r"the state is damaged: .*registered\.json"):
        Place(project)


def test_a_bare_select_without_a_run(project: Path) -> None:
    """It is checked, and then there is nothing that could answer it."""
    place = Place(project)
    with pytest.raises(PenstockError, match="unknown column 'w'"):
        list(place.select(Source("<repl>", "SELECT w FROM Heat")))
    for batches in (place.select(Source("<repl>", "SELECT v FROM Heat")), place.tail("warm")):
        with pytest.raises(PenstockError, match="nothing runs"):
            list(batches)
    assert list(place.names().queries) == ["warm"]


def test_a_failure_that_is_nobodys_fault(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(project)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("penstock.answers.outcome_of", broken)
    with pytest.raises(RuntimeError, match="ZeroDivisionError: oops"):
        said(place, "SHOW QUERIES")


def test_statements_about_the_state_that_are_kept_are_json(project: Path) -> None:
    said(Place(project), "CREATE QUERY hot AS SELECT v FROM Heat")
    kept = json.loads((project / ".penstock" / "registered.json").read_text())
    assert kept["registered"] == ["hot"] and set(kept["queries"]) == {"hot", "warm"}
