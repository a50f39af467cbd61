"""The model: checked when built, equal by content, found by name whatever its case."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace

import pytest

from penstock.catalog import Catalog, CatalogError, Column, Origin, Relation, SourceSpec, Statistics, Stream
from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source, Span

COLUMNS = (Column("Id", "int"), Column("Value", "double"), Column("ts", "timestamp"))
VALIDITY = (Column("Id", "int"), Column("since", "timestamp"), Column("until", "timestamp"))


def stream(name: str = "S", **changes: object) -> Stream:
    return Stream(**{"name": name, "columns": COLUMNS, "timestamp": "ts", **changes})  # type: ignore[arg-type]


def relation(name: str = "R", **changes: object) -> Relation:
    return Relation(**{"name": name, "columns": VALIDITY, **changes})  # type: ignore[arg-type]


def origin(name: str, text: str, start: int) -> Origin:
    return Origin(Source(name, text), Span(start, start + 1))


def test_a_column_has_the_canonical_type() -> None:
    assert Column("a", "INTEGER") == Column("a", "int")
    assert str(Column("a", "LONG")) == "a bigint"


def test_the_only_timestamp_column_is_the_event_time() -> None:
    assert Stream("S", COLUMNS).timestamp == "ts"
    assert Stream("S", COLUMNS) == stream()


def test_names_of_columns_are_spelled_as_the_columns_are() -> None:
    odd = stream(timestamp="TS", statistics=Statistics.of(distinct={"ID": 5}))
    assert odd == stream(statistics=Statistics.of(distinct={"Id": 5}))
    assert odd.timestamp == "ts"
    assert relation(valid=("SINCE", "Until")).valid == ("since", "until")


def test_columns_are_found_whatever_their_case() -> None:
    assert stream().column("VALUE") == Column("Value", "double")
    assert stream().column("nothing") is None
    assert stream().column_names == ("Id", "Value", "ts")
    assert stream(columns=list(COLUMNS)) == stream()


def test_equality_and_hash_leave_the_origin_out() -> None:
    here, there = stream(origin=origin("a.yml", "S", 0)), stream(origin=origin("b.yml", "\nS", 1))
    assert here == there
    assert hash(here) == hash(there)
    assert here != stream(lateness=1)
    assert here != replace(here, statistics=Statistics(rate=1))
    assert str(there.origin) == "b.yml:2:1"


def test_everything_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        stream().name = "T"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        Catalog().streams = ()  # type: ignore[misc]


def test_options_are_texts_sorted_by_name() -> None:
    spec = SourceSpec.of("csv", "a.csv", {"sep": ";", "header": True, "Limit": 1, "half": 0.5})
    assert spec.options == (("half", "0.5"), ("header", "true"), ("Limit", "1"), ("sep", ";"))
    assert spec.option("HEADER") == "true"
    assert spec.option("quote") is None
    assert SourceSpec("csv", "a.csv", (("b", "2"), ("a", "1"))) == SourceSpec.of("csv", "a.csv", {"a": 1, "b": 2})


def test_the_path_among_the_options_is_the_path() -> None:
    assert SourceSpec.of("csv", options={"Path": "a.csv"}) == SourceSpec("csv", "a.csv")


def test_a_source_that_is_no_file_needs_no_path() -> None:
    assert SourceSpec.of("kafka", options={"subscribe": "t"}).path is None
    assert SourceSpec("rate").options == ()


def test_statistics() -> None:
    known = Statistics.of(rate=100, distinct={"b": 2, "A": 1})
    assert known == Statistics(100.0, None, (("A", 1), ("b", 2)))
    assert isinstance(known.rate, float)
    assert known.distinct_of("B") == 2
    assert known.distinct_of("c") is None
    assert known.known
    assert not Statistics().known
    measured = Statistics.of(rate=7, rows=3, distinct={"a": 9, "c": 9})
    assert known.or_else(measured) == Statistics.of(100, 3, {"A": 1, "b": 2, "c": 9})
    assert Statistics.of(rows=0).rows == 0


def test_statistics_of_the_other_kind_are_refused() -> None:
    with pytest.raises(CatalogError, match="A stream has a rate"):
        stream(statistics=Statistics(rows=5))
    with pytest.raises(CatalogError, match="A relation has a number of rows"):
        relation(statistics=Statistics(rate=5))


BAD: dict[str, tuple[Callable[[], object], tuple[object, ...], str]] = {
    "blank column": (lambda: Column(" ", "int"), (), "a column has no name"),
    "reserved column": (lambda: Column("_ts", "timestamp"), (), "starts with '_'"),
    "no columns": (lambda: stream(columns=(), timestamp=""), ("schema",), "stream S has no columns"),
    "same column": (
        lambda: stream(columns=(*COLUMNS, Column("VALUE", "int"))),
        ("schema", "VALUE"),
        "two columns named 'Value' and 'VALUE'",
    ),
    "very same column": (
        lambda: stream(columns=(*COLUMNS, COLUMNS[0])),
        ("schema", "Id"),
        "two columns named 'Id' and 'Id'",
    ),
    "unknown timestamp": (lambda: stream(timestamp="tss"), ("timestamp",), "stream S has no column 'tss'"),
    "no time": (lambda: stream(timestamp="Value"), ("timestamp",), "is of type double, not timestamp"),
    "no timestamp": (
        lambda: Stream("S", COLUMNS[:2]),
        ("timestamp",),
        "stream S has no column of type timestamp",
    ),
    "which timestamp": (
        lambda: Stream("S", VALIDITY),
        ("timestamp",),
        "several columns of type timestamp: since, until",
    ),
    "lateness": (lambda: stream(lateness=-1), ("lateness",), "the lateness of stream S is negative"),
    "retain": (lambda: stream(retain=-1), ("retain",), "the retain of stream S is negative"),
    "idle": (lambda: stream(idle_timeout=0), ("idle_timeout",), "not positive"),
    "name": (lambda: stream("a-b"), (), "'a-b' cannot be the name of a stream"),
    "no name": (lambda: relation(""), (), "'' cannot be the name of a relation"),
    "path as name": (lambda: stream("../x"), (), "cannot be the name"),
    "distinct column": (
        lambda: stream(statistics=Statistics.of(distinct={"x": 1})),
        ("statistics", "distinct", "x"),
        "stream S has no column 'x'",
    ),
    "valid column": (lambda: relation(valid=("since", "x")), ("valid", 1), "relation R has no column 'x'"),
    "valid type": (lambda: relation(valid=("Id", "until")), ("valid", 0), "is of type int, not timestamp"),
    "valid twice": (lambda: relation(valid=("since", "SINCE")), ("valid", 1), "to the same column"),
    "rate zero": (lambda: Statistics(rate=0), ("rate",), "a rate of 0 is not positive"),
    "rate nan": (lambda: Statistics(rate=float("nan")), ("rate",), "a rate of nan is not positive"),
    "rows": (lambda: Statistics(rows=-1), ("rows",), "-1 rows"),
    "distinct zero": (lambda: Statistics.of(distinct={"a": 0}), ("distinct", "a"), "fewer than one"),
    "distinct twice": (
        lambda: Statistics.of(distinct={"a": 1, "A": 1}),
        ("distinct", "a"),
        "given twice, also as 'A'",
    ),
    "format": (lambda: SourceSpec(""), ("format",), "the format of a source is empty"),
    "no path": (lambda: SourceSpec("Parquet"), ("path",), "format Parquet needs a path"),
    "empty path": (lambda: SourceSpec("csv", ""), ("path",), "needs a path"),
    "two paths": (lambda: SourceSpec.of("csv", "a", {"path": "b"}), ("options",), "the path is given twice"),
    "option twice": (
        lambda: SourceSpec.of("csv", "a", {"sep": 1, "SEP": 2}),
        ("options", "sep"),
        "the option 'sep' is given twice",
    ),
}


@pytest.mark.parametrize(("build", "at", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_built(build: Callable[[], object], at: tuple[object, ...], message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        build()
    assert message in caught.value.message
    assert caught.value.at == at
    assert caught.value.hint
    assert caught.value.label
    assert caught.value.span is None
    assert caught.value.source is None


def test_an_unknown_column_comes_with_those_there_are() -> None:
    with pytest.raises(CatalogError) as caught:
        stream(timestamp="tss")
    assert caught.value.hint == "Did you mean ts?\nIts columns are Id, Value, ts."


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(PenstockError) as caught:
        stream("1", timestamp="x", lateness=-1, retain=-1)
    assert [error.label for error in caught.value.errors] == [
        "bad-name",
        "unknown-column",
        "bad-duration",
        "bad-duration",
    ]


CATALOG = Catalog((stream("Temp"), stream("Humid")), (relation("Racks"),))


def test_entries_are_found_whatever_their_case() -> None:
    assert CATALOG.find("TEMP") == stream("Temp")
    assert CATALOG.find("racks") == relation("Racks")
    assert CATALOG.find("nothing") is None
    assert CATALOG.stream("temp").name == "Temp"
    assert CATALOG.relation("RACKS").name == "Racks"
    assert CATALOG.names == ("Humid", "Temp", "Racks")
    assert [entry.kind for entry in CATALOG.entries] == ["stream", "stream", "relation"]


def test_lookup_goes_through_one_index() -> None:
    catalog = Catalog(tuple(stream(f"s{number}") for number in range(50)))
    assert catalog.find("S7") is catalog.find("s7")
    assert catalog._index is catalog._index
    assert catalog == Catalog(tuple(stream(f"s{number}") for number in reversed(range(50))))


def test_catalogs_are_equal_by_content() -> None:
    same = Catalog((stream("Humid"), stream("Temp")), (relation("Racks"),))
    assert same == CATALOG
    assert hash(same) == hash(CATALOG)
    assert len({same, CATALOG}) == 1
    assert Catalog() != CATALOG
    assert Catalog((stream("temp"),)) != Catalog((stream("Temp"),))


def test_catalogs_change_by_making_new_ones() -> None:
    more = CATALOG.with_entry(stream("Load")).with_entry(relation("Owners"))
    assert more.names == ("Humid", "Load", "Temp", "Owners", "Racks")
    assert more.without("LOAD").without("owners") == CATALOG
    assert CATALOG.merge(Catalog((stream("Load"),), (relation("Owners"),))) == more
    assert Catalog().merge(CATALOG) == CATALOG


def test_what_is_not_there() -> None:
    with pytest.raises(PenstockError) as caught:
        CATALOG.stream("Tempe")
    assert caught.value.message == "there is no stream 'Tempe'"
    assert caught.value.hint == "Did you mean Temp?"
    with pytest.raises(PenstockError, match="Racks is a relation, not a stream"):
        CATALOG.stream("racks")
    with pytest.raises(PenstockError, match="Temp is a stream, not a relation"):
        CATALOG.relation("temp")
    with pytest.raises(PenstockError, match="there is no stream or relation 'x'"):
        CATALOG.without("x")
    with pytest.raises(PenstockError, match="The catalog has no stream"):
        Catalog().stream("x")


def test_a_name_is_taken_once() -> None:
    with pytest.raises(PenstockError, match="stream Temp is defined twice"):
        CATALOG.with_entry(stream("Temp"))
    with pytest.raises(PenstockError, match="stream TEMP is defined already, as the stream Temp"):
        CATALOG.with_entry(stream("TEMP"))
    with pytest.raises(PenstockError, match="relation temp is defined already, as the stream Temp"):
        CATALOG.with_entry(relation("temp"))
    with pytest.raises(PenstockError) as caught:
        CATALOG.merge(CATALOG)
    assert len(caught.value.errors) == 3


def test_a_name_taken_twice_shows_both_places() -> None:
    first, second = stream(origin=origin("a.yml", "S", 0)), stream(origin=origin("b.yml", "\n S", 2))
    with pytest.raises(PenstockError) as caught:
        Catalog((first, second))
    assert str(caught.value).splitlines() == [
        "b.yml:2:2: error: stream S is defined twice",
        "   S",
        "   ^",
        "  Rename one of them or leave it out. It is first defined at a.yml:1:1.",
    ]
