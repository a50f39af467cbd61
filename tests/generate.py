"""Random texts of the language, the same ones for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Tokens = list[str]

_NAMES = (
    "a", "b", "Value", "LocationId", "ts", "_x1", "rows", "stream", "range", "min", "max", "query", "relation",
    "to", "by", "valid", "cost", "logical", "options", "set", "show", "statistics", "timestamp", "date",
    '"select"', '"a b"', '"say ""hi"""', "`back quoted`", "`tick``ed`", '"from"', '"x.y"', '"é"', "Größe", '"1st"',
    '"--"', '";"',
)  # fmt: skip
_SOURCES = ("Temperature", "Humidity", "A", "B", "stream", '"my stream"', "`rows`", "Racks", "hot")
_ALIASES = ("A", "B", "C", "x", "y", "rows", '"left"', '"a b"', "`order`", "stream")
_AFTER_DOT = ("select", "FROM", "where", "Value", "rows", "case", "end", '"q"', "window", "null")
_STRINGS = (
    "''",
    "'x'",
    "'it''s'",
    "'a;b'",
    "'-- no comment'",
    "'/* nor this */'",
    "'two\nlines'",
    "'10%'",
    "'\"'",
)
_NUMBERS = ("0", "1", "42", "30.5", ".5", "7.", "1e3", "1.5E-3", "0007", "123456789012345678901234567890")
_UNITS = (
    "ms",
    "s",
    "sec",
    "second",
    "seconds",
    "min",
    "minute",
    "minutes",
    "h",
    "hour",
    "hours",
    "d",
    "day",
    "days",
)
_FUNCTIONS = (
    "COUNT", "sum", "Avg", "MIN", "MAX", "coalesce", "lower", "left", "if", "rows", "abs", '"cast"', '"my f"',
    "timestamp",
)  # fmt: skip
_TYPES = (
    "INT", "BIGINT", "double", "STRING", "TIMESTAMP", "date", "DECIMAL(10, 2)", "decimal ( 5 )", "array<int>",
    "MAP<string, array<double>>", 'struct<x: int, "a b": decimal(3,1), rows: array<struct<y: date>>>',
    "struct<`end`:int>",
)  # fmt: skip
_COMPARISONS = ("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>")
_SPACES = (
    " ",
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\t",
    " \r\n ",
    " /* c; ' \" */ ",
    " -- c; ' `\n",
    " /***/ ",
    "\n\n",
)
_TIGHT = re.compile(r"[(),\[\]]")


