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
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_MOST_DIGITS = 38


def wider(types: list[str]) -> str:
    """The type that holds the values of all these types; unknown if there is none."""
    if not types:
        return UNKNOWN
    if len(set(types)) == 1:
        return types[0]
    if all(kind_of(t) == "number" for t in types):
        if any(t in ("float", "double") for t in types):
            return "double"
        if any(t.startswith("decimal") for t in types):
            sizes = [_digits(t) for t in types]
            scale = max(s for _, s in sizes)
            return _decimal(max(p - s for p, s in sizes) + scale, scale)
        return max(types, key=_WIDTH.index)
    if all(kind_of(t) == "time" for t in types):
        return "timestamp"
    return UNKNOWN


def arithmetic_type(op: str, left: str, right: str) -> str:
    """The type of a number, an operator and a number, as Spark has it."""
    both = wider([left, right])
    if not both.startswith("decimal"):
        return "double" if op == "/" else both
    (p1, s1), (p2, s2) = _digits(left), _digits(right)
    scale = max(s1, s2)
    if op in "+-":
        return _decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if op == "*":
        return _decimal(p1 + p2 + 1, s1 + s2)
    if op == "%":
        return _decimal(min(p1 - s1, p2 - s2) + scale, scale)
    scale = max(6, s1 + p2 + 1)
    return _decimal(p1 - s1 + s2 + scale, scale)


def whole_type(type_: str) -> str:
    """The type of a number rounded up or down."""
    if not type_.startswith("decimal"):
        return "bigint"
    precision, scale = _digits(type_)
    return _decimal(precision - scale + 1, 0)


def rounded_type(type_: str, places: int) -> str:
    """The type of a number rounded to a number of decimal places."""
    if not type_.startswith("decimal"):
        return type_
    precision, scale = _digits(type_)
    kept = max(0, min(places, scale))
    return _decimal(max(precision - scale + 1 + kept, 1 - places), kept)


def sum_type(type_: str) -> str:
    """The type of a sum of numbers."""
    if type_.startswith("decimal"):
        precision, scale = _digits(type_)
        return f"decimal({min(precision + 10, _MOST_DIGITS)},{scale})"
    return "double" if type_ in ("float", "double") else "bigint"


def mean_type(type_: str) -> str:
    """The type of a mean of numbers."""
    if type_.startswith("decimal"):
        precision, scale = _digits(type_)
        return f"decimal({min(precision + 4, _MOST_DIGITS)},{min(scale + 4, _MOST_DIGITS)})"
    return "double"


def _digits(type_: str) -> tuple[int, int]:
    """The digits of a decimal or whole number, and how many of them stand behind the point."""
    if type_ in _DIGITS:
        return _DIGITS[type_], 0
    precision, scale = type_.removeprefix("decimal(").removesuffix(")").split(",")
    return int(precision), int(scale)


def _decimal(precision: int, scale: int) -> str:
    """A decimal of that many digits; when they are too many, up to six behind the point stay."""
    if precision > _MOST_DIGITS:
        scale = max(_MOST_DIGITS - (precision - scale), min(scale, 6))
        precision = _MOST_DIGITS
    return f"decimal({precision},{scale})"


_CASTS = {
    "number": ("number", "text", "condition", "timestamp"),
    "text": ("number", "text", "condition", "timestamp", "date", "binary"),
    "condition": ("number", "text", "condition"),
    "timestamp": ("timestamp", "date", "text", "number"),
    "date": ("date", "timestamp", "text"),
    "binary": ("binary", "text"),
}


def castable(type_: str, target: str) -> bool:
    """Whether Spark casts one type to another."""
    if type_ == target or kind_of(type_) == UNKNOWN or target == "string":
        return True
    if kind_of(type_) == kind_of(target) == "array":
        return castable(type_[6:-1], target[6:-1])
    return _cast_kind(target) in _CASTS.get(_cast_kind(type_), ())


def _cast_kind(type_: str) -> str:
    return type_ if type_ in ("date", "timestamp") else kind_of(type_)


def comparable(type_: str) -> bool:
    """Whether values of a type can be compared: Spark compares no maps."""
    return "map<" not in type_


_GROUPS = {
    "int": ("tinyint", "smallint", "int"),
    "bigint": ("tinyint", "smallint", "int", "bigint"),
    "fraction": ("float", "double"),
    "timestamp": ("timestamp",),
}


def fits(type_: str, kind: str) -> bool:
    """Whether a type is of a kind: a family, a few types by name, `ordered` for all but maps, or `any`."""
    if kind_of(type_) == UNKNOWN or kind == "any":
        return True
    return comparable(type_) if kind == "ordered" else kind_of(type_) == kind or type_ in _GROUPS.get(kind, ())


CONVERSIONS = {
    ("text", "number"): "Write CAST(… AS DOUBLE) to read a text as a number.",
    ("number", "text"): "Write CAST(… AS STRING) to write a number as a text.",
    ("number", "condition"): "Compare it, such as  A.Value > 0.",
    ("text", "condition"): "Compare it, such as  A.Owner = 'x'.",
    ("text", "time"): "Write TIMESTAMP '2026-01-31 12:00:00' or CAST(… AS TIMESTAMP) to read a text as a time.",
    ("time", "text"): "Write CAST(… AS STRING) or date_format(…) to write a time as a text.",
}


def family(kind: str) -> str:
    names = {
        "array": "an array",
        "int": "an int",
        "interval": "an interval",
        "fraction": "a float or double",
        "ordered": "something that can be compared",
    }
    return names.get(kind, f"a {kind}")
