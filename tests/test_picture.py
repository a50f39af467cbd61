"""Pictures of plans: what is on a page, where, and that it is well-formed whatever the names and texts are."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest

import penstock
from penstock import cli
from penstock.api import CompiledQueries
from penstock.catalog import load_catalog
from penstock.compiler.explain.words import number
from penstock.compiler.physical import KeepChain
from penstock.compiler.strategies import predicted_rows, slice_rows
from penstock.picture.scale import Scale

COLUMNS = {"k": "int", "v": "double", "s": "string", "ts": "timestamp"}
FACTS = {"rate": 100, "distinct": {"k": 50}}
CATALOG = {
    "streams": {name: {"schema": COLUMNS, "timestamp": "ts", "statistics": FACTS} for name in "ABCD"},
    "relations": {
        "R": {"schema": {"k": "int", "o": "string", "since": "timestamp", "until": "timestamp"}},
        "N": {"schema": {"k": "int", "n": "int"}},
    },
}
CATALOG["relations"]["R"]["valid"] = ["since", "until"]
JOIN = "SELECT A.k, A.v AS a, B.v AS b FROM A JOIN B ON A.k = B.k"
KINDS = {
    "short": f"{JOIN} WHERE A.v > 30 WINDOW 1 min",
    "long": f"{JOIN} WHERE A.v > 35 WINDOW 7 days",
    "ranges": "SELECT A.k FROM A [RANGE 5 min], B [RANGE 1 hour] WHERE A.k = B.k",
    "three": "SELECT A.k FROM A, B, C WHERE A.k = B.k AND B.k = C.k WINDOW 10 min",
    "theta": "SELECT A.k FROM A, C WHERE A.v < C.v WINDOW 10 sec",
    "counted": "SELECT A.k FROM A [ROWS 100], B [ROWS 10] WHERE A.k = B.k",
    "alone": "SELECT k, v FROM D WHERE v > 39",
    "everything": "SELECT * FROM D",
    "relation": "SELECT D.k, N.n FROM D JOIN N ON D.k = N.k",
    "star": "SELECT A.k, R.o FROM A, B, R WHERE A.k = R.k AND B.k = R.k WINDOW 5 min",
    "groups": "SELECT A.k, MAX(A.v) AS m, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY A.k HAVING COUNT(*) > 2 "
    "WINDOW 1 hour SLIDE 1 min",
    "distinct": "SELECT DISTINCT k FROM C WINDOW 1 min SLIDE 10 sec",
    "self": "SELECT x.k FROM C x, C y WHERE x.k = y.k AND x.v < y.v WINDOW 30 sec",
    "over": "SELECT j.k, C.v FROM short j, C WHERE j.k = C.k WINDOW 2 min",
    "into": f"INSERT INTO json 'out/x' {JOIN} WHERE A.s LIKE 'a<b%' WINDOW 1 min",
}


def compiled(queries: Mapping[str, str], **settings: str) -> CompiledQueries:
    return penstock.compile(dict(queries), CATALOG, **settings)


def page_of(queries: CompiledQueries) -> Tree.Element:
    """The page of a plan, read as XML: that it can be is a test of its own."""
    return Tree.fromstring(queries.explain(format="html"))


def with_class(root: Tree.Element, name: str) -> list[Tree.Element]:
    return [found for found in root.iter() if name in found.get("class", "").split()]


def words(found: Tree.Element) -> str:
    return " ".join("".join(found.itertext()).split())


def place(bar: Tree.Element) -> tuple[float, float]:
    """Where a bar begins, and how wide it is, in per cent."""
    left, width = re.match(r"left:([\d.]+)%;width:([\d.]+)%", bar.get("style", "")).groups()
    return float(left), float(width)


# What is on the page


@pytest.mark.parametrize("sharing", ["slice", "pull-up", "push-down", "none"])
def test_every_kind_of_query_is_on_the_page(sharing: str) -> None:
    plan = compiled(KINDS, sharing=sharing)
    page = page_of(plan)
    assert {found.get("data-query") for found in page.iter() if found.get("data-query")} == set(KINDS)
    assert {found.get("data-stream") for found in with_class(page, "stream")} == {*"ABCD", "short"}
    nodes = {found.get("data-node") for found in with_class(page, "node")}
    for line in page.iter("path"):
        if line.get("data-from"):
            assert {line.get("data-from"), line.get("data-to")} <= nodes
    for kind in with_class(page, "template"):
        assert set(kind.get("data-nodes").split()) <= nodes
    kinds = {kind for found in with_class(page, "node") for kind in found.get("class").split()[1:2]}
    assert kinds == {"chain", "relation", "join", "tally", "route", "sink"}
    assert {"results", "json 'out/x'"} <= {words(found[0]) for found in with_class(page, "sink")}


def test_rows_flow_from_left_to_right() -> None:
    page = page_of(compiled(KINDS))
    left = {
        found.get("data-node"): int(re.match(r"left:(\d+)px", found.get("style")).group(1))
        for found in with_class(page, "node")
    }
    lines = [(line.get("data-from"), line.get("data-to")) for line in page.iter("path") if line.get("data-from")]
    assert lines and all(left[source] < left[target] for source, target in lines)
    places = [found.get("style") for found in with_class(page, "node")]
    assert len(set(places)) == len(places)


def test_a_query_points_at_what_it_reads() -> None:
    plan = compiled(KINDS)
    page = page_of(plan)
    keeper = {(own.chain.stream, own.chain.rows): own.id for own in plan.physical.of_kind(KeepChain)}
    reach = {found.get("data-query"): found.get("data-reach") for found in with_class(page, "asked")}
    minute = 60_000_000
    assert set(reach["ranges"].split()) == {f"{keeper['A', False]}:{5 * minute}", f"{keeper['B', False]}:{60 * minute}"}
    assert set(reach["counted"].split()) == {f"{keeper['A', True]}:100", f"{keeper['B', True]}:10"}
    assert reach["alone"] == ""
    drawn = {bar.get("data-in") for bar in with_class(page, "slice")}
    assert {own.split(":")[0] for text in reach.values() for own in text.split()} <= drawn


def test_predictions_are_those_of_explain_cost() -> None:
    plan = compiled({name: KINDS[name] for name in ("short", "long")})
    page = page_of(plan)
    cost = plan.explain("cost")
    told = dict(re.findall(r"^  (\S+) +([\d,]+ +[\d,]+)", cost, re.M))
    (table,) = with_class(page, "figures")
    rows = [[words(cell) for cell in row.iter("td")][:3] for row in table.iter("tr")][1:]
    assert {name.split()[0]: figures for name, *figures in rows} == {name: two.split() for name, two in told.items()}
    assert [name for name, *_ in rows if "in force" in name] == ["slice (in force)"]
    kept, work = (words(tile) for tile in with_class(page, "tile"))
    alone, shared = told["none"].split(), told["slice"].split()
    rows = number(predicted_rows(plan.shared, plan.estimates))
    assert kept == f"{rows} rows kept, predicted {alone[0]} if each query had its own"
    assert work == f"{shared[1]} comparisons a second, predicted {alone[1]} if each query had its own"
    assert not with_class(page, "measured")


def test_what_slices_keep_adds_up() -> None:
    for sharing in ("slice", "push-down", "pull-up", "none"):
        plan = compiled(KINDS, sharing=sharing)
        rows = sum(slice_rows(chain, *ends, plan.estimates) for chain in plan.shared.chains for ends in chain.slices)
        assert rows == pytest.approx(predicted_rows(plan.shared, plan.estimates))


def test_selections_stand_in_front_of_their_slices() -> None:
    page = page_of(compiled({name: KINDS[name] for name in ("short", "long")}))
    stream = next(found for found in with_class(page, "stream") if found.get("data-stream") == "A")
    rows = [[words(cell) for cell in row.iter("td")] for row in stream.iter("tr")][1:]
    assert [row[:2] for row in rows] == [
        ["[0, 1 min)", "rows with (A.v > 30) or (A.v > 35)"],
        ["[1 min, 7 d)", "rows with A.v > 35"],
    ]
    assert (
        words(with_class(stream, "accepts")[0])
        == "A.v > _query.c1 accepts 33.3 % assumed for the widest of 2 sets of constants"
    )


# To scale


def test_slices_are_drawn_to_scale() -> None:
    page = page_of(compiled({f"q{at}": f"{JOIN} WINDOW {at} min" for at in (5, 10, 40)}))
    assert "linear scale" in words(with_class(page, "axis")[0])
    bars = with_class(page, "slice")[:3]
    assert [place(bar) for bar in bars] == [(0, 12.5), (12.5, 12.5), (25, 75)]
    windows = {found.get("data-query"): next(found.iter("i")).get("style") for found in with_class(page, "asked")}
    assert windows == {"q5": "width:12.5%", "q10": "width:25%", "q40": "width:100%"}


def test_a_scale_that_is_not_linear_says_so() -> None:
    page = page_of(compiled({f"q{own[0]}": f"{JOIN} WINDOW {own}" for own in ("1 sec", "2 min", "30 days")}))
    assert "logarithmic scale" in words(with_class(page, "axis")[0])
    places = [place(bar) for bar in with_class(page, "slice")][:3]
    assert all(width > 4 for _, width in places) and sum(width for _, width in places) == pytest.approx(100, abs=0.1)
    assert [left for left, _ in places[1:]] == pytest.approx([places[0][1], places[0][1] + places[1][1]], abs=0.02)


@pytest.mark.parametrize(
    "boundaries",
    [[1], [250_000], [1, 10**18], [5, 10, 40], list(range(1, 1001)), [60_000_000 * 2**n for n in range(12)], []],
)
@pytest.mark.parametrize("rows", [False, True])
def test_scales(boundaries: list[int], rows: bool) -> None:
    """Places ascend from 0 to 1, and ticks do not overlap; the last one is the end."""
    scale = Scale.of(boundaries, rows=rows)
    places = [scale.place(boundary) for boundary in (0, *boundaries)]
    assert places[0] == 0 and places == sorted(set(places))
    assert not boundaries or places[-1] == 1
    ticks = scale.ticks()
    assert [tick for tick, _ in ticks] == sorted(tick for tick, _ in ticks) and len({said for _, said in ticks}) == len(
        ticks
    )
    assert ticks[-1] == (1, scale.say(boundaries[-1] if boundaries else 1))
    assert all(after - before > 0.05 for (before, _), (after, _) in pairwise(ticks))


# Many queries


def test_a_thousand_queries_are_summed_up() -> None:
    queries = {f"q{at:04}": f"{JOIN} WHERE A.v > {at / 10} WINDOW {1 + at % 100} sec" for at in range(1000)}
    plan = compiled(queries)
    text = plan.explain(format="html")
    page = Tree.fromstring(text)
    assert len(text) < 200_000
    assert "1,000 queries" in words(with_class(page, "summary")[0])
    assert len(with_class(page, "template")) == 1 and not with_class(page, "asked")
    assert len(with_class(page, "node")) == 5
    bars = with_class(page, "slice")
    assert len(bars) <= 2 * 41 and sum(place(bar)[1] for bar in bars) == pytest.approx(200, abs=1)
    assert "c1 from 0 to 99.9" in words(with_class(page, "template")[0])
    assert "1 sec to 100 sec, the middle one 51 sec" in words(with_class(page, "area")[0])
    assert len({found.get("data-query") for found in page.iter("li") if found.get("data-query")}) == 1000


@pytest.mark.parametrize("sharing", ["slice", "none"])
def test_many_queries_that_are_not_alike_are_summed_up(sharing: str) -> None:
    queries = {
        f"q{at}": f"SELECT A.k + {at} AS x, A.s || '{at}' AS y FROM A, {'BCD'[at % 3]} X WHERE A.k = X.k WINDOW 1 min"
        for at in range(200)
    }
    plan = compiled(queries, sharing=sharing)
    text = plan.explain(format="html")
    page = Tree.fromstring(text)
    assert len(text) < 200_000 and len(with_class(page, "node")) < 20
    assert all("more kinds of queries" in words(part) for part in with_class(page, "part"))
    rows = number(predicted_rows(plan.shared, plan.estimates))
    assert words(with_class(page, "tile")[0]).split()[0] == rows


def test_many_joins_are_summed_up() -> None:
    queries = {f"q{at}": f"SELECT A.k FROM A, B WHERE A.k + {at} = B.k WINDOW 1 min" for at in range(40)}
    page = page_of(compiled(queries))
    assert len(with_class(page, "part")) == 13
    assert "28 more joins with 28 queries" in words(with_class(page, "part")[-1])
    assert sum("40 joins" in words(node) for node in with_class(page, "node")) == 1


@pytest.mark.parametrize("sharing", ["slice", "none"])
def test_many_aggregates_are_summed_up(sharing: str) -> None:
    """Those that are alike are one; of the others, the last ones are."""
    queries = {
        f"q{at}": f"SELECT {'SUM' if at < 50 else 'MAX'}(v + {at % 50}) AS x FROM A WINDOW 9 sec SLIDE 1 sec"
        for at in range(200)
    }
    plan = compiled(queries, sharing=sharing)
    tallies = [words(found) for found in with_class(page_of(plan), "tally") if found.tag == "p"]
    assert len(tallies) == 13 and tallies[-1].startswith("Partial aggregates of 88 more kinds")
    kept = [float(text.partition(" kept: ")[2].split()[0].replace(",", "")) for text in tallies]
    rows = sum(own["partial aggregates"]["state rows"] for own in json.loads(plan.explain("cost", format="json")))
    assert sum(kept) == pytest.approx(rows, rel=0.001)


# Whatever is in it


def test_hostile_names_and_texts_are_text() -> None:
    name = "</script><b onload='x'>\"&\x00\x1b\ud800"
    catalog = {"streams": {"T": {"schema": {"k": "int", "s": "string", "ts": "timestamp"}, "timestamp": "ts"}}}
    plan = penstock.compile({name: "SELECT k FROM T WHERE s = '</style><script>alert(1)</script>&amp;\x07'"}, catalog)
    text = plan.explain(format="html")
    page = Tree.fromstring(text.encode())
    tags = [found.tag for found in page.iter()]
    assert tags.count("script") == 1 and tags.count("style") == 1
    assert "alert(1)" in words(with_class(page, "template")[0])
    assert with_class(page, "asked")[0].get("data-query") == "</script><b onload='x'>\"&\ufffd\ufffd\ufffd"


def test_nothing_comes_from_elsewhere() -> None:
    text = compiled(KINDS).explain(format="html")
    page = Tree.fromstring(text)
    assert not [found.tag for found in page.iter() if {"src", "href"} & set(found.attrib)]
    assert not re.search(r"https?:|@import|url\(|fetch\(", text)
    (told,) = (found.get("content") for found in page.iter("meta") if found.get("http-equiv"))
    assert told.startswith("default-src 'none'")


def test_the_same_plan_gives_the_same_page() -> None:
    """Also in another process, where texts have other hashes, and whatever the order of the queries is."""
    code = (
        "import sys; from penstock.tests.test_picture import *;"
        "sys.stdout.reconfigure(encoding='utf-8');"
        "print(compiled(dict(reversed(KINDS.items()))).explain(format='html'), end='')"
    )
    pages = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout.decode()
        for seed in ("1", "2")
    ]
    assert pages[0] == pages[1] == compiled(KINDS).explain(format="html")


def test_no_queries() -> None:
    page = page_of(CompiledQueries(load_catalog(CATALOG), penstock.compiler.settings.Settings()))
    assert "0 queries" in words(with_class(page, "summary")[0]) and not with_class(page, "node")


# Notebooks


def test_a_notebook_shows_a_fragment() -> None:
    for plan, query in ((compiled(KINDS), "groups"), (penstock.compile(KINDS["short"], CATALOG), "query")):
        cell = Tree.fromstring(plan._repr_html_())
        assert cell.tag == "div" and not list(cell.iter("script"))
        assert query in {found.get("data-query") for found in cell.iter()}
        assert with_class(cell, "slice") and with_class(cell, "node")


def test_styles_of_a_fragment_stay_in_it() -> None:
    (style,) = Tree.fromstring(compiled(KINDS)._repr_html_()).iter("style")
    rules = re.sub(r"@[a-z]+ [^{]*\{", "", style.text)
    selectors = [one.strip() for rule in re.findall(r"([^{}]+)\{[^{}]*\}", rules) for one in rule.split(",")]
    assert len(selectors) > 50 and all(".penstock" in selector for selector in selectors)


# The command


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = Path(__file__).resolve().parent.parent
    for folder in ("catalog", "queries"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.py*", "__pycache__"))
    shutil.copy(root / "penstock.yml", tmp_path)
    return tmp_path


Explain = Callable[..., tuple[object, str, str]]


@pytest.fixture
def explain(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Explain:
    """Runs the command in this process: its exit code, and what it wrote to stdout and stderr."""

    def call(*args: object) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["penstock", "explain", *map(str, args)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, *capsys.readouterr()

    return call


def test_the_command_writes_a_page(project: Path, explain: Explain) -> None:
    """To stdout, or into a file; nothing is left in a project that has not been run."""
    before = sorted(project.rglob("*"))
    code, shown, said = explain(project, "-f", "html")
    assert (code, said) == (0, "")
    assert sorted(project.rglob("*")) == before
    page = Tree.fromstring(shown)
    assert words(next(page.iter("h1"))) == penstock.Session(project).project.name and not with_class(page, "measured")
    assert explain(project, "-f", "html", "-o", project / "plan.html") == (0, "", "")
    assert (project / "plan.html").read_text(encoding="utf-8") == shown


def test_the_command_draws_what_it_is_given(project: Path, explain: Explain) -> None:
    catalog, file = project / "catalog", project / "queries" / "location_maxima.cql"
    for args, query in (
        ((project, "--query", "hot_with_humidity"), "hot_with_humidity"),
        ((file,), "location_maxima"),
        (("-c", catalog, "-e", "SELECT Value FROM Humidity"), "query"),
        (("-c", catalog, project, "--query", "location_maxima"), "location_maxima"),
    ):
        page = Tree.fromstring(explain(*args, "-f", "html")[1])
        assert {found.get("data-query") for found in with_class(page, "asked")} == {query}


def test_other_formats_are_written_too(project: Path, explain: Explain) -> None:
    shown = explain(project, "-k", "shared")[1]
    assert explain(project, "-k", "shared", "-o", project / "plan.txt") == (0, "", "")
    assert (project / "plan.txt").read_text(encoding="utf-8") == shown


def test_a_file_that_cannot_be_written(project: Path, explain: Explain) -> None:
    code, out, said = explain(project, "-f", "html", "-o", project / "missing" / "plan.html")
    assert (code, out) == (1, "") and "plan.html" in said
