"""Tests of queries without Spark: how files of tests are read, how results are compared, and what is told of them."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

import penstock
from penstock import PenstockError
from penstock.api import CompiledQueries
from penstock.grammar.errors import render
from penstock.testing.compare import compare
from penstock.testing.model import Case, Outcome
from penstock.testing.read import read_cases
from penstock.testing.report import as_json, as_junit, as_text
from penstock.testing.run import grouped
from penstock.testing.values import as_input, is_close, moment, parse, shown

CATALOG = {
    "streams": {
        "Heat": {"schema": {"k": "int", "v": "double", "ts": "timestamp"}},
        "Parts": {
            "schema": {"list": "array<int>", "d": "decimal(4,1)", "on": "boolean", "s": "string", "ts": "timestamp"}
        },
    },
    "relations": {"Racks": {"schema": {"k": "int", "owner": "string"}}},
}
QUERIES = {
    "hot": "SELECT k, v FROM Heat WHERE v > 30",
    "odd": "SELECT list, d, `on`, s FROM Parts",
    "owners": "SELECT R.owner FROM Heat A, Racks R WHERE A.k = R.k",
}


@pytest.fixture(scope="module")
def queries() -> CompiledQueries:
    return penstock.compile(QUERIES, CATALOG)


def read(folder: Path, text: str, queries: CompiledQueries, name: str = "hot.test.yml") -> list[Case]:
    file = folder / name
    file.write_text(text, "utf-8")
    return read_cases([file], queries)


# Reading


def test_rows_of_all_kinds(tmp_path: Path, queries: CompiledQueries) -> None:
    (tmp_path / "racks.csv").write_text('\ufeffowner,k\r\n"a, ""b""",1\r\n"",2\r\n,3\r\n', "utf-8")
    text = """
day: 2026-03-01
query: OWNERS
settings: {reevaluate: 1 min}
rows:
  racks: racks.csv
  Heat: |

    K,ts
    1 , 00:05
    ,90 s
tests:
  one:
    tolerance: 0.5
    at: 00:05
    expect: []
  two:
    query: hot
    rows: {Heat: [{k: 1, v: 1e2, ts: 2026-01-01 12:00}, {ts: 10:05}]}
    settings: {sharing: none}
    expect:
      - {v: .5, _ts: 0 s}
"""
    one, two = read(tmp_path, text, queries)
    at = datetime(2026, 3, 1, 0, 5, tzinfo=UTC)
    assert (one.query, one.name, one.line, one.tolerance, one.at) == ("owners", "one", 13, 0.5, frozenset([at]))
    assert one.expected.columns == (("_ts", "timestamp"), ("owner", "string"))
    assert one.rows["Racks"].rows == (('a, "b"', 1), ("", 2), (None, 3))
    assert one.rows["Heat"].columns == (("k", "int"), ("ts", "timestamp"))
    assert one.rows["Heat"].rows == ((1, at), (None, datetime(2026, 3, 1, 0, 1, 30, tzinfo=UTC)))
    assert one.settings.reevaluate == two.settings.reevaluate == 60_000_000
    assert (two.query, two.at, two.settings.sharing) == ("hot", None, "none")
    assert two.rows["Racks"] == one.rows["Racks"]
    assert two.rows["Heat"].rows == (
        (1, 100.0, datetime(2026, 1, 1, 12, tzinfo=UTC)),
        (None, None, datetime(2026, 3, 1, 10, 5, tzinfo=UTC)),
    )
    assert two.expected.columns == (("_ts", "timestamp"), ("v", "double"))
    assert two.expected.rows == ((datetime(2026, 3, 1, tzinfo=UTC), 0.5),)


def test_values_of_all_types(tmp_path: Path, queries: CompiledQueries) -> None:
    text = (
        "tests: {t: {query: odd, expect: [{list: [1, 2], d: 1.50, on: yes, s: no}, {list: , d: , on: false, s: 1.0}]}}"
    )
    with pytest.raises(PenstockError, match="'yes' is no boolean"):
        read(tmp_path, text, queries)
    (case,) = read(tmp_path, text.replace("yes", "true"), queries)
    assert case.expected.rows == (("[1, 2]", Decimal("1.5"), True, "no"), (None, None, False, "1.0"))
    columns = dict(case.expected.columns)
    written = [as_input(v, t) for v, t in zip(case.expected.rows[0], columns.values(), strict=True)]
    assert written == [[1, 2], "1.5", "true", "no"]


def test_what_is_named_after_the_file(tmp_path: Path, queries: CompiledQueries) -> None:
    (case,) = read(tmp_path, "tests: {nothing: {expect: []}}", queries, "HOT.test.yml")
    assert (case.query, case.rows, case.expected.rows) == ("hot", {}, ())


