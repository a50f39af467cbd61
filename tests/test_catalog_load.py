"""Catalogs from YAML and dicts: what they mean, and every mistake at its place."""

import datetime
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from penstock.catalog import Catalog, Column, Relation, SourceSpec, Statistics, Stream, load_catalog, nodes
from penstock.catalog import parse_catalog as parse
from penstock.grammar.errors import PenstockError

FULL = """
streams:
  Temperature:
    source: {format: parquet, path: data/temperature, options: {maxFilesPerTrigger: 1}}
    schema: {LocationId: INT, Value: double, at: date, ts: timestamp}
    timestamp: ts
    lateness: 5 sec
    retain: 2 h
    idle_timeout: 1 min
    statistics: {rate: 100, distinct: {LocationId: 500}}
relations:
  Racks: {source: {format: csv, path: data/racks.csv, options: {header: true}},
          schema: {LocationId: int, Owner: string, since: timestamp, until: timestamp},
          valid: [since, until], statistics: {rows: 1e3, distinct: {Owner: 7}}}
"""

EXPECTED = Catalog(
    (
        Stream(
            "Temperature",
            (
                Column("LocationId", "int"),
                Column("Value", "double"),
                Column("at", "date"),
                Column("ts", "timestamp"),
            ),
            timestamp="ts",
            lateness=5_000_000,
            retain=7_200_000_000,
            idle_timeout=60_000_000,
            source=SourceSpec("parquet", "data/temperature", (("maxFilesPerTrigger", "1"),)),
            statistics=Statistics(rate=100, distinct=(("LocationId", 500),)),
        ),
    ),
    (
        Relation(
            "Racks",
            (
                Column("LocationId", "int"),
                Column("Owner", "string"),
                Column("since", "timestamp"),
                Column("until", "timestamp"),
            ),
            source=SourceSpec("csv", "data/racks.csv", (("header", "true"),)),
            valid=("since", "until"),
            statistics=Statistics(rows=1000, distinct=(("Owner", 7),)),
        ),
    ),
)


@pytest.fixture(params=["C", "Python"], autouse=True)
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything holds with the C reader of YAML and with the one in Python."""
    if request.param == "Python":
        monkeypatch.setattr(nodes, "_LOADER", yaml.SafeLoader)
    elif not yaml.__with_libyaml__:
        pytest.skip("PyYAML is built without libyaml")


def errors_of(text: object) -> tuple[PenstockError, ...]:
    with pytest.raises(PenstockError) as caught:
        parse(text, "c.yml") if isinstance(text, str) else load_catalog(text)
    return caught.value.errors


def place(error: PenstockError) -> tuple[int, int]:
    assert error.source is not None
    assert error.span is not None
    return error.source.position(error.span.start)


def test_yaml_gives_the_model() -> None:
    assert parse(FULL) == EXPECTED


def test_a_dict_gives_the_same() -> None:
    plain = yaml.safe_load(FULL)
    plain["relations"]["Racks"]["statistics"]["rows"] = 1000  # YAML 1.1 has 1e3 for a text
    assert load_catalog(plain) == EXPECTED
    assert hash(load_catalog(plain)) == hash(parse(FULL))
    assert load_catalog(plain).stream("temperature").origin is None


def test_a_catalog_is_returned_as_it_is() -> None:
    assert load_catalog(EXPECTED) is EXPECTED


def test_files_and_folders(tmp_path: Path) -> None:
    streams, relations = FULL.split("relations:")
    (tmp_path / "b.yml").write_text(streams)
    (tmp_path / "a.yaml").write_text(f"relations:{relations}")
    (tmp_path / "empty.yml").write_text("# nothing yet\n")
    (tmp_path / ".draft.yml").write_text("{")
    (tmp_path / "notes.txt").write_text("{")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "c.yml").write_text("{")
    (tmp_path / "folder.yml").mkdir()
    assert load_catalog(tmp_path) == EXPECTED
    assert load_catalog(str(tmp_path)) == EXPECTED
    assert load_catalog(tmp_path / "b.yml").names == ("Temperature",)
    assert load_catalog(tmp_path / "deeper" / ".." / "a.yaml").names == ("Racks",)
    assert load_catalog(tmp_path / "folder.yml") == Catalog()


def test_the_origin_is_the_key() -> None:
    assert str(parse(FULL, "c.yml").stream("temperature").origin) == "c.yml:3:3"
    assert str(parse(FULL, "c.yml").relation("racks").origin) == "c.yml:12:3"


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "streams:\n", "streams: {}\nrelations:\n"])
def test_empty_catalogs(text: str) -> None:
    assert parse(text) == Catalog()


def test_the_empty_dict() -> None:
    assert load_catalog({}) == load_catalog({"streams": None, "relations": {}}) == Catalog()


def test_what_may_be_left_out() -> None:
    stream = parse("streams: {S: {schema: {ts: timestamp}, lateness: , statistics: }}").stream("s")
    assert stream == Stream("S", (Column("ts", "timestamp"),), "ts")
    assert (stream.lateness, stream.retain, stream.idle_timeout, stream.source) == (0, 0, None, None)
    assert parse("streams: {S: {schema: {ts: timestamp}, lateness: 0}}").stream("s").lateness == 0


def test_options_are_kept_as_written() -> None:
    text = """
