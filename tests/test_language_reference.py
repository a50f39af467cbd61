"""The reference of the whole language, on cases small enough to be worked out by hand; and what workloads are."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.tests import hammad_example, towne_example
from penstock.tests import reference as nested_loops
from penstock.tests.duck import Bag, _comparable
from penstock.tests.language_questions import Data, Input, Question
from penstock.tests.language_reference import answers
from penstock.tests.language_workloads import KINDS, RELATIONS, workload
from penstock.tests.streams import LATENESS, MS, SECOND, START, micros

_COLUMNS = {"k": "int", "v": "double", "ts": "timestamp"}
_RACKS = {"k": "int", "n": "int", "since": "timestamp", "until": "timestamp"}
_EVER = 1_000


def at(second: float | None) -> datetime | None:
    """So many seconds after the start."""
    return None if second is None else START + timedelta(seconds=second)


def data(lateness: int = 0, racks: tuple[tuple[Any, ...], ...] = (), **streams: tuple[tuple[Any, ...], ...]) -> Data:
    """Streams S and T of rows (second, k, v), and a relation Racks of rows (k, n, from second, to second)."""
    rows = {name: [{"k": k, "v": v, "ts": at(ts)} for ts, k, v in streams.get(name, ())] for name in ("S", "T")} | {
        "Racks": [{"k": k, "n": n, "since": at(since), "until": at(until)} for k, n, since, until in racks]
    }
    schemas = {"S": _COLUMNS, "T": _COLUMNS, "Racks": _RACKS}
    return Data(schemas, rows, ("S", "T"), {"Racks": ("since", "until")}, lateness)


def time(seconds: float) -> tuple[str, int]:
    """A window of so many seconds."""
    return "time", int(seconds * SECOND)


def ask(
    inputs: str, outputs: tuple[str, ...], *windows: tuple[str, int] | None, name: str = "q", **parts: Any
) -> Question:
    """A question from `S A, T B`, expressions and the windows of the inputs."""
    pairs = [source.split() for source in inputs.split(", ")]
    filled = [*windows, *[None] * (len(pairs) - len(windows))]
    sources = tuple(Input(name, alias, window) for (name, alias), window in zip(pairs, filled, strict=True))
    where = parts.pop("where", ())
    return Question(name, sources, where, tuple((expr, f"c{i}") for i, expr in enumerate(outputs)), **parts)


def bag(*rows: tuple[Any, ...]) -> Bag:
    """Results: the second and the values."""
    return Counter(_comparable((at(row[0]), *row[1:])) for row in rows)


def only(question: Question, given: Data, **how: Any) -> Bag:
    """The answer of one question, which compiles."""
    penstock.compile(question.text, catalog=given.catalog(Path("data")))
    (answer,) = answers([question], given, **how).values()
    return answer


def test_towne() -> None:
    """The worked example has 15 results, as important as 43 together."""
    found = only(towne_example.QUESTION, towne_example.DATA)
    assert found == towne_example.RESULTS
    assert found.total() == towne_example.NUMBER
    assert sum(row[-1][1] * n for row, n in found.items()) == towne_example.IMPORTANCE


@pytest.mark.parametrize("drained", [False, True])
def test_hammad(drained: bool) -> None:
    """The queries as printed, before and after the windows are closed."""
    questions = [hammad_example.HOW_MANY, hammad_example.HIGHEST]
    penstock.compile({q.name: q.text for q in questions}, catalog=hammad_example.DATA.catalog(Path("data")))
    assert answers(questions, hammad_example.DATA, drained=drained) == hammad_example.results(drained=drained)
    assert min(t for t in hammad_example.DATA.watermarks.values() if t) == micros(START) + hammad_example.WATERMARK


def test_join() -> None:
    """A row that is as old as its window has left it; each input has its own; equal rows stay apart."""
    given = data(S=((0, 1, 0.5), (0, 1, 0.5), (3, 1, 1.0)), T=((1, 1, 2.0), (2, 1, 3.0), (9, None, 4.0)))
    question = ask("S A, T B", ("A.v", "B.v"), time(2), time(1), where=("A.k = B.k",))
    assert only(question, given) == bag((1, 0.5, 2.0), (1, 0.5, 2.0))
    wide = ask("S A, T B", ("A.v", "B.v"), time(2), time(1.001), where=("A.k = B.k",))
    assert only(wide, given) - only(question, given) == bag((3, 1.0, 3.0))
    theta = ask(
        "S A, T B", ("A.v", "B.v"), time(2), time(2), where=("A.v BETWEEN B.v - 2 AND B.v + 1",), one_window=True
    )
    assert only(theta, given) == bag((1, 0.5, 2.0), (1, 0.5, 2.0), (3, 1.0, 3.0))


def test_count_windows() -> None:
    """The last rows by time and then position, selected or not; due once the watermark has passed."""
    given = data(S=((1, 1, 1.0), (0, 2, 2.0), (1, 3, 3.0), (4, 4, 4.0)), T=((2, 0, 0.0), (1, 0, 9.0), (6, 0, 1.0)))
    one = ask("S A", ("A.k",), ("rows", 1))
    assert only(one, given) == bag((0, 2), (1, 3))  # of the two at 1 the later one; 4 is not passed
    assert only(one, given, drained=True) == bag((0, 2), (1, 3), (4, 4))
    assert only(one, given, until=micros(START)) == bag()
    assert only(ask("S A", ("A.k",), ("rows", 1), where=("A.k < 3",)), given) == bag((0, 2))
    both = ask("S A, T B", ("A.k", "B.v"), ("rows", 2), time(2))
    assert only(both, given) == bag((1, 1, 9.0), (1, 3, 9.0), (2, 1, 0.0), (2, 3, 0.0))
    assert only(both, given, drained=True) - only(both, given) == bag((6, 3, 1.0), (6, 4, 1.0))


def test_aggregates() -> None:
    """At the multiples of the slide, in which all rows are in their windows, before the watermark."""
    given = data(S=((0, 1, 0.5), (0.5, None, 1.0), (1.25, None, None), (9, 1, 5.0)))
    sums = ask("S A", ("A.k", "SUM(A.v)", "COUNT(*)", "AVG(A.v)"), time(1.5), groups=("A.k",))
    early = bag((0, 1, 0.5, 1, 0.5), (1, 1, 0.5, 1, 0.5), (1, None, 1.0, 1, 1.0), (2, None, None, 1, None))
    assert only(sums, given) == early
    assert only(sums, given, drained=True) - early == bag((9, 1, 5.0, 1, 5.0), (10, 1, 5.0, 1, 5.0))
    assert only(sums, given, until=micros(START) + 1) == bag((0, 1, 0.5, 1, 0.5))
    slow = ask("S A", ("COUNT(*)",), time(1), slide=2 * SECOND)
    assert only(slow, given) == bag((0, 1), (2, 1))
    short = ask("S A", ("COUNT(*)",), time(0.25), having=("COUNT(*) > 0",))
    assert only(short, given, drained=True) == bag((0, 1), (0.5, 1), (1.25, 1), (9, 1))  # the window is the slide
    distinct = ask("S A", ("A.k",), time(3), distinct=True, slide=2 * SECOND, one_window=True)
    assert only(distinct, given) == bag((0, 1), (2, 1), (2, None), (4, None))


def test_aggregates_of_rows() -> None:
    """Over the last rows, at every instant that is passed; and up to the first that sees all."""
    given = data(S=((0.25, 1, 0.5), (1, 1, 1.0), (3.5, 2, 2.0)), lateness=0)
    question = ask("S A", ("SUM(A.v)",), ("rows", 2), slide=1 * SECOND)
    assert only(question, given) == bag((1, 1.5), (2, 1.5), (3, 1.5))
    assert only(question, given, drained=True) == bag((1, 1.5), (2, 1.5), (3, 1.5), (4, 3.0))
    mixed = ask("S A, S B", ("COUNT(*)",), ("rows", 1), time(1.75), slide=1 * SECOND)
    assert only(mixed, given, drained=True) == bag((1, 2), (2, 1), (4, 1), (5, 1))


def test_relations() -> None:
    """A row of a relation holds from a time on, and no longer at another; without them never."""
    racks = ((1, 7, 0, 2), (1, 8, 2, _EVER), (1, 9, None, _EVER), (1, 10, 0, None), (None, 11, 0, _EVER))
    given = data(racks=racks, S=((0, 1, 0.0), (2, 1, 0.0), (3, None, 0.0)), T=((1, 1, 0.0), (3, 1, 0.0)))
    one = ask("S A, Racks R", ("R.n",), where=("A.k = R.k",))
    assert only(one, given) == bag((0, 7), (2, 8))
    star = ask("Racks R, S A, T B", ("R.n",), None, time(9), time(9), where=("A.k = R.k", "R.k = B.k"))
    assert only(star, given) == bag((1, 7), (3, 8))


_OF_A = ((4, 7), (4, 10), (5, 8), (5, 10))
_OF_B = ((4, 9), (4, 10), (5, 7), (5, 10))
_OF_BOTH = ((4, 10), (5, 10))


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (("A.k = R.k", "B.k = R.k"), _OF_BOTH),
        (("A.k = R.k",), _OF_A),
        (("B.k = R.k",), _OF_B),
        (("A.k = B.k", "B.k = R.k"), _OF_BOTH),
        (("A.k + 0 = B.k", "B.k = R.k"), _OF_BOTH),
        (("A.k + 0 = B.k", "A.k + 0 = R.k"), _OF_BOTH),
        (("A.k + 0 = B.k", "A.k = R.k"), _OF_A),
        (("A.k = 1", "R.k = 1"), _OF_BOTH),
        (("A.k = R.k", "B.v + R.n > 0"), _OF_BOTH),
        (("A.k + B.k < R.n",), _OF_BOTH),
        (("R.n > A.v",), _OF_A),
        (("A.k = 1.0 * R.k", "A.k = B.k"), _OF_A),
    ],
)
def test_ties(where: tuple[str, ...], found: tuple[tuple[int, int], ...]) -> None:
    """It holds for the rows that a condition ties it to, through equal expressions too; for all if there are none."""
    racks = ((1, 7, 0, 1), (1, 8, 5, 6), (1, 9, 4, 5), (1, 10, 0, 6))
    given = data(racks=racks, S=((0, 1, 0.0), (5, 1, 0.5)), T=((4, 1, 0.0), (0, 1, 0.5)))
    question = ask("S A, T B, Racks R", ("R.n",), time(9), time(9), where=(*where, "A.v = B.v"))
    assert only(question, given) == bag(*found)


def test_queries_over_queries() -> None:
    """What was given is a stream whose time is that of the results, as far on as the streams below."""
    given = data(S=((0, 1, 1.0), (1, 1, 2.0), (4, 2, 3.0)), T=((0, 1, 0.0), (2, 1, 0.0), (3, 1, 0.0)))
    pairs = ask("S A, T B", ("A.k", "A.v"), time(2), time(2), where=("A.k = B.k",), name="pairs")
    sums = ask("pairs h", ("h.c0", "SUM(h.c1)"), time(2), groups=("h.c0",), slide=1 * SECOND, name="sums")
    beside = ask("sums h, T B", ("h.c1", "h._ts"), time(1), time(2), where=("h.c0 = B.k",), name="beside")
    texts = {question.name: question.text for question in (pairs, sums, beside)}
    penstock.compile(texts, catalog=given.catalog(Path("data")))
    found = answers([beside, sums, pairs], given)
    assert found["pairs"] == bag((0, 1, 1.0), (1, 1, 2.0), (2, 1, 2.0))
    assert found["sums"] == bag((0, 1, 1.0), (1, 1, 3.0), (2, 1, 4.0))  # all below 3
    assert found["beside"] == bag((0, 1.0, at(0)), (1, 3.0, at(1)), (2, 4.0, at(2)))
    drained = answers([beside, sums, pairs], given, drained=True)
    assert drained["sums"] - found["sums"] == bag((3, 1, 2.0))
    assert drained["beside"] - found["beside"] == bag((3, 2.0, at(3)), (3, 2.0, at(3)))


def test_nothing_is_passed_without_rows() -> None:
    """A stream without rows has no watermark, and holds back what waits for one."""
    given = data(S=((0, 1, 1.0), (5, 1, 1.0)))
    counted = ask("S A, T B", ("COUNT(*)",), time(1), time(1))
    assert only(counted, given) == only(counted, given, drained=True) == bag()
    assert given.watermarks == {"S": micros(START) + 5 * SECOND, "T": None}


@pytest.mark.parametrize("seed", range(30))
def test_workloads_compile(seed: int) -> None:
    """Every text that is made compiles, whatever the seed, and is made again."""
    made = workload(seed)
    assert made == workload(seed)
    assert made.queries
    penstock.compile({question.name: question.text for question in made.queries}, catalog=made.catalog(Path("data")))


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str) -> None:
    """A workload of one kind: it compiles, and gives something. Nothing comes late."""
    results = 0
    for seed in range(5):
        made = workload(seed, kinds={kind}, queries=4)
        penstock.compile({query.name: query.text for query in made.queries}, catalog=made.catalog(Path("data")))
        assert kind == "derived" or {query.kind for query in made.queries} == {kind}
        results += sum(found.total() for found in answers(made.queries, made.data, drained=True).values())
        for rows in made.rows.values():
            times = [micros(row["ts"]) for row in rows]
            assert all(time >= max(times[: place + 1]) - LATENESS for place, time in enumerate(times))
    assert results > 0


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_nested_loops(seed: int) -> None:
    """The other reference, which interprets plans, has the same answers."""
    made = workload(seed, kinds={"join", "theta", "count", "aggregate", "distinct"}, queries=6)
    compiled = penstock.compile({q.name: q.text for q in made.queries}, catalog=made.catalog(Path("data")))
    found = answers(made.queries, made.data, drained=True)
    rows = {name: [{k: _number(v) for k, v in row.items()} for row in rows] for name, rows in made.data.rows.items()}
    for question in made.queries:
        if any(name in RELATIONS for name in question.reads) or (question.is_aggregate and question.counts_rows):
            continue
        if len(question.inputs) > 3:
            continue
        wanted = Counter(nested_loops.answers(compiled[question.name].logical, rows, {}))
        own = Counter((row[0][1], tuple(value for _, value in row[1:])) for row in found[question.name].elements())
        assert own == wanted, question.text


def _number(value: Any) -> Any:
    return micros(value) if isinstance(value, datetime) else value


def test_text() -> None:
    """A question as Penstock reads it."""
    question = ask(
        "S A, T B", ("A.k", "COUNT(*)"), ("rows", 3), ("time", 250 * MS), where=("A.k = B.k",), groups=("A.k",)
    )
    assert question.text == (
        "SELECT A.k AS c0, COUNT(*) AS c1 FROM S A [ROWS 3], T B [RANGE 250 ms] WHERE A.k = B.k GROUP BY A.k"
    )
