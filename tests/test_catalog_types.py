"""Types of columns: one name for each, and help with the others."""

import pytest

from penstock.catalog import parse_type
from penstock.grammar.errors import PenstockError

GOOD = {
    "boolean": "boolean",
    "TINYINT": "tinyint",
    "byte": "tinyint",
    "smallint": "smallint",
    "Short": "smallint",
    "int": "int",
    "INTEGER": "int",
    "bigint": "bigint",
    "LONG": "bigint",
    "float": "float",
    "real": "float",
    "double": "double",
    "DECIMAL": "decimal(10,0)",
    "dec(5)": "decimal(5,0)",
    "numeric( 12 , 2 )": "decimal(12,2)",
    "decimal(38,38)": "decimal(38,38)",
    "string": "string",
    "text": "string",
    "VARCHAR(10)": "string",
    "varchar": "string",
    "char(3)": "string",
    "binary": "binary",
    "date": "date",
    " Timestamp ": "timestamp",
    "ARRAY<INTEGER>": "array<int>",
    "map<String, array<Long>>": "map<string,array<bigint>>",
    "struct<Id:int,Name:VARCHAR(5)>": "struct<Id:int,Name:string>",
    "struct<a int, `b c`: map<int,struct<D:dec>>>": "struct<a:int,`b c`:map<int,struct<D:decimal(10,0)>>>",
    "struct<`a``b`:int>": "struct<`a``b`:int>",
    "struct<array:int>": "struct<array:int>",
}

BAD = {
    "": "a type is missing",
    "  ": "a type is missing",
    "strng": "unknown type 'strng'",
    "array<strng>": "unknown type 'strng' in 'array<strng>'",
    "5": "unknown type '5'",
    "`int`": "unknown type 'int'",
    "int int": "'int' is left over",
    "int(5)": "'(' is left over",
    "int;": "';' cannot stand in one",
    "decimal(39,0)": "decimal(39,0) is out of range",
    "decimal(0)": "decimal(0,0) is out of range",
    "decimal(5,6)": "decimal(5,6) is out of range",
    "decimal(a)": "expected the precision of a decimal, found 'a'",
    "decimal(10": "the '(' of a decimal is not closed",
    "varchar(0)": "at least 1",
    "array": "array needs its parts in <…>",
    "array<int": "array<…> is not closed",
    "array<>": "unknown type '>'",
    "map<int>": "map needs two types",
    "map<map<int,int>,int>": "a map cannot be the key of a map",
    "struct<>": "expected the name of a struct's field",
    "struct<a:int,A:int>": "two fields named 'A'",
    "struct<a>": "unknown type '>'",
    "struct<a:": "ends where a type is expected",
    "array<" * 40 + "int" + ">" * 40: "nested more than 32 levels",
    "array<" * 5000: "nested more than 32 levels",
}


@pytest.mark.parametrize(("text", "name"), GOOD.items())
def test_canonical_names(text: str, name: str) -> None:
    assert parse_type(text) == name
    assert parse_type(name) == name


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=lambda text: text[:30])
def test_what_is_no_type(text: str, message: str) -> None:
    with pytest.raises(PenstockError) as caught:
        parse_type(text)
    assert message in caught.value.message
    assert caught.value.label == "unknown-type"
    assert caught.value.span is None
    assert "Types are boolean" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "meant"),
    {
        "strng": "string",
        "timestmp": "timestamp",
        "bool": "boolean",
        "INT64": "bigint",
        "datetime": "timestamp",
        "list<int>": "array",
        "timestamp_ntz": "timestamp",
    }.items(),
)
def test_the_type_that_was_meant(text: str, meant: str) -> None:
    with pytest.raises(PenstockError) as caught:
        parse_type(text)
    assert f"Did you mean {meant}?" in (caught.value.hint or "")


def test_nothing_close_lists_the_types_only() -> None:
    with pytest.raises(PenstockError) as caught:
        parse_type("zzz")
    assert (caught.value.hint or "").startswith("Types are")
