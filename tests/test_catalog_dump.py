"""Catalogs as plain data: nothing is lost on the way there and back."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from penstock.catalog import (
    Catalog,
    Column,
    Relation,
    SourceSpec,
    Statistics,
    Stream,
    catalog_data,
    load_catalog,
    parse_catalog,
)
from penstock.catalog.types import SIMPLE

SHIPPED = files("penstock.catalog").joinpath("datacenter.yml").read_text(encoding="utf-8")
NESTED = ("decimal(38,18)", "array<array<date>>", "map<string,array<int>>", "struct<B:int,a:string,`x y``(`:double>")
TYPES = tuple(Column(f"c {i}", type_) for i, type_ in enumerate((*dict.fromkeys(SIMPLE.values()), *NESTED)))
TIMES = (Column("z", "timestamp"), Column("Until", "timestamp"))
FULL = Catalog(
    (
        Stream(
            "Full",
            (*TIMES, *TYPES),
            timestamp="until",
            lateness=1,
            retain=7_200_000_000,
            idle_timeout=61_000_001,
            source=SourceSpec("csv", "a b/c", (("header", "true"), ("sep", ""), ("n", "007"))),
            statistics=Statistics(0.1, None, (("Z", 2), ("C 1", 10**15))),
        ),
        Stream("bare", TIMES[:1]),
        Stream("Pathless", TIMES[:1], source=SourceSpec("kafka"), statistics=Statistics(distinct=(("z", 1),))),
    ),
    (
        Relation(
            "Also",
            (*TYPES, *TIMES),
            source=SourceSpec("jdbc", options=(("url", "jdbc:x"),)),
            valid=("z", "until"),
            statistics=Statistics(rows=0, distinct=(("z", 2),)),
        ),
        Relation("r", (Column("x", "int"),)),
    ),
)


def stream(lateness: int, *, retain: int = 0, idle_timeout: int | None = None) -> Catalog:
    """A catalog of one stream."""
    return Catalog((Stream("S", TIMES[:1], lateness=lateness, retain=retain, idle_timeout=idle_timeout),))


def test_the_shipped_catalog() -> None:
    """It comes back equal, though the places in the file are gone."""
    shipped = parse_catalog(SHIPPED)
    again = load_catalog(catalog_data(shipped))
    assert again == shipped
    assert shipped.streams[0].origin is not None
    assert again.streams[0].origin is None


def test_the_shape_is_that_of_the_yaml() -> None:
    """Keys and values are those that a user would write."""
    data = catalog_data(parse_catalog(SHIPPED))
    assert data["relations"]["Racks"] == {
        "source": {"format": "csv", "path": "data/racks.csv", "options": {"header": "true"}},
        "schema": {"LocationId": "int", "Owner": "string", "since": "timestamp", "until": "timestamp"},
        "valid": ["since", "until"],
        "statistics": {"rows": 500, "distinct": {"LocationId": 500}},
    }
    assert data["streams"]["Load"] == {
        "source": {"format": "parquet", "path": "data/load"},
        "schema": {"LocationId": "int", "Watts": "double", "ts": "timestamp"},
        "timestamp": "ts",
        "lateness": "5 sec",
        "statistics": {"rate": 100, "distinct": {"LocationId": 500}},
    }


def test_every_field() -> None:
    """A catalog that uses all there is comes back equal, also through JSON."""
    data = catalog_data(FULL)
    assert load_catalog(data) == FULL
    assert json.loads(json.dumps(data)) == data
    assert load_catalog(json.loads(json.dumps(data))) == FULL


def test_what_is_not_given_is_left_out() -> None:
    """Entries without source, durations and statistics are short."""
    data = catalog_data(FULL)
    assert data["streams"]["bare"] == {"schema": {"z": "timestamp"}, "timestamp": "z"}
    assert data["relations"]["r"] == {"schema": {"x": "int"}}
    assert data["streams"]["Pathless"]["source"] == {"format": "kafka"}
    assert catalog_data(Catalog()) == {"streams": {}, "relations": {}}


@pytest.mark.parametrize("micros", [1, 999, 1_000, 1_001, 999_999, 1_000_001, 86_400_000_001, 3_153_599_999_999_999])
def test_durations_are_exact(micros: int) -> None:
    """To the microsecond, from one of them to a hundred years."""
    catalog = stream(micros, retain=micros, idle_timeout=micros)
    assert load_catalog(catalog_data(catalog)) == catalog
    assert load_catalog(catalog_data(catalog)) != stream(micros + 1, retain=micros, idle_timeout=micros)


def test_a_rate_is_exact() -> None:
    """JSON keeps every bit of it."""
    catalog = Catalog((Stream("S", TIMES[:1], statistics=Statistics(rate=1 / 3)),))
    assert load_catalog(json.loads(json.dumps(catalog_data(catalog)))) == catalog
