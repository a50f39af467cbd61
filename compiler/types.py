"""What the types of columns have in common: which compare, which is wider, how to call them."""

from __future__ import annotations

UNKNOWN = "unknown"


def kind_of(type_: str) -> str:
    """The family of a type: numbers compare with numbers, times with times, and so on."""
    base = type_.split("(")[0].split("<")[0]
    if base in ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"):
        return "number"
    if base in ("date", "timestamp"):
        return "time"
    return {"string": "text", "boolean": "condition", "void": UNKNOWN}.get(base, base)


_WIDTH = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")


def wider(types: list[str]) -> str:
    """The type that holds the values of all these types, as far as that is plain."""
    if not types:
        return UNKNOWN
    if len(set(types)) == 1:
        return types[0]
    if all(kind_of(t) == "number" for t in types):
        return max(types, key=lambda t: _WIDTH.index(t.split("(")[0]))
    if all(kind_of(t) == "time" for t in types):
        return "timestamp"
    return UNKNOWN


CONVERSIONS = {
    ("text", "number"): "Write CAST(… AS DOUBLE) to read a text as a number.",
    ("number", "text"): "Write CAST(… AS STRING) to write a number as a text.",
    ("number", "condition"): "Compare it, such as  A.Value > 0.",
    ("text", "condition"): "Compare it, such as  A.Owner = 'x'.",
}


def family(kind: str) -> str:
    names = {"condition": "a condition", "interval": "an interval", "array": "an array"}
    return names.get(kind, f"a {kind}")
