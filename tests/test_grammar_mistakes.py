"""What is said about texts that do not parse."""

from __future__ import annotations

import random
import re

import pytest

from penstock.grammar import PenstockError, Source, parse_script, render
from penstock.grammar.mistake_table import MISTAKES
from penstock.grammar.words import GRAMMAR
from penstock.tests.generate import mutate, random_statement

EXAMPLES = [(mistake.label, example) for mistake in MISTAKES for example in mistake.examples]
# Terminals whose names are no words of the language.
JARGON = re.compile(
    r"\b(?:IDENT|ALIAS|QUOTED|STRING|NUMBER|STAR|[LR]PAR|[LR]SQB|EQUAL|COMMA|DOT|COLON|LESSTHAN|MORETHAN|PLUS|MINUS"
    r"|SLASH|PERCENT|SEMICOLON|VBAR|_*ANON_?\d*)\b|\$END|Token\("
)


def errors_of(text: str) -> tuple[PenstockError, ...]:
    with pytest.raises(PenstockError) as caught:
        parse_script(Source("queries/hot.cql", text))
    return caught.value.errors


def test_there_are_enough_examples() -> None:
    assert len(EXAMPLES) >= 60
    assert len({mistake.label for mistake in MISTAKES}) == len(MISTAKES)


@pytest.mark.parametrize(("label", "text"), EXAMPLES, ids=[text for _, text in EXAMPLES])
def test_every_example_gets_its_label(label: str, text: str) -> None:
    (error,) = errors_of(text)
    assert error.label == label
    assert error.span is not None
    place, line, carets, *hint = render(error).split("\n")
    assert place == f"queries/hot.cql:1:{error.span.start + 1}: error: {error.message}"
    assert line == f"  {text}"
    assert re.fullmatch(r" *\^+", carets)
    assert carets.index("^") == error.span.start + 2
    assert hint
    assert "{found}" not in render(error)
    if "STRING" not in text + (error.hint or ""):
        assert not JARGON.search(error.message), error.message


def test_no_hint_of_the_table_speaks_of_terminals() -> None:
    for mistake in MISTAKES:
        assert not JARGON.search(mistake.hint.replace("STRING", "").replace("MINUS", "")), mistake.hint


def test_the_words_expected_are_the_users() -> None:
    assert "NUMBER:" in GRAMMAR
    for seed in range(2_000):
        rng = random.Random(seed)
        text = mutate(random_statement(rng), rng)
        try:
            parse_script(Source("fuzz", text))
        except PenstockError as caught:
            for error in caught.errors:
                if error.label == "unexpected" and error.hint:
                    assert not JARGON.search(error.hint), f"seed {seed}: {error.hint}"


def test_the_caret_stands_right_after_the_last_character() -> None:
    for text in ("SELECT a FROM", "SELECT a FROM  \n\n", "SELECT a FROM -- more\n ;", "SELECT a FROM;"):
        (error,) = errors_of(text)
        assert error.span is not None
        assert error.span.start == len("SELECT a FROM")
        assert render(error).split("\n")[2] == " " * (2 + len("SELECT a FROM")) + "^"


def test_lines_and_columns() -> None:
    text = "SHOW STREAMS;\n\n  SELECT a\n\tFROM A\n\tWHERE a = = 1"
    (error,) = errors_of(text)
    assert render(error).split("\n")[:3] == [
        "queries/hot.cql:5:12: error: a value is missing before '='",
        "  \tWHERE a = = 1",
        "  \t          ^",
    ]


def test_every_statement_gets_its_error() -> None:
    errors = errors_of("SELCT 1;\nSHOW STREAMS;\nDROP TABLE t;\nSELECT a FROM A WINDOW 5 minuts;\nSHOW TABLES")
    assert [error.label for error in errors] == [
        "unknown-statement",
        "drop-what",
        "unknown-unit",
        "unknown-show",
    ]
    assert [error.source.position(error.span.start) for error in errors if error.source and error.span] == [
        (1, 1),
        (3, 6),
        (4, 26),
        (5, 6),
    ]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("SELECT a FROM A WHERE b = 'x", "never-closed"),
        ('SELECT "a FROM A', "never-closed"),
        ("SELECT `a FROM A", "never-closed"),
        ("SELECT a /* FROM A", "never-closed"),
        ("SELECT a # FROM A", "bad-character"),
        ('SELECT "" FROM A', "bad-character"),
        ("SELECT a FROM A WINDOW 0 min", "zero-duration"),
        ("SELECT a FROM A WINDOW 1 min SLIDE 0 s", "zero-slide"),
        ("ALTER QUERY hot SET WINDOW 1 min SLIDE 0 s", "zero-slide"),
        ("SELECT a FROM A WINDOW 0 ROWS", "bad-row-count"),
        ("SELECT a FROM A WINDOW 1.5 ROWS", "bad-row-count"),
        ("SELECT a FROM A WINDOW 1e99999999999999999999 ROWS", "bad-row-count"),
        ("SELECT a FROM A WINDOW 1e999999999 min", "duration-too-long"),
        ("SELECT a FROM A WINDOW 1e99999999999999999999 min", "duration-too-long"),
        ("SELECT a FROM A WINDOW 0.0001 ms", "duration-too-fine"),
        ("SELECT a FROM A WINDOW 5 rosw", "unknown-unit"),
        ("SELECT INTERVAL 'NaN' min FROM A", "bad-duration"),
        ("SELECT INTERVAL 'Infinity' min FROM A", "bad-duration"),
        ("SELECT a LIKE 'b' ESCAPE '!!' FROM A", "bad-escape"),
        ("SELECT a 'b' FROM A", "text-after-name"),
        ("SELECT EXTRACT(yeer FROM ts) FROM A", "bad-part"),
        ("CREATE STREAM A (a INT) LATENESS 1 s LATENESS 2 s FROM rate", "clause-twice"),
        (f"SELECT {'-' * 1} {'- ' * 200} a FROM A", "too-deep"),
        (f"SELECT {'f(' * 200}a{')' * 200} FROM A", "too-deep"),
        (f"SELECT CAST(a AS {'array<' * 200}int{'>' * 200}) FROM A", "too-deep"),
    ],
)
def test_what_the_grammar_alone_does_not_refuse(text: str, label: str) -> None:
    (error,) = errors_of(text)
    assert error.label == label
    assert "^" in render(error)