HEAD = "tests:\n  t:\n    expect: []\n"
MISTAKES: dict[str, tuple[str, str]] = {
    "": ("hot.test.yml: error: there is no test in the file", "Write  tests:"),
    "tests: [": ("hot.test.yml:1:", "error: "),
    "tests: {t: {}}": ("1:9: error: tests.t: the key expect is missing", "expect: []"),
    "tests: {t: {expect: {}}}": ("1:21: error: tests.t.expect: expected a list of rows, lines", "- {column"),
    "tests: {t: {expct: [], expect: []}}": ("1:13: error: tests.t.expct: unknown key 'expct'", "Did you mean expect?"),
    "tets: []\ntests: {t: {expect: []}}": ("1:1: error: tets: unknown key 'tets'", "Did you mean tests?"),
    "tests: {t: {query: hott, expect: []}}": ("1:20: error: tests.t.query: there is no query called 'hott'", "hot?"),
    f"rows: {{Heet: []}}\n{HEAD}": ("1:8: error: rows.Heet: there is no stream or relation", "Did you mean Heat?"),
    f"rows: {{Heat: heat.txt}}\n{HEAD}": ("1:14: error: rows.Heat: expected a list of rows", "found the text"),
    f"rows: {{Heat: heat.csv}}\n{HEAD}": ("1:14: error: rows.Heat: cannot read", "No such file"),
    f"rows: {{Heat: [{{k: 1}}]}}\n{HEAD}": ("1:15: error: rows.Heat[0]: the row has no ts", "event time"),
    f"rows: {{Heat: [{{kk: 1, ts: 1 s}}]}}\n{HEAD}": ("1:16: error: rows.Heat[0].kk: there is no", "Did you mean k?"),
    f"rows: {{Heat: [1]}}\n{HEAD}": ("1:15: error: rows.Heat[0]: expected a row", "found the number 1"),
    f"rows: {{Heat: [{{k: x, ts: 1 s}}]}}\n{HEAD}": ("1:19: error: rows.Heat[0].k: 'x' is no int", "32 bits"),
    f"rows: {{Heat: [{{k: 2147483648, ts: 1 s}}]}}\n{HEAD}": ("'2147483648' is no int", "32 bits"),
    f"rows: {{Heat: [{{v: [1], ts: 1 s}}]}}\n{HEAD}": ("1:19: error: ", "a value of type double, found a list"),
    f"rows: {{Heat: [{{ts: 5}}]}}\n{HEAD}": ("1:20: error: rows.Heat[0].ts: '5' is not a time", "such as 00:05"),
    f"rows: {{Heat: [{{ts: 24:00}}]}}\n{HEAD}": ("'24:00' is not a time", "such as 00:05"),
    f"rows: {{Heat: [{{ts: 5 sek}}]}}\n{HEAD}": ("unknown unit of time 'sek'", "Did you mean sec?"),
    f"rows:\n  Heat: |\n    k,w,ts\n    1,2,1 s\n{HEAD}": ("3:7: error: there is no", "      k,w,ts\n        ^\n"),
    f"rows:\n  Heat: |\n    k,K,ts\n{HEAD}": ("3:7: error: the column k is there twice", "The first line"),
    f"rows:\n  Heat: |\n    k\n    1\n{HEAD}": ("3:5: error: there is no column ts", "event time"),
    f"rows:\n  Heat: |\n    k,ts\n\n    1,1 s\n    12x,1 s\n{HEAD}": ("6:5: error: '12x' is no int", "  ^^^\n"),
    f"rows:\n  Heat: |\n    k,ts\n    1,2,1 s\n{HEAD}": ("4:9: error: expected 2 values, found 3", "in quotes"),
    f"rows:\n  Heat: |\n    k,ts\n    1\n{HEAD}": ("4:5: error: expected 2 values, found 1", "needs its comma"),
    f"rows:\n  Heat: |\n    k,ts\n    1,\n{HEAD}": ("4:7: error: the row has no ts", "event time"),
    f'rows:\n  Heat: "k,ts\\n1,x"\n{HEAD}': ("2:9: error: 'x' is not a time", "such as 00:05"),
    f"settings: {{reevalute: 1 s}}\n{HEAD}": ("1:12: error: settings.reevalute: unknown setting", "reevaluate?"),
    f"tolerance: small\n{HEAD}": ("1:12: error: tolerance: expected how far numbers may be apart", "the text 'small'"),
    f"day: today\n{HEAD}": ("1:6: error: day: expected a date such as 2026-01-31", "the text 'today'"),
    "tests: {t: {at: [00:05, noon], expect: []}}": ("1:25: error: tests.t.at[1]: 'noon' is not a time", "00:05"),
    "tests: {t: {expect: [{k: 1}, {v: 1}]}}": ("1:30: error: tests.t.expect[1]: the rows of expect", "in k, v"),
    "tests: {t: {expect: []}, t: {expect: []}}": ("1:26: error: tests.t: the key 't' is given twice", "Leave one out"),
}  # fmt: skip


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes(tmp_path: Path, queries: CompiledQueries, text: str) -> None:
    """A file that is wrong is shown where it is, with what to do about it."""
    with pytest.raises(PenstockError) as caught:
        read(tmp_path, text, queries)
    (error,) = caught.value.errors
    shown = render(error)
    assert all(said in shown for said in MISTAKES[text]), shown
    assert error.hint or error.label in ("wrong-kind", "yaml-syntax")


