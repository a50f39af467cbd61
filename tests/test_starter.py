"""The project that `penstock init` writes: it runs at once, and its data is the same for everybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.commands.init import init
from penstock.grammar.errors import PenstockError
from penstock.project import find_project
from penstock.runtime.session import SparkSession
from penstock.sensors import DataCenter, Failure
from penstock.session import Session
from penstock.starter import make_project, program_name, template


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_every_query_gives_something(spark: SparkSession, tmp_path: Path) -> None:
    make_project(tmp_path / "new")
    with Session(tmp_path / "new", spark=spark) as session:
        session.run(drain=True)
        counts = {name: session.results(name).count() for name in session.queries}
        assert set(counts) == {"hot", "overload", "owners", "scorching"}
        assert all(counts.values()), counts
        assert counts["owners"] == 21 * 6  # every half minute from 12:00:30 to 12:10:30, for each owner
        assert all(row["late"] == row["unreadable"] == 0 for row in session.execute("SHOW STREAMS"))
        hot = session.results("hot").select("LocationId").distinct().collect()
        assert {row["LocationId"] for row in hot} <= set(range(6, 11))  # the aisle whose cooling failed


def test_predictions_are_of_its_data(tmp_path: Path) -> None:
    make_project(tmp_path)
    with Session(tmp_path) as session:
        shown = session.compiled.explain("cost")
    assert shown.startswith("Rates: Humidity 2 rows/s, Load 0.4 rows/s, Temperature 2 rows/s\n")


def test_it_is_the_same_for_everybody(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_project(tmp_path / name)
    found = contents(tmp_path / "one")
    assert found == contents(tmp_path / "two")
    assert {".gitignore", "README.md", "penstock.yml", "catalog/sensors.yml", "data/racks.csv"} <= set(found)
    assert found[".gitignore"].endswith(b"\n.penstock/\n")


def test_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands that it names can be copied, also when the name needs quotes."""
    monkeypatch.chdir(tmp_path)
    init(Path("my project"))
    out, err = capsys.readouterr()
    assert out == "" and " run 'my project' --once\n" in err
    assert find_project(tmp_path / "my project").program().queries


def test_the_program_as_it_was_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [".venv/bin/penstock"])
    assert program_name() == ".venv/bin/penstock"
    monkeypatch.setattr("sys.argv", ["/usr/bin/penstock"])
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/penstock")
    assert program_name() == "penstock"


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    make_project(tmp_path)
    assert (tmp_path / "penstock.yml").is_file()


def test_nobodys_work_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(PenstockError, match=f"the folder {tmp_path} is not empty"):
        make_project(tmp_path)
    with pytest.raises(PenstockError, match=r"notes.txt is a file"):
        make_project(tmp_path / "notes.txt")
    assert contents(tmp_path) == {"notes.txt": b"mine"}


@pytest.mark.parametrize("name", ["starter", "demo"])
def test_the_queries_say_what_they_do(name: str) -> None:
    queries = {path: text for path, text in template(name).items() if path.endswith(".cql")}
    assert queries and all(text.startswith("-- ") for text in queries.values())


# The made-up data


CENTER = DataCenter(racks=20, aisle=5, period=10, failures=(Failure(1, 100, 200),), moved=300)


@pytest.mark.parametrize("stream", ["temperature", "humidity", "load"])
def test_readings_do_not_depend_on_what_was_asked_before(stream: str) -> None:
    first, second = CENTER.readings(stream, 0, 60), CENTER.readings(stream, 60, 120)
    assert CENTER.readings(stream, 60, 120) == second != first
    assert len(first) == (24 if stream == "load" else 120)
    times = [row[-1] for row in first]
    assert times == sorted(times) and times[-1] < second[0][-1]
    assert DataCenter(20, 5, 10, (), 300, seed=2).readings(stream, 0, 60) != first


def test_a_failure_heats_one_aisle_until_it_is_repaired() -> None:
    def hottest(begin: int, aisle: range) -> float:
        return max(value for place, value, _ in CENTER.readings("temperature", begin, begin + 60) if place in aisle)

    assert hottest(0, range(6, 11)) < 30 < hottest(150, range(6, 11))
    assert hottest(150, range(1, 6)) < 30 > hottest(300, range(6, 11))


def test_racks_change_hands_at_one_time() -> None:
    rows = [row for row in CENTER.owners() if row[0] == 10]
    (_, feed, owner, _, until), (_, same, other, since, _) = rows
    assert until == since and feed == same == "F01" and owner != other
    assert len(CENTER.owners()) == 22
