"""The types of columns: Spark SQL's names, checked and written in one way."""

from __future__ import annotations

import re
from collections.abc import Callable

from penstock.grammar.errors import PenstockError, did_you_mean

# Every accepted spelling of a type without parts, and its canonical name.
SIMPLE = {
    spelling: name
    for name, spellings in {
        "boolean": ("boolean",),
        "tinyint": ("tinyint", "byte"),
        "smallint": ("smallint", "short"),
        "int": ("int", "integer"),
        "bigint": ("bigint", "long"),
        "float": ("float", "real"),
        "double": ("double",),
        "string": ("string", "text"),
        "binary": ("binary",),
        "date": ("date",),
        "timestamp": ("timestamp",),
    }.items()
    for spelling in spellings
}
DECIMAL = ("decimal", "dec", "numeric")
CHARACTERS = ("varchar", "char", "character")
NESTED = ("array", "map", "struct")
TYPE_NAMES = (*SIMPLE, *DECIMAL, *CHARACTERS, *NESTED)

KNOWN = (
    "Types are boolean, tinyint, smallint, int, bigint, float, double, decimal(p,s), string, binary, "
    "date, timestamp, array<T>, map<K,V> and struct<name:T,…>."
)

# What other systems call these types; closeness of spelling would not find them.
_ELSEWHERE = {
    "bool": "boolean",
    "blob": "binary",
    "bytea": "binary",
    "bytes": "binary",
    "datetime": "timestamp",
    "dict": "map",
    "float32": "float",
    "float64": "double",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "list": "array",
    "money": "decimal",
    "number": "decimal",
    "object": "struct",
    "record": "struct",
    "row": "struct",
    "str": "string",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp",
    "timestamptz": "timestamp",
    "uuid": "string",
}

MAX_PRECISION = 38
MAX_DEPTH = 32

_TOKEN = re.compile(r"\s*(?:(?P<word>\w+)|`(?P<quoted>(?:[^`]|``)+)`|(?P<mark>[<>(),:]))")
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


def parse_type(text: str) -> str:
    """The canonical name of a type: `INTEGER` is `int`, `VARCHAR(10)` is `string`.

    Names of struct fields keep their case.
    """
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.tokens: list[tuple[str, str]] = []
        self.next = 0
        self.depth = 0

    def parse(self) -> str:
        if not self.text:
            raise self.fault("a type is missing")
        self.tokens = list(self.scan())
        name = self.type()
        if self.next < len(self.tokens):
            raise self.fault(f"'{self.tokens[self.next][1]}' is left over after the type {name} in '{self.text}'")
        return name

    def scan(self) -> list[tuple[str, str]]:
        tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None or match.lastgroup is None:
                raise self.fault(f"'{self.text}' is not a type: '{self.text[at:].strip()[0]}' cannot stand in one")
            tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        return tokens

    def type(self) -> str:
        if self.depth > MAX_DEPTH:
            raise self.fault(f"a type is nested more than {MAX_DEPTH} levels deep")
        kind, spelling = self.take("a type")
        word = spelling.lower()
        if kind == "word" and word in SIMPLE:
            return SIMPLE[word]
        if kind == "word" and word in DECIMAL:
            return self.decimal()
        if kind == "word" and word in CHARACTERS:
            self.length(word)
            return "string"
        if kind == "word" and word in NESTED:
            return self.nested(word)
        where = "" if spelling == self.text else f" in '{self.text}'"
        raise self.fault(f"unknown type '{spelling}'{where}", _suggest(word))

    def nested(self, word: str) -> str:
        parts: dict[str, Callable[[], str]] = {"array": self.type, "map": self.map, "struct": self.struct}
        self.expect("<", f"{word} needs its parts in <…>")
        self.depth += 1
        inside = parts[word]()
        self.depth -= 1
        self.expect(">", f"{word}<…> is not closed")
        return f"{word}<{inside}>"

    def map(self) -> str:
        key = self.type()
        if "map<" in key:
            raise self.fault(f"a map cannot be the key of a map, in '{self.text}'")
        self.expect(",", "map needs two types, of its keys and its values")
        return f"{key},{self.type()}"

    def struct(self) -> str:
        fields = [self.field()]
        while self.accept(","):
            fields.append(self.field())
        seen: set[str] = set()
        for name, _ in fields:
            if name.lower() in seen:
                raise self.fault(f"a struct has two fields named '{name}', in '{self.text}'")
            seen.add(name.lower())
        return ",".join(f"{_quoted(name)}:{type_}" for name, type_ in fields)

    def field(self) -> tuple[str, str]:
        kind, name = self.take("the name of a struct's field")
        if kind == "mark":
            raise self.fault(f"expected the name of a struct's field, found '{name}' in '{self.text}'")
        if kind == "quoted":
            name = name.replace("``", "`")
        self.accept(":")
        return name, self.type()

    def decimal(self) -> str:
        if not self.accept("("):
            return "decimal(10,0)"
        precision = self.number("the precision of a decimal")
        scale = self.number("the scale of a decimal") if self.accept(",") else 0
        self.expect(")", "the '(' of a decimal is not closed")
        if not 1 <= precision <= MAX_PRECISION or scale > precision:
            raise self.fault(
                f"decimal({precision},{scale}) is out of range",
                f"The precision is 1 to {MAX_PRECISION}, the scale 0 to the precision.",
            )
        return f"decimal({precision},{scale})"

    def length(self, word: str) -> None:
        """Read over the length of a text: Spark checks it in tables only, never in a stream."""
        if self.accept("("):
            if self.number(f"the length of a {word}") == 0:
                raise self.fault(f"the length of a {word} must be at least 1")
            self.expect(")", f"the '(' of a {word} is not closed")

    def number(self, what: str) -> int:
        _, text = self.take(what)
        if not re.fullmatch("[0-9]{1,9}", text):
            raise self.fault(f"expected {what}, found '{text}' in '{self.text}'")
        return int(text)

    def take(self, what: str) -> tuple[str, str]:
        if self.next == len(self.tokens):
            raise self.fault(f"'{self.text}' ends where {what} is expected")
        self.next += 1
        return self.tokens[self.next - 1]

    def accept(self, mark: str) -> bool:
        found = self.next < len(self.tokens) and self.tokens[self.next] == ("mark", mark)
        self.next += found
        return found

    def expect(self, mark: str, otherwise: str) -> None:
        if not self.accept(mark):
            raise self.fault(f"'{self.text}' is not a type: {otherwise}")

    def fault(self, message: str, hint: str = "") -> PenstockError:
        return PenstockError(message, hint=f"{hint}\n{KNOWN}".strip(), label="unknown-type")


def _suggest(word: str) -> str:
    if word in _ELSEWHERE:
        return f"Did you mean {_ELSEWHERE[word]}?"
    suggestion = did_you_mean(word, TYPE_NAMES)
    return suggestion if suggestion.startswith("Did you mean") else ""


def _quoted(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"