def test_a_file_named_after_no_query(tmp_path: Path, queries: CompiledQueries) -> None:
    with pytest.raises(PenstockError, match=r"1:9: error: tests.t: there is no query called 'hots'") as caught:
        read(tmp_path, "tests: {t: {expect: []}}", queries, "hots.test.yml")
    assert "Did you mean hot?" in str(caught.value)


def test_a_csv_file_that_is_wrong(tmp_path: Path, queries: CompiledQueries) -> None:
    (tmp_path / "heat.csv").write_text('k,ts\n1,1 s\n"2\n', "utf-8")
    with pytest.raises(PenstockError, match=r"heat.csv:3:1: error: expected 2 values, found 1"):
        read(tmp_path, f"rows: {{Heat: heat.csv}}\n{HEAD}", queries)


def test_all_mistakes_at_once(tmp_path: Path, queries: CompiledQueries) -> None:
    text = "rows: {Heat: [{k: x, ts: 1 s}]}\ntests: {t: {}, u: {query: q, expect: []}}"
    with pytest.raises(PenstockError) as caught:
        read(tmp_path, text, queries)
    assert len(caught.value.errors) == 3


# Values


def test_times() -> None:
    day = date(2026, 3, 1)
    known = {
        "00:05": "2026-03-01 00:05:00+00:00",
        "7:05:30.25": "2026-03-01 07:05:30.250000+00:00",
        "1.5 h": "2026-03-01 01:30:00+00:00",
        "2 d": "2026-03-03 00:00:00+00:00",
        "2026-01-31": "2026-01-31 00:00:00+00:00",
        "2026-01-31T12:00:00.5+02:00": "2026-01-31 10:00:00.500000+00:00",
    }
    assert {text: str(moment(text, day)) for text in known} == known
    assert [shown(moment(text, day), day) for text in ("00:05", "0.5 s", "2 d")] == [
        "00:05:00",
        "00:00:00.500000",
        "2026-03-03 00:00:00",
    ]


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("-128", "tinyint", -128), ("128", "tinyint", None), ("1.0", "int", None), ("NaN", "int", None),
        ("1e3", "double", 1000.0), ("-inf", "float", float("-inf")), ("x", "double", None),
        ("12.50", "decimal(3,1)", Decimal("12.5")), ("12.55", "decimal(3,1)", None), ("100", "decimal(3,1)", None),
        ("NaN", "decimal(3,1)", None), ("TRUE", "boolean", True), ("1", "boolean", None), (" x ", "string", " x "),
        ("2026-01-31", "date", date(2026, 1, 31)), ("31.1.2026", "date", None),
    ],
)  # fmt: skip
def test_values(text: str, type_: str, value: Any) -> None:
    if value is None:
        with pytest.raises(PenstockError, match=" is no ") as caught:
            parse(text, type_)
        assert caught.value.hint
    else:
        assert parse(text, type_) == value


def test_numbers_that_are_close() -> None:
    nan = float("nan")
    assert is_close(0.1 + 0.2, 0.3, "double") and not is_close(0.3, 0.3001, "double")
    assert is_close(0.3, 0.3001, "double", 0.001) and is_close(nan, nan, "double") and not is_close(nan, 1.0, "double")
    assert not is_close(None, 0.0, "double", 1.0) and is_close(None, None, "double") and not is_close(1, 2, "int", 5.0)


# Comparing


def test_bags() -> None:
    types = ["int", "string"]
    assert not compare([(1, "a"), (2, "b")], [(2, "b"), (1, "a")], types)
    found = compare([(1, "a"), (1, "a"), (1, "a")], [(1, "a")], types)
    assert (found.missing, found.unexpected, found.near) == (((1, "a"), (1, "a")), (), ())
    found = compare([], [(1, "a"), (1, "a")], types)
    assert (found.missing, found.unexpected) == ((), ((1, "a"), (1, "a")))