streams:
  S:
    schema: {ts: timestamp}
    source:
      format: kafka
      options: {a: True, b: no, c: 1, d: 1_000, e: 007, f: 1.10, g: 2020-01-01, h: '', i: 0x1F, j: 1:30}
"""
    options = {
        "a": "true",
        "b": "false",
        "c": "1",
        "d": "1000",
        "e": "007",
        "f": "1.10",
        "g": "2020-01-01",
        "h": "",
        "i": "0x1F",
        "j": "1:30",
    }
    source = parse(text).stream("S").source
    assert source is not None
    assert dict(source.options) == options


def test_values_of_python() -> None:
    plain = {
        "streams": {
            "S": {
                "schema": {"ts": "timestamp"},
                "source": {
                    "format": "csv",
                    "path": Path("a/b"),
                    "options": {"x": True, "y": 1.5, "z": datetime.date(2020, 1, 2)},
                },
            }
        }
    }
    assert load_catalog(plain).stream("s").source == SourceSpec(
        "csv", "a/b", (("x", "true"), ("y", "1.5"), ("z", "2020-01-02"))
    )


def test_keys_are_texts_whatever_yaml_makes_of_them() -> None:
    columns = parse("streams: {S: {schema: {on: int, 5: int, null: int, ts: timestamp}}}").stream("s").columns
    assert [column.name for column in columns] == ["on", "5", "null", "ts"]


def test_anchors_and_merge_keys() -> None:
    text = """
streams:
  A: &base
    schema: &columns {id: int, ts: timestamp}
    lateness: 5 sec
  B: {<<: *base, lateness: 1 sec}
  C: {schema: *columns}
  D: {<<: [{retain: 1 h}, *base]}
