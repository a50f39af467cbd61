"""Pictures of what has been run: what was measured stands beside what is predicted."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Tree

from penstock.picture import page
from penstock.runtime.metrics import read_steps
from penstock.runtime.session import SparkSession
from penstock.session import Session
from penstock.tests.test_migrate import HOT, JOIN, Bench
from penstock.tests.test_picture import with_class, words

GROUPS = "SELECT A.k, COUNT(*) AS n FROM Heat A, Wet B WHERE A.k = B.k GROUP BY A.k WINDOW 20 sec SLIDE 10 sec"


def test_a_run_is_in_the_picture(spark: SparkSession, tmp_path: Path) -> None:
    bench = Bench(spark, tmp_path)
    session = bench.session
    session.register("hot", HOT)
    session.register("all", f"{JOIN} WINDOW 5 sec")
    session.register("groups", GROUPS)
    assert session.picture().run is None and not with_class(Tree.fromstring(page(session.picture())), "measured")
    heat, wet = ([(name, at, at, 2.0 + at % 2) for at in range(31)] for name in ("Heat", "Wet"))
    bench.feed(*heat, *wet)

    shown = Tree.fromstring(page(session.picture()))
    slices = {(row["stream"], row["from"], row["to"]): row for row in session.execute("SHOW SLICES")}
    for stream in with_class(shown, "stream"):
        name, (table,) = stream.get("data-stream"), with_class(stream, "slices")
        for row in list(table.iter("tr"))[1:]:
            ages, *_, rows, chunks = (words(cell) for cell in row.iter("td"))
            start, end = ages.strip("[)").split(", ")
            known = slices.pop((name, start, end))
            assert (int(rows), int(chunks)) == (known["rows"], known["chunks"])
    assert not slices
    told = next(words(found) for found in with_class(shown, "stream") if found.get("data-stream") == "Heat")
    rates = session.compiled.estimates.measured.rates
    assert f"{rates['Heat']:.3g} rows/s measured" in told and "31 rows read up to" in told
    state, _ = session.state()
    results = {found.get("data-query"): words(with_class(found, "figure")[0]) for found in with_class(shown, "asked")}
    assert results["all"] == f"{state.counts['all']} results" and results["hot"] == f"{state.counts['hot']} results"
    assert all("measured" in words(found) for found in with_class(shown, "tally") if found.tag == "p")
    steps = read_steps(session.folder.metrics, 100)
    assert len(with_class(shown, "steps")[0]) == len(steps) > 0
    assert not with_class(shown, "note")

    # Others see the same, without Spark
    reader = Session(catalog=session.program.catalog, state=session.state_folder)
    assert page(reader.picture()) == page(session.picture())
    assert Tree.fromstring(session._repr_html_()).get("class") == "penstock cell"
    hot = session.query("hot")
    assert "waiting, complete from the start" in words(Tree.fromstring(hot._repr_html_()))

    # Another plan than the one that was run
    session.drop("hot")
    assert "version" in words(with_class(Tree.fromstring(page(session.picture())), "note")[0])
    assert words(Tree.fromstring(hot._repr_html_())).endswith("hot dropped")
    assert {found.get("data-query") for found in Tree.fromstring(page(session.picture(["all"]))).iter()} == {
        None,
        "all",
    }


def test_steps_are_read_as_far_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "20260101.jsonl").write_text('{"step": 1}\n{"step": 2}\n')
    (tmp_path / "20260102.jsonl").write_text('{"step": 3}\nnull\n{"step": 4}\n{"ste')
    assert [line["step"] for line in read_steps(tmp_path, 10)] == [1, 2, 3, 4]
    assert [line["step"] for line in read_steps(tmp_path, 2)] == [3, 4]
    assert read_steps(tmp_path / "none", 2) == []
