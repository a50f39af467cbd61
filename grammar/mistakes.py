"""What to say when a text does not parse.

The table `MISTAKES` holds bad inputs under labels. Each example is run through the parser once, and its place
in the parser, with the word it stumbles on, is remembered: a new error that happens in the same place and on
the same word gets that label's message. This is what Lark's `match_examples` does, looked up instead of
parsed again for each error, and without its habit of taking any example that fails in the same state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from penstock.grammar.errors import PenstockError, did_you_mean
from penstock.grammar.mistake_table import MISTAKES, Mistake
from penstock.grammar.source import Source, Span

Parse = Callable[[str], Any]

_STATEMENTS = ("SELECT", "INSERT", "CREATE", "DROP", "ALTER", "SHOW", "DESCRIBE", "EXPLAIN", "SET")

# How to call what may come next; terminals not listed here are named by their own text.
_WORDS = {
    "IDENT": "a name",
    "QUOTED": "a name",
    "ALIAS": "a name",
    "NUMBER": "a number",
    "STRING": "a text in single quotes",
    "$END": "the end of the statement",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "a window such as [RANGE 5 min]",
    "RSQB": "]",
    "STAR": "*",
    "EQUAL": "=",
    "COMMA": "a comma",
    "DOT": "a dot",
    "COLON": ":",
    "LESSTHAN": "<",
    "MORETHAN": ">",
    "PLUS": "+",
    "MINUS": "-",
    "SLASH": "/",
    "PERCENT": "%",
}
_OPERATORS = {
    "__ANON_0", "__ANON_1", "__ANON_2", "__ANON_3", "__ANON_4", "__ANON_5", "PLUS", "MINUS", "SLASH",
    "PERCENT", "STAR", "LESSTHAN", "MORETHAN", "EQUAL", "BETWEEN", "IN", "IS", "LIKE", "ILIKE", "RLIKE",
    "NOT", "AND", "OR",
}  # fmt: skip
_EXPRESSION = {"CASE", "CAST", "TRY_CAST", "EXTRACT", "INTERVAL", "NULL", "TRUE", "FALSE"}
_ANY_WORD = {"IDENT", "ALIAS"}


@dataclass(frozen=True)
class _Table:
    by_place_and_word: dict[tuple[int, str], Mistake]
    by_word: dict[str, Mistake]
    by_place: dict[int, Mistake]


_tables: list[_Table] = []


def explain_mistake(unexpected: UnexpectedInput, source: Source, statement: Span, parse: Parse) -> PenstockError:
    """The error to show for a text that does not parse."""
    if isinstance(unexpected, UnexpectedCharacters):
        return _bad_character(unexpected, source)
    assert isinstance(unexpected, UnexpectedToken)
    token = unexpected.token
    if token.type == "$END":
        span = Span(statement.end, statement.end + 1)  # right after the last character
        found = "the end of the statement"
    else:
        span = Span(token.start_pos or 0, token.end_pos or 0)
        text = " ".join(token.split())
        found = f"'{text}'" if len(text) <= 40 else f"'{text[:37]}…'"
    mistake = _find(unexpected, parse)
    if mistake is None:
        expected = _expected(unexpected)
        hint = f"Expected {expected}." if expected else None
        message = "the statement ends too early" if token.type == "$END" else f"unexpected {found}"
        return PenstockError(message, span=span, source=source, hint=hint, label="unexpected")
    hint = mistake.hint
    if mistake.label == "unknown-statement":
        guess = did_you_mean(str(token), _STATEMENTS)
        hint = f"{guess}\n{hint}" if guess.endswith("?") else hint
    return PenstockError(mistake.message.format(found=found), span=span, source=source, hint=hint, label=mistake.label)


def _bad_character(unexpected: UnexpectedCharacters, source: Source) -> PenstockError:
    position = unexpected.pos_in_stream or 0
    character = source.text[position]
    return PenstockError(
        f"unexpected character {character!r}",
        span=Span(position, position + 1),
        source=source,
        hint="Texts stand in single quotes, names with special characters in double quotes.",
        label="bad-character",
    )


def _find(unexpected: UnexpectedToken, parse: Parse) -> Mistake | None:
    if not _tables:
        _tables.append(_build_table(parse))
    table = _tables[0]
    place, word = unexpected.state.position, _word(unexpected)
    return table.by_place_and_word.get((place, word)) or table.by_word.get(word) or table.by_place.get(place)


def _word(unexpected: UnexpectedToken) -> str:
    """What stands for the token in look-ups: words by their text, the rest by their kind."""
    token = unexpected.token
    return str(token).upper() if token.isidentifier() else token.type


def _build_table(parse: Parse) -> _Table:
    table = _Table({}, {}, {})
    shared_places: set[int] = set()
    for mistake in MISTAKES:
        for word in mistake.words:
            table.by_word[word] = mistake
        for example in mistake.examples:
            try:
                parse(example)
            except UnexpectedToken as unexpected:
                place, word = unexpected.state.position, _word(unexpected)
                table.by_place_and_word.setdefault((place, word), mistake)
                if table.by_place.setdefault(place, mistake) is not mistake:
                    shared_places.add(place)
            except UnexpectedInput:
                continue
    for place, mistake in tuple(table.by_place.items()):
        # A place where two kinds of mistakes happen says nothing without the word.
        if place in shared_places or not mistake.any_word:
            del table.by_place[place]
    return table


def _expected(unexpected: UnexpectedToken) -> str:
    """What could have come instead, in the user's words."""
    accepted = set(unexpected.accepts or ())
    words: list[str] = []
    if accepted >= _EXPRESSION:
        words.append("an expression")
        accepted -= _EXPRESSION | {"IDENT", "QUOTED", "NUMBER", "STRING", "LPAR", "PLUS", "MINUS", "NOT"}
    elif len(accepted & _OPERATORS) > 4:
        words.append("an operator")
        accepted -= _OPERATORS
    words += sorted({_WORDS.get(name, name) for name in accepted if not name.startswith("__")})
    if len(words) > 10:
        words = [*words[:10], "…"]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"