"""
    catalog = parse(text)
    assert catalog.stream("B").lateness == 1_000_000
    assert catalog.stream("B").columns == catalog.stream("C").columns == catalog.stream("A").columns
    assert (catalog.stream("D").retain, catalog.stream("D").lateness) == (3_600_000_000, 5_000_000)


def test_a_text_that_refers_to_itself_does_no_harm() -> None:
    assert errors_of("streams: &a {b: *a}")[0].label == "unknown-key"
    assert parse("streams: &a {<<: *a}") == Catalog()


def test_quoted_nested_types() -> None:
    schema = """{a: 'decimal(10,2)', b: "struct<X:int,y:map<string,int>>", c: array<int>, ts: timestamp}"""
    types = [column.type for column in parse(f"streams: {{S: {{schema: {schema}}}}}").stream("S").columns]
    assert types == ["decimal(10,2)", "struct<X:int,y:map<string,int>>", "array<int>", "timestamp"]


def test_the_example() -> None:
    catalog = load_catalog(str(files("penstock.catalog") / "datacenter.yml"))
    assert catalog.names == ("Humidity", "Load", "Temperature", "Racks")
    assert {stream.lateness for stream in catalog.streams} == {5_000_000}
    assert {stream.statistics.rate for stream in catalog.streams} == {100.0}
    assert {entry.statistics.distinct_of("locationid") for entry in catalog.entries} == {500}
    assert catalog.relation("Racks").valid == ("since", "until")


# The text, the line and column, the key path, a part of the message.
BAD = {
    "root list": ("- a\n", 1, 1, "", "expected a mapping with the keys streams and relations, found a list"),
    "root text": ("hello\n", 1, 1, "", "found the text 'hello'"),
    "root key": ("stream: {}\n", 1, 1, "stream", "unknown key 'stream'"),
    "root twice": ("streams: {}\n\nstreams: {}\n", 3, 1, "streams", "the key 'streams' is given twice"),
    "root key mapping": ("? {a: 1}\n: 2\n", 1, 3, "", "expected a text as key, found a mapping"),
    "streams list": (
        "streams:\n  - A\n",
        2,
        3,
        "streams",
        "expected a mapping of name to stream, found a list",
    ),
    "relations text": ("relations: A\n", 1, 12, "relations", "expected a mapping of name to relation"),
    "stream number": ("streams:\n  S: 5\n", 2, 6, "streams.S", "describes a stream, found the number 5"),
    "stream empty": ("streams:\n  S:\n", 2, 3, "streams.S", "the key schema is missing"),
    "stream tag": ("streams: {S: !x {a: 1}}", 1, 14, "streams.S", "found a value with the tag !x"),
    "stream twice": (
        "streams:\n  S: {schema: {ts: timestamp}}\n  S: {schema: {ts: timestamp}}\n",
        3,
        3,
        "streams.S",
        "the key 'S' is given twice",
    ),
    "stream name": (
        "streams:\n  a b: {schema: {ts: timestamp}}\n",
        2,
        3,
        "streams.a b",
        "cannot be the name",
    ),
    "stream key": (
        "streams:\n  S:\n    schema: {ts: timestamp}\n    latenes: 5 sec\n",
        4,
        5,
        "streams.S.latenes",
        "unknown key 'latenes'",
    ),
    "stream valid": (
        "streams:\n  S:\n    schema: {ts: timestamp}\n    valid: [a, b]\n",
        4,
        5,
        "streams.S.valid",
        "unknown key 'valid'",
    ),
    "merge": ("streams:\n  S: {<<: 5, schema: {ts: timestamp}}\n", 2, 11, "streams.S.<<", "to merge, found"),
    "schema list": (
        "streams:\n  S:\n    schema:\n      - ts\n",
        4,
        7,
        "streams.S.schema",
        "expected a mapping of column to type, found a list",
    ),
    "schema empty": ("streams:\n  S: {schema: {}}\n", 2, 15, "streams.S.schema", "stream S has no columns"),
    "type number": (
        "streams:\n  S: {schema: {a: 5, ts: timestamp}}\n",
        2,
        19,
        "streams.S.schema.a",
        "expected a type such as int, found the number 5",
    ),
    "type missing": (
        "streams:\n  S: {schema: {a: , ts: timestamp}}\n",
        2,
        16,
        "streams.S.schema.a",
        "expected a type such as int, found nothing",
    ),
    "type unknown": (
        "streams:\n  S:\n    schema:\n      a: strng\n      ts: timestamp\n",
        4,
        10,
        "streams.S.schema.a",
        "unknown type 'strng'",
    ),
    "type cut": (
        "streams:\n  S: {schema: {a: decimal(10,2), ts: timestamp}}\n",
        2,
        19,
        "streams.S.schema.a",
        "'decimal(10' is not a type",
    ),
    "column twice": (
        "streams:\n  S: {schema: {a: int, a: int, ts: timestamp}}\n",
        2,
        24,
        "streams.S.schema.a",
        "the key 'a' is given twice",
    ),
    "column twice ignoring case": (
        "streams:\n  S: {schema: {a: int, A: int, ts: timestamp}}\n",
        2,
        24,
        "streams.S.schema.A",
        "two columns named 'a' and 'A'",
    ),
    "column reserved": (
        "streams:\n  S: {schema: {_query: int, ts: timestamp}}\n",
        2,
        16,
        "streams.S.schema._query",
        "starts with '_'",
    ),
    "timestamp unknown": (
        "streams:\n  S:\n    schema: {ts: timestamp}\n    timestamp: time\n",
        4,
        16,
        "streams.S.timestamp",
        "stream S has no column 'time'",
    ),
    "timestamp type": (
        "streams:\n  S: {schema: {a: int, ts: timestamp}, timestamp: a}\n",
        2,
        51,
        "streams.S.timestamp",
        "the column 'a' of stream S is of type int, not timestamp",
    ),
    "timestamp list": (
        "streams:\n  S: {schema: {ts: timestamp}, timestamp: [ts]}\n",
        2,
        43,
        "streams.S.timestamp",
        "expected the name of a column, found a list",
    ),
    "timestamp absent": (
        "streams:\n  S: {schema: {a: int}}\n",
        2,
        3,
        "streams.S",
        "stream S has no column of type timestamp",
    ),
    "timestamp ambiguous": (
        "streams:\n  S: {schema: {a: timestamp, b: timestamp}}\n",
        2,
        3,
        "streams.S",
        "several columns of type timestamp: a, b",
    ),
    "lateness unit": (
        "streams:\n  S:\n    schema: {ts: timestamp}\n    lateness: 5 parsecs\n",
        4,
        15,
        "streams.S.lateness",
        "unknown unit of time 'parsecs'",
    ),
    "lateness bare": (
        "streams:\n  S: {schema: {ts: timestamp}, lateness: 5}\n",
        2,
        42,
        "streams.S.lateness",
        "'5' is not a duration",
    ),
    "lateness sexagesimal": (
        "streams:\n  S: {schema: {ts: timestamp}, lateness: 1:30}\n",
        2,
        42,
        "streams.S.lateness",
        "'1:30' is not a duration",
    ),
    "retain mapping": (
        "streams:\n  S: {schema: {ts: timestamp}, retain: {a: 1}}\n",
        2,
        40,
        "streams.S.retain",
        "expected a duration such as 5 min, found a mapping",
    ),
    "idle zero": (
        "streams:\n  S: {schema: {ts: timestamp}, idle_timeout: 0 s}\n",
        2,
        46,
        "streams.S.idle_timeout",
        "not positive",
    ),
    "source text": (
        "streams:\n  S: {schema: {ts: timestamp}, source: parquet}\n",
        2,
        40,
        "streams.S.source",
        "expected a mapping with the keys format, path and options, found the text 'parquet'",
    ),
    "source format": (
        "streams:\n  S:\n    source: {path: x}\n    schema: {ts: timestamp}\n",
        3,
        5,
        "streams.S.source",
        "the key format is missing",
    ),
    "source path": (
        "streams:\n  S: {schema: {ts: timestamp}, source: {format: csv}}\n",
        2,
        32,
        "streams.S.source",
        "a source of format csv needs a path",
    ),
    "source path number": (
        "streams:\n  S: {schema: {ts: timestamp}, source: {format: csv, path: 5}}\n",
        2,
        60,
        "streams.S.source.path",
        "expected a path, found the number 5",
    ),
    "source key": (
        "streams:\n  S: {schema: {ts: timestamp}, source: {format: rate, opts: {}}}\n",
        2,
        55,
        "streams.S.source.opts",
        "unknown key 'opts'",
    ),
    "option list": (
        "streams:\n  S: {schema: {ts: timestamp}, source: {format: rate, options: {a: [1]}}}\n",
        2,
        68,
        "streams.S.source.options.a",
        "expected a text, a number, true or false, found a list",
    ),
    "option empty": (
        "streams:\n  S: {schema: {ts: timestamp}, source: {format: rate, options: {a: }}}\n",
        2,
        65,
        "streams.S.source.options.a",
        "found nothing",
    ),
    "option twice": (
        "streams:\n  S: {schema: {ts: timestamp}, source: {format: rate, options: {A: 1, a: 1}}}\n",
        2,
        71,
        "streams.S.source.options.a",
        "the option 'a' is given twice",
    ),
    "rate text": (
        "streams:\n  S: {schema: {ts: timestamp}, statistics: {rate: '5'}}\n",
        2,
        51,
        "streams.S.statistics.rate",
        "expected the number of rows per second, found the text '5'",
    ),
    "rate negative": (
        "streams:\n  S: {schema: {ts: timestamp}, statistics: {rate: -5}}\n",
        2,
        51,
        "streams.S.statistics.rate",
        "a rate of -5 is not positive",
    ),
    "rate infinite": (
        "streams:\n  S: {schema: {ts: timestamp}, statistics: {rate: 1e999}}\n",
        2,
        51,
        "streams.S.statistics.rate",
        "found the number 1e999",
    ),
    "stream rows": (
        "streams:\n  S: {schema: {ts: timestamp}, statistics: {rows: 5}}\n",
        2,
        45,
        "streams.S.statistics.rows",
        "unknown key 'rows'",
    ),
    "distinct column": (
        "streams:\n  S: {schema: {ts: timestamp}, statistics: {distinct: {x: 5}}}\n",
        2,
        56,
        "streams.S.statistics.distinct.x",
        "stream S has no column 'x'",
    ),
    "distinct fraction": (
        "streams:\n  S: {schema: {ts: timestamp}, statistics: {distinct: {ts: 1.5}}}\n",
        2,
        60,
        "streams.S.statistics.distinct.ts",
        "a whole number, found the number 1.5",
    ),
    "distinct zero": (
        "streams:\n  S: {schema: {ts: timestamp}, statistics: {distinct: {ts: 0}}}\n",
        2,
        56,
        "streams.S.statistics.distinct.ts",
        "fewer than one",
    ),
    "relation key": (
        "relations:\n  R: {schema: {a: int}, lateness: 5 sec}\n",
        2,
        25,
        "relations.R.lateness",
        "unknown key 'lateness'",
    ),
    "relation columns": ("relations:\n  R: {schema: {}}\n", 2, 15, "relations.R.schema", "has no columns"),
    "valid text": (
        "relations:\n  R: {schema: {a: timestamp}, valid: a}\n",
        2,
        38,
        "relations.R.valid",
        "expected a list of two columns, found the text 'a'",
    ),
    "valid one": (
        "relations:\n  R: {schema: {a: timestamp}, valid: [a]}\n",
        2,
        38,
        "relations.R.valid",
        "expected a list of two columns, found a list of 1",
    ),
    "valid unknown": (
        "relations:\n  R: {schema: {a: timestamp}, valid: [a, b]}\n",
        2,
        42,
        "relations.R.valid[1]",
        "relation R has no column 'b'",
    ),
    "valid type": (
        "relations:\n  R: {schema: {a: timestamp, b: int}, valid: [b, a]}\n",
        2,
        47,
        "relations.R.valid[0]",
        "is of type int, not timestamp",
    ),
    "valid number": (
        "relations:\n  R: {schema: {a: timestamp}, valid: [a, 5]}\n",
        2,
        42,
        "relations.R.valid[1]",
        "expected the name of a column, found the number 5",
    ),
    "rows negative": (
        "relations:\n  R: {schema: {a: int}, statistics: {rows: -1}}\n",
        2,
        44,
        "relations.R.statistics.rows",
        "-1 rows are fewer than none",
    ),
}


@pytest.mark.parametrize(("text", "line", "column", "key", "message"), BAD.values(), ids=BAD)
def test_a_mistake_is_shown_at_its_place(text: str, line: int, column: int, key: str, message: str) -> None:
    (error,) = errors_of(text)
    assert error.message.startswith(f"{key}: " if key else "expected")
    assert message in error.message
    assert place(error) == (line, column)
    assert error.label
    assert str(error).startswith(f"c.yml:{line}:{column}: error: ")
    assert "^" in str(error).splitlines()[2]


# Mistakes that a dict cannot hold, or that are others once a YAML reader has made values of them.
ONLY_YAML = {
    "column twice",
    "lateness sexagesimal",
    "merge",
    "rate infinite",
    "root key mapping",
    "root list",
    "root text",
    "root twice",
    "stream tag",
    "stream twice",
    "type cut",
}


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [(text, key, message) for name, (text, _, _, key, message) in BAD.items() if name not in ONLY_YAML],
)
def test_a_dict_is_checked_alike(text: str, key: str, message: str) -> None:
    plain = yaml.safe_load(text)
    (error,) = errors_of(plain)
    assert error.message.startswith(f"{key}: ")
    assert message in error.message
    assert error.source is None
    assert error.span is None


# Not YAML at all: line, column, a part of the message and of the hint.
BROKEN = {
    "second colon": ("streams: a: b\n", 1, 11, "a second ': ' in one line", "in quotes"),
    "struct": ("a: struct<x: int>\n", 1, 12, "a second ': '", "in quotes"),
    "deeper": ("a: 1\n b: 2\n", 2, 2, "this key does not fit the line above it", "the same column"),
    "shallower": ("a:\n  b: 1\n c: 2\n", 3, 2, "this line does not fit", "the same column"),
    "list in mapping": ("a: 1\n- b\n", 2, 1, "this line does not fit", "cannot be mixed"),
    "mapping in list": ("a:\n  - b\n  c: 1\n", 3, 3, "this line does not fit", "cannot be mixed"),
    "tab": ("streams:\n\tS: 1\n", 2, 1, "a tab indents this line", "Indent with spaces"),
    "at": ("a: @x\n", 1, 4, "a value cannot begin with '@'", "in quotes"),
    "brace": ("streams: {a: 1\nrelations: {}\n", 1, 10, "this '{' is not closed", "a closing }"),
    "brace at the end": ("a: {b: c", 1, 4, "this '{' is not closed", "a closing }"),
    "bracket": ("é𝄞: [1, 2\r\n", 1, 5, "this '[' is not closed", "a closing ]"),
    "nested bracket": ("a: [[1], [", 1, 10, "this '[' is not closed", "a closing ]"),
    "comma": ("a: {b: 1 c: 2}\n", 1, 11, "a ',' or '}' is missing here", "commas"),
    "closing": ("a: {b: 1}}\n", 1, 10, "this '}' closes nothing", "Take it out"),
    "quote": ("a: 'x\nb: 1\n", 1, 4, "this quote is not closed", "a closing '"),
    "escape": ('a: "c:\\q"\n', 1, 7, "a backslash sequence", "single quotes"),
    "no colon": ("a: 1\nb\n", 2, 1, "this key has no value", "a colon"),
    "alias": ("a: *x\n", 1, 4, "this alias is not defined", "Define it"),
    "documents": ("a: 1\n---\nb: 1\n", 2, 1, "a second document begins here", "a file of its own"),
    "block": ("a: |x\n", 1, 4, "'|' has a meaning of its own", "in quotes"),
    "after the end": ("{a: 1}\nb: 2\n", 2, 1, "this line does not fit", "the same column"),
    "two commas": ("a: [1, , 2]\n", 1, 8, "a value is expected here, not ','", "Take it out"),
    "ampersand": ("a: & b\n", 1, 4, "a name is expected after '&'", "in quotes"),
    "list in line": ("a: - b\n", 1, 4, "a list cannot begin here", "a line of its own"),
    "control": ("a: b\nc: \x01\n", 2, 4, "the character U+0001", "Take it out"),
}


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_yaml(text: str, line: int, column: int, message: str, hint: str) -> None:
    (error,) = errors_of(text)
    assert message in error.message
    assert hint in (error.hint or "")
    assert place(error) == (line, column)
    assert error.label == "yaml-syntax"


@pytest.mark.parametrize(
    ("text", "hint"),
    {
        "streams: {S: {schema: {ts: timestamp}, latness: 5 sec}}": "Did you mean lateness?",
        "streams: {S: {schema: {ts: timestmp}}}": "Did you mean timestamp?",
        "streams: {S: {schema: {ts: timestamp}, timestamp: tss}}": "Did you mean ts?\nIts columns are ts.",
        "relation: {}": "Did you mean relations?",
        "streams: {S: {schema: {a: decimal(10,2), ts: timestamp}}}": "put the type in quotes",
        "streams: {S: {}}": "schema: {id: int, ts: timestamp}",
        "streams: {S: 1}\nstreams: {}": "It is first given on line 1",
    }.items(),
)
def test_hints(text: str, hint: str) -> None:
    assert any(hint in (error.hint or "") for error in errors_of(text))


def test_a_type_cut_by_commas_is_reported_once_each() -> None:
    schema = "{a: decimal(10,2), b: decimal(9,2), c: map<int,int>, ts: timestamp}"
    errors = errors_of(f"streams: {{S: {{schema: {schema}}}}}")
    assert [error.message.split(":")[0] for error in errors] == [f"streams.S.schema.{c}" for c in "abc"]


def test_the_whole_message() -> None:
    (error,) = errors_of("streams:\n  S:\n    schema: {a: int, ts: timestamp}\n    timestamp: t\n")
    assert str(error).splitlines() == [
        "c.yml:4:16: error: streams.S.timestamp: stream S has no column 't'",
        "      timestamp: t",
        "                 ^",
        "  Did you mean ts?",
        "  Its columns are a, ts.",
    ]


def test_every_mistake_of_every_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("streams:\n  S: {schema: {a: itn, b: 5}, timestamp: x, lateness: soon}\n")
    (tmp_path / "b.yml").write_text("streams: [\n")
    (tmp_path / "c.yml").write_text("relations:\n  R: {schema: {a: int}, vald: 1, statistics: {rows: x}}\n")
    (tmp_path / "d.yml").write_text("streams: {T: {schema: {ts: timestamp}}}\n")
    with pytest.raises(PenstockError) as caught:
        load_catalog(tmp_path)
    found = [(Path(error.source.name).name, error.label) for error in caught.value.errors if error.source is not None]
    assert found == [
        ("a.yml", "unknown-type"),
        ("a.yml", "wrong-kind"),
        ("a.yml", "unknown-column"),
        ("a.yml", "bad-duration"),
        ("b.yml", "yaml-syntax"),
        ("c.yml", "unknown-key"),
        ("c.yml", "wrong-kind"),
    ]


def test_a_wrong_type_is_not_blamed_on_those_who_use_the_column() -> None:
    (error,) = errors_of("streams: {S: {schema: {a: int, ts: timestmp}, timestamp: ts}}")
    assert error.label == "unknown-type"
    (error,) = errors_of("streams: {S: {schema: {a: int, ts: timestmp}}}")
    assert error.label == "unknown-type"
    (error,) = errors_of("streams: {S: {schema: {a: int, _t: timestamp}, timestamp: _t}}")
    assert error.label == "reserved-name"


def test_wrong_statistics_do_not_hide_others() -> None:
    errors = errors_of(
        "streams: {S: {schema: {a: int, t: timestamp}, statistics: {rate: -1, distinct: {A: x, B: 0, c: 1}}}}"
    )
    assert sorted(error.message.split(": ")[0] for error in errors) == [
        "streams.S.statistics.distinct.A",
        "streams.S.statistics.distinct.B",
        "streams.S.statistics.distinct.B",
        "streams.S.statistics.distinct.c",
        "streams.S.statistics.rate",
    ]


def test_a_name_in_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("\nstreams: {S: {schema: {ts: timestamp}}}\n")
    (tmp_path / "b.yml").write_text("relations:\n  s: {schema: {a: int}}\n")
    with pytest.raises(PenstockError) as caught:
        load_catalog(tmp_path)
    assert caught.value.message == "relation s is defined already, as the stream S"
    assert place(caught.value) == (2, 3)
    assert f"{tmp_path / 'a.yml'}:2:11" in (caught.value.hint or "")


def test_keys_of_a_dict_are_texts() -> None:
    (error,) = errors_of({"streams": {"S": {"schema": {"ts": "timestamp", True: "int"}}}})
    assert error.message == "streams.S.schema.True: expected a text as key, found True"
    (error,) = errors_of({"streams": {"S": {"schema": {"ts": {"timestamp"}}}}})
    assert error.message.endswith("found a value of type set")


def test_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PenstockError) as caught:
        load_catalog("catalgo/")
    assert caught.value.message == "there is no catalog at 'catalgo'"
    assert str(tmp_path) in (caught.value.hint or "")
    with pytest.raises(PenstockError, match="there is no catalog at"):
        load_catalog(tmp_path / "x.yml")
    with pytest.raises(PenstockError, match="cannot read"):
        load_catalog("x" * 5000)


def test_what_is_no_path() -> None:
    with pytest.raises(PenstockError, match="more than one line"):
        load_catalog(FULL)
    with pytest.raises(TypeError, match="a path, a dict or a Catalog, not int"):
        load_catalog(5)  # type: ignore[arg-type]


def test_files_with_a_byte_order_mark_or_another_encoding(tmp_path: Path) -> None:
    file = tmp_path / "c.yml"
    file.write_bytes(b"\xef\xbb\xbf" + FULL.encode())
    assert load_catalog(file) == EXPECTED
    assert str(load_catalog(file).stream("Temperature").origin) == f"{file}:3:3"
    file.write_bytes("# Größe\nstreams: {}\n# Ä\n".encode() + b"# \xe4\n")
    with pytest.raises(PenstockError, match="not UTF-8 text") as caught:
        load_catalog(file)
    assert place(caught.value) == (4, 3)