def test_rows_that_are_alike_are_shown_together() -> None:
    found = compare([(1, "a", 5), (7, "x", 8)], [(9, "y", 9), (1, "b", 6), (1, "a", 6)], ["int", "string", "int"])
    assert found.near == (((1, "a", 5), (1, "a", 6)),)
    assert (found.missing, found.unexpected) == (((7, "x", 8),), ((1, "b", 6), (9, "y", 9)))


def test_close_numbers_find_partners_for_all() -> None:
    """Whichever comes first: 1.0 could take 1.4, which is the only one for 1.8."""
    assert not compare([(1.0,), (1.8,)], [(1.4,), (0.6,)], ["double"], 0.45)
    assert not compare([(float("nan"), 1)], [(float("nan"), 1)], ["double", "int"])
    assert compare([(1.0, 1)], [(1.0, 2)], ["double", "int"], 5.0)


# Telling


def outcomes(folder: Path, queries: CompiledQueries) -> list[Outcome]:
    text = """
tests:
  fine: {expect: []}
  wrong:
    expect: [{_ts: 00:01, k: 1, v: 1.5}, {_ts: 00:00, k: 2, v: 1}, {_ts: 00:00, k: 2, v: 1}]
  broken: {expect: []}
"""
    fine, wrong, broken = read(folder, text, queries)
    came = [(moment("00:01"), 1, 2.5), (moment("2026-01-02 00:00"), 3, None)]
    types = [type_ for _, type_ in wrong.expected.columns]
    return [
        Outcome(fine, 0.5),
        Outcome(wrong, 0.25, 2, compare(wrong.expected.rows, came, types)),
        Outcome(broken, 0.25, error=PenstockError("it cannot be read", hint="Look.")),
    ]


def told(found: list[Outcome], **options: Any) -> str:
    out = io.StringIO()
    as_text(found, Console(file=out, width=100), **options)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_the_text(tmp_path: Path, queries: CompiledQueries) -> None:
    file = tmp_path / "hot.test.yml"
    found = outcomes(tmp_path, queries)
    expected = f"""\
{file}
  ok    fine
  FAIL  wrong
        {file}:4: hot gave 2, 3 expected; 3 missing; 2 unexpected
                       _ts                  k  v
         - missing     00:00:00             2  1.0   2 times
         - missing     00:01:00             1  1.5
         + unexpected  00:01:00             1  2.5   differs in v
         + unexpected  2026-01-02 00:00:00  3  NULL
  FAIL  broken
        error: it cannot be read
          Look."""
    assert told(found) == expected
    assert told(found, failed_only=True) == expected.replace("  ok    fine\n", "")
    assert told(found[:1], failed_only=True) == ""


def test_a_long_difference_is_cut(tmp_path: Path, queries: CompiledQueries) -> None:
    case = outcomes(tmp_path, queries)[0].case
    came = [(moment(f"{second} s"), second, 0.0) for second in range(3600)]
    found = Outcome(case, 1, 3600, compare([], came, [type_ for _, type_ in case.expected.columns]))
    lines = told([found]).splitlines()
    assert lines[-1] == "        … and 3580 more" and len(lines) == 25


def test_json(tmp_path: Path, queries: CompiledQueries) -> None:
    fine, wrong, broken = map(json.loads, as_json(outcomes(tmp_path, queries)))
    assert (fine["outcome"], fine["test"], fine["query"], fine["line"]) == ("passed", "fine", "hot", 3)
    assert wrong["missing"][-1] == {"_ts": "00:01:00", "k": 1, "v": 1.5}
    assert wrong["unexpected"][0] == {"_ts": "2026-01-02 00:00:00", "k": 3, "v": None}
    assert broken["outcome"] == "failed" and "it cannot be read" in broken["error"]


def test_junit(tmp_path: Path, queries: CompiledQueries) -> None:
    root = ElementTree.fromstring(as_junit(outcomes(tmp_path, queries)))
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [(test.get("name"), len(test)) for test in suite] == [("fine", 0), ("wrong", 1), ("broken", 1)]
    assert "differs in v" in (suite[1][0].text or "")


# Sharing runs


def test_what_shares_a_run(tmp_path: Path, queries: CompiledQueries) -> None:
    """Tests with the same rows and settings, of whichever query."""
    text = """
rows: {Heat: [{k: 1, v: 31, ts: 1 s}]}
tests:
  one: {expect: []}
  other settings: {settings: {reevaluate: 5 s}, expect: []}
  other query: {query: owners, rows: {Heat: [{k: 1, v: 31.0, ts: 00:00:01}]}, expect: []}
  other rows: {rows: {Heat: []}, expect: []}
"""
    cases = read(tmp_path, text, queries)
    assert [[case.name for case in group] for group in grouped(cases)] == [
        ["one", "other query"],
        ["other settings"],
        ["other rows"],
    ]