class _Writer:
    """Writes pieces of the language, as lists of tokens."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def maybe(self, tokens: Tokens | Callable[[], Tokens], chance: float = 0.4) -> Tokens:
        if self.rng.random() >= chance:
            return []
        return tokens if isinstance(tokens, list) else tokens()

    def pick(self, *choices: str) -> Tokens:
        return [self.rng.choice(choices)]

    def words(self, text: str) -> Tokens:
        """Keywords in upper, lower or mixed case."""
        return [self.rng.choice((word, word, word.lower(), word.title(), word.swapcase())) for word in text.split()]

    def some(self, make: Callable[[], Tokens], most: int = 3) -> Tokens:
        """One to `most` of a kind, with commas."""
        tokens = make()
        for _ in range(self.rng.randrange(most)):
            tokens = [*tokens, ",", *make()]
        return tokens

    def name(self) -> Tokens:
        return self.pick(*_NAMES)

    def duration(self) -> Tokens:
        number = self.rng.choice(("1", "5", "90", "1.5", "0.25", "1e1", "10"))
        unit = self.rng.choice(_UNITS)
        return [number + unit] if self.rng.random() < 0.2 else [number, self.rng.choice((unit, unit.upper()))]

    def string(self) -> Tokens:
        return self.pick(*_STRINGS)

    # Expressions

    def expr(self, depth: int = 3) -> Tokens:
        if depth <= 0:
            return self.leaf()
        kind = self.rng.choice(
            (
                self.leaf, self.junction, self.negation, self.comparison, self.between, self.in_list, self.like,
                self.is_what, self.arithmetic, self.sign, self.case, self.cast, self.extract, self.call, self.parens,
            )
        )  # fmt: skip
        return kind(depth - 1)

    def operand(self, depth: int) -> Tokens:
        """Something that may stand on either side of a comparison."""
        kind = self.rng.choice((self.leaf, self.leaf, self.arithmetic, self.sign, self.call, self.parens, self.cast))
        return kind(depth - 1) if depth > 0 else self.leaf()

    def leaf(self, depth: int = 0) -> Tokens:
        return self.rng.choice(
            (
                self.name,
                self.name,
                lambda: [f"{self.rng.choice(_ALIASES)}.{self.rng.choice(_NAMES + _AFTER_DOT)}"],
                lambda: self.pick(*_NUMBERS),
                self.string,
                lambda: self.words(self.rng.choice(("TRUE", "FALSE", "NULL"))),
                lambda: [*self.words(self.rng.choice(("DATE", "TIMESTAMP"))), "'2026-01-31'"],
                lambda: [*self.words("INTERVAL"), *self.duration()],
                lambda: [
                    *self.words("INTERVAL"),
                    *self.pick("'5'", "'-5'", "'1.5'"),
                    *self.pick(*_UNITS[:-2]),
                ],
            )
        )()

    def junction(self, depth: int) -> Tokens:
        tokens = self.condition(depth)
        for _ in range(self.rng.randint(1, 3)):
            tokens = [*tokens, *self.words(self.rng.choice(("AND", "OR"))), *self.condition(depth)]
        return tokens

    def condition(self, depth: int) -> Tokens:
        kinds = (
            self.comparison,
            self.between,
            self.in_list,
            self.like,
            self.is_what,
            self.negation,
            self.parens,
        )
        return self.rng.choice(kinds)(depth - 1) if depth > 0 else self.leaf()

    def negation(self, depth: int) -> Tokens:
        return [*self.words("NOT"), *self.condition(depth)]

    def comparison(self, depth: int) -> Tokens:
        return [*self.operand(depth), *self.pick(*_COMPARISONS), *self.operand(depth)]

    def not_(self) -> Tokens:
        return self.maybe(lambda: self.words("NOT"))

    def between(self, depth: int) -> Tokens:
        low, high = self.operand(depth), self.operand(depth)
        return [
            *self.operand(depth), *self.not_(), *self.words("BETWEEN"), *low, *self.words("AND"), *high,
        ]  # fmt: skip

    def in_list(self, depth: int) -> Tokens:
        items = self.some(lambda: self.expr(depth))
        return [*self.operand(depth), *self.not_(), *self.words("IN"), "(", *items, ")"]

    def like(self, depth: int) -> Tokens:
        op = self.rng.choice(("LIKE", "ILIKE", "RLIKE"))
        escape = [] if op == "RLIKE" else self.maybe(lambda: [*self.words("ESCAPE"), *self.pick("'!'", "''''")])
        return [*self.operand(depth), *self.not_(), *self.words(op), *self.operand(depth), *escape]

    def is_what(self, depth: int) -> Tokens:
        tokens = [*self.operand(depth), *self.words("IS"), *self.not_()]
        if self.rng.random() < 0.3:
            return [*tokens, *self.words("DISTINCT FROM"), *self.operand(depth)]
        return [*tokens, *self.words(self.rng.choice(("NULL", "TRUE", "FALSE")))]

    def arithmetic(self, depth: int) -> Tokens:
        tokens = self.operand(depth)
        for _ in range(self.rng.randint(1, 3)):
            tokens = [*tokens, *self.pick("+", "-", "||", "*", "/", "%"), *self.operand(depth)]
        return tokens

    def sign(self, depth: int) -> Tokens:
        return [*self.pick("-", "+"), *self.operand(depth)]

    def parens(self, depth: int) -> Tokens:
        return ["(", *self.expr(depth), ")"]

    def case(self, depth: int) -> Tokens:
        tokens = [*self.words("CASE"), *self.maybe(lambda: self.expr(depth))]
        for _ in range(self.rng.randint(1, 3)):
            tokens += [*self.words("WHEN"), *self.expr(depth), *self.words("THEN"), *self.expr(depth)]
        return [*tokens, *self.maybe(lambda: [*self.words("ELSE"), *self.expr(depth)]), *self.words("END")]

    def cast(self, depth: int) -> Tokens:
        word = self.rng.choice(("CAST", "TRY_CAST"))
        return [*self.words(word), "(", *self.expr(depth), *self.words("AS"), *self.pick(*_TYPES), ")"]

    def extract(self, depth: int) -> Tokens:
        part = self.words(self.rng.choice(("YEAR", "MONTH", "DAY", "HOUR", "DOY")))
        return [*self.words("EXTRACT"), "(", *part, *self.words("FROM"), *self.expr(depth), ")"]

    def call(self, depth: int) -> Tokens:
        name = self.pick(*_FUNCTIONS)
        if self.rng.random() < 0.2:
            return [*name, "(", "*", ")"]
        distinct = self.maybe(lambda: self.words("DISTINCT"), 0.2)
        return [*name, "(", *distinct, *self.maybe(lambda: self.some(lambda: self.expr(depth)), 0.9), ")"]

    # Queries

    def item(self) -> Tokens:
        return self.rng.choice(
            (
                self.expr,
                lambda: [*self.expr(), *self.words("AS"), *self.name()],
                lambda: [*self.parens(1), *self.pick(*_ALIASES)],
                lambda: ["*"],
                lambda: [f"{self.rng.choice(_ALIASES)}.*"],
            )
        )()

    def alias(self) -> Tokens:
        return [*self.maybe(lambda: self.words("AS")), *self.pick(*_ALIASES)]

    def stream_window(self) -> Tokens:
        if self.rng.random() < 0.5:
            return ["[", *self.words("RANGE"), *self.duration(), "]"]
        return ["[", *self.words("ROWS"), *self.pick("1", "100", "1e3"), "]"]

    def from_item(self) -> Tokens:
        alias, window = self.maybe(self.alias, 0.6), self.maybe(self.stream_window)
        rest = [*alias, *window] if self.rng.random() < 0.7 else [*window, *alias]
        return [*self.pick(*_SOURCES), *rest]

    def joined(self) -> Tokens:
        return self.rng.choice(
            (
                lambda: [",", *self.from_item()],
                lambda: [
                    *self.maybe(lambda: self.words("INNER")),
                    *self.words("JOIN"),
                    *self.from_item(),
                    *self.words("ON"),
                    *self.expr(2),
                ],
                lambda: [*self.words("CROSS JOIN"), *self.from_item()],
            )
        )()

    def window(self) -> Tokens:
        length = [*self.pick("1", "100"), *self.words(self.rng.choice(("ROWS", "ROW")))]
        return [
            *self.words("WINDOW"),
            *(self.duration() if self.rng.random() < 0.7 else length),
            *self.maybe(lambda: [*self.words("SLIDE"), *self.duration()]),
        ]

    def select(self) -> Tokens:
        sources = self.from_item()
        for _ in range(self.rng.randrange(3)):
            sources = [*sources, *self.joined()]
        return [
            *self.words("SELECT"),
            *self.maybe(lambda: self.words("DISTINCT"), 0.2),
            *self.some(self.item),
            *self.words("FROM"),
            *sources,
            *self.maybe(lambda: [*self.words("WHERE"), *self.expr(4)], 0.6),
            *self.maybe(lambda: [*self.words("GROUP BY"), *self.some(lambda: self.expr(1))]),
            *self.maybe(lambda: [*self.words("HAVING"), *self.expr(2)]),
            *self.maybe(self.window, 0.6),
        ]

    def dotted(self) -> Tokens:
        return self.pick("parquet", "json", "org.apache.spark.Thing", '"my.format"', "a.select", "rate", '"a b".c')

    def setting(self) -> Tokens:
        return self.rng.choice(
            (
                self.string,
                lambda: self.pick(*_NUMBERS),
                lambda: ["-", *self.pick(*_NUMBERS)],
                self.duration,
                lambda: self.words(self.rng.choice(("TRUE", "FALSE"))),
                self.dotted,
                self.name,
            )
        )()

    def option(self) -> Tokens:
        name = self.pick("header", "kafka.bootstrap.servers", "rows", '"a b"', "''", "'odd\nname'", "'a.b'", "path.end")
        return [*name, "=", *self.setting()]

    def connector(self) -> Tokens:
        options = self.maybe(lambda: [*self.words("OPTIONS"), "(", *self.some(self.option), ")"])
        return [*self.dotted(), *self.maybe(self.string, 0.7), *options]

    def insert(self) -> Tokens:
        return [*self.words("INSERT INTO"), *self.connector(), *self.select()]

    def body(self) -> Tokens:
        return self.select() if self.rng.random() < 0.7 else self.insert()

    # The other statements

    def columns(self) -> Tokens:
        return ["(", *self.some(lambda: [*self.name(), *self.pick(*_TYPES)], 5), ")"]

    def statistics(self) -> Tokens:
        def one() -> Tokens:
            if self.rng.random() < 0.5:
                return [*self.pick("rate", "Rows", '"distinct"'), "=", *self.pick(*_NUMBERS)]
            return [*self.words("DISTINCT"), "(", *self.name(), ")", "=", *self.pick(*_NUMBERS)]

        return [*self.words("STATISTICS"), "(", *self.some(one), ")"]

    def clauses(self, *choices: Callable[[], Tokens]) -> Tokens:
        chosen = self.rng.sample(choices, self.rng.randint(0, len(choices)))
        return [token for make in chosen for token in make()]

    def create_stream(self) -> Tokens:
        clauses = self.clauses(
            lambda: [*self.words("TIMESTAMP BY"), *self.name()],
            lambda: [*self.words("LATENESS"), *self.duration()],
            lambda: [*self.words("RETAIN"), *self.duration()],
            lambda: [*self.words("IDLE"), *self.duration()],
            self.statistics,
        )
        head = [*self.words("CREATE STREAM"), *self.pick(*_SOURCES), *self.columns()]
        return [*head, *clauses, *self.words("FROM"), *self.connector()]

    def create_relation(self) -> Tokens:
        clauses = self.clauses(
            lambda: [*self.words("VALID FROM"), *self.name(), *self.words("TO"), *self.name()],
            self.statistics,
        )
        head = [*self.words("CREATE RELATION"), *self.pick(*_SOURCES), *self.columns()]
        return [*head, *clauses, *self.words("FROM"), *self.connector()]

    def create_query(self) -> Tokens:
        return [*self.words("CREATE QUERY"), *self.pick(*_SOURCES), *self.words("AS"), *self.body()]

    def drop(self) -> Tokens:
        kind = self.rng.choice(("QUERY", "STREAM", "RELATION"))
        exists = self.maybe(lambda: self.words("IF EXISTS"))
        return [*self.words("DROP"), *self.words(kind), *exists, *self.pick(*_SOURCES)]

    def alter_window(self) -> Tokens:
        return [*self.words("ALTER QUERY"), *self.pick(*_SOURCES), *self.words("SET"), *self.window()]

    def alter_query(self) -> Tokens:
        return [*self.words("ALTER QUERY"), *self.pick(*_SOURCES), *self.words("AS"), *self.body()]

    def show(self) -> Tokens:
        shown = ("STREAMS", "RELATIONS", "QUERIES", "PLAN", "SLICES", "STATE", "SETTINGS")
        return [*self.words("SHOW"), *self.words(self.rng.choice(shown))]

    def describe(self) -> Tokens:
        return [*self.words("DESCRIBE"), *self.name()]

    def explain(self) -> Tokens:
        target = self.rng.choice(
            (
                self.body, self.create_query, self.drop, self.alter_window, self.alter_query,
                lambda: self.words("ALL"), lambda: [*self.words("QUERY"), *self.pick(*_SOURCES)],
            )
        )  # fmt: skip
        kind = self.rng.choice(("LOGICAL", "PHYSICAL", "SHARED", "COST"))
        verbose = self.maybe(lambda: self.words("VERBOSE"))
        return [*self.words("EXPLAIN"), *verbose, *self.maybe(lambda: self.words(kind)), *target()]

    def set_setting(self) -> Tokens:
        name = self.pick("reevaluate", "spark.sql.shuffle.partitions", "rows", '"a b"', "a.select")
        return [*self.words("SET"), *name, "=", *self.setting()]

    def statement(self) -> Tokens:
        kinds = (
            self.select, self.select, self.select, self.select, self.insert, self.create_stream,
            self.create_relation, self.create_query, self.drop, self.alter_window, self.alter_query, self.show,
            self.describe, self.explain, self.set_setting,
        )  # fmt: skip
        return self.rng.choice(kinds)()


def random_statement(rng: random.Random) -> str:
    """A statement that parses, in odd spacing, case and quotes, with comments."""
    text = rng.choice(("", "", " ", "\n-- first\n"))
    before = ""
    for token in _Writer(rng).statement():
        if before:
            tight = _TIGHT.fullmatch(before) or _TIGHT.fullmatch(token)
            text += "" if tight and rng.random() < 0.7 else rng.choice(_SPACES)
        text += token
        before = token
    return text + rng.choice(("", "", " ", "\n", " -- last", " /* last */"))


_PIECES = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\w+|\s+|.""", re.DOTALL)
_INSERTED = (
    "SELECT", "FROM", "WHERE", "WINDOW", "JOIN", "ON", "AND", "NOT", "(", ")", "[", "]", ",", ".", ";", "*", "'",
    '"', "`", "--", "/*", "*/", "5", "1e999999999", "0", "min", "AS", "CASE", "END", "IN", "BETWEEN", "=", "<", "é",
    "\0", "\\", "{", "}", "%", "INTERVAL", "'NaN'", "GROUP", "DISTINCT", "ſelect", "٣", "#", "$1", "??", "NULL",
)  # fmt: skip


def mutate(text: str, rng: random.Random) -> str:
    """The text with a few tokens or characters deleted, doubled, swapped or put in."""
    for _ in range(rng.randint(1, 4)):
        pieces = list(text) if rng.random() < 0.3 else _PIECES.findall(text)
        if not pieces:
            return rng.choice(_INSERTED)
        here, there = rng.randrange(len(pieces)), rng.randrange(len(pieces))
        change = rng.randrange(5)
        if change == 0:
            del pieces[here]
        elif change == 1:
            pieces.insert(here, pieces[here])
        elif change == 2:
            pieces[here], pieces[there] = pieces[there], pieces[here]
        elif change == 3:
            pieces.insert(here, f" {rng.choice(_INSERTED)} ")
        else:
            del pieces[here:]
        text = "".join(pieces)
    return text
