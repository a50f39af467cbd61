"""Text to syntax tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, TypeVar

from lark import Lark, TextSlice
from lark.exceptions import UnexpectedInput, VisitError

from penstock.grammar import ast
from penstock.grammar.builder import AstBuilder
from penstock.grammar.errors import PenstockError, raise_all
from penstock.grammar.mistakes import explain_mistake
from penstock.grammar.source import Source, Span
from penstock.grammar.words import GRAMMAR, WORDS

MAX_DEPTH = 100

_PIECE = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"\n]|"")*"|`(?:[^`\n]|``)*`|--[^\n]*|/\*.*?\*/|;|['"`]|/\*|\s+|[^;'"`\s/-]+|[/-]""",
    re.DOTALL,
)
_UNCLOSED = {
    "'": (
        "this text in single quotes is never closed",
        "Add the closing '. A quote inside a text is written ''.",
    ),
    '"': ("this name in double quotes is never closed on its line", 'Add the closing ".'),
    "`": ("this name in backquotes is never closed on its line", "Add the closing `."),
    "/*": ("this comment is never closed", "Add the closing */."),
}
_NESTING = re.compile(r"[-+*/%|(<]|\bnot\b|\bcase\b", re.IGNORECASE)

S = TypeVar("S", bound=ast.Statement)


@cache
def _lark() -> Lark:
    return Lark(GRAMMAR, parser="lalr", start="statement", maybe_placeholders=True, transformer=AstBuilder())


def parse_script(source: Source) -> tuple[ast.Statement, ...]:
    """Every statement of a text; all the errors of all the statements at once if there are any."""
    statements: list[ast.Statement] = []
    errors: list[PenstockError] = []
    for span in _statement_spans(source):
        try:
            statements.append(_parse(source, span))
        except PenstockError as error:
            errors.append(error)
    raise_all(errors)
    return tuple(statements)


def parse_statement(source: Source) -> ast.Statement:
    """The one statement of a text."""
    spans = _statement_spans(source)
    if not spans:
        raise PenstockError(
            "there is no statement here",
            span=Span(len(source.text), len(source.text)),
            source=source,
            hint="Expected a statement such as SELECT * FROM Temperature.",
            label="empty",
        )
    if len(spans) > 1:
        raise PenstockError(
            "there is more than one statement here",
            span=Span(spans[1].start, spans[1].start + 1),
            source=source,
            hint="Give one statement at a time, or use a script.",
            label="too-many-statements",
        )
    return _parse(source, spans[0])


def parse_query(source: Source) -> ast.QueryBody:
    """The one SELECT, or INSERT INTO … SELECT, of a text."""
    statement = parse_statement(source)
    if not isinstance(statement, ast.Select | ast.InsertInto):
        raise PenstockError(
            "this statement is not a query",
            span=statement.span,
            source=source,
            hint="Expected SELECT … or INSERT INTO … SELECT ….",
            label="not-a-query",
        )
    return statement


def split_statements(source: Source) -> tuple[str, ...]:
    """The text of each statement, without the semicolons."""
    return tuple(source.text[span.start : span.end] for span in _statement_spans(source))


def statement_end(text: str) -> int | None:
    """Where the first statement of a text ends, with its semicolon; None if it goes on."""
    for match in _PIECE.finditer(text):
        if match[0] == ";":
            return match.end()
        if match[0] in _UNCLOSED:
            return None
    return None


def left_open(text: str) -> str:
    """The mark of a text, a name or a comment that is begun and not closed; nothing if there is none."""
    piece = ""
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece in _UNCLOSED:
            return piece
    return "--" if piece.startswith("--") else ""


@dataclass(frozen=True)
class Next:
    """What may come next in a statement: keywords, in capitals, and whether a name or a number may."""

    words: frozenset[str]
    name: bool
    number: bool


def what_may_follow(text: str) -> Next | None:
    """What may follow the beginning of a statement; None if nothing can make it right."""
    try:
        parser = _lark().parse_interactive(text)
        parser.exhaust_lexer()
        terminals: set[str] = parser.accepts()  # type: ignore[no-untyped-call]
    except (UnexpectedInput, VisitError, PenstockError):
        return None
    words = frozenset(word for word in terminals if word.lower() in WORDS)
    return Next(words, "IDENT" in terminals, "NUMBER" in terminals)


def _statement_spans(source: Source) -> list[Span]:
    """The places between the semicolons that hold more than space and comments."""
    text = source.text
    if ";" not in text and not any(mark in text for mark in _UNCLOSED) and "--" not in text:
        first = len(text) - len(text.lstrip())
        return [Span(first, len(text.rstrip()))] if first < len(text) else []
    spans: list[Span] = []
    start: int | None = None
    end = 0
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece == ";":
            if start is not None:
                spans.append(Span(start, end))
            start = None
        elif piece in _UNCLOSED:
            message, hint = _UNCLOSED[piece]
            raise PenstockError(message, span=Span(*match.span()), source=source, hint=hint, label="never-closed")
        elif not piece.isspace() and not piece.startswith(("--", "/*")):
            start = match.start() if start is None else start
            end = match.end()
    if start is not None:
        spans.append(Span(start, end))
    return spans


def _parse(source: Source, span: Span) -> ast.Statement:
    try:
        text: Any = source.text
        if span != (0, len(text)):
            text = TextSlice(text, span.start, span.end)
        statement: ast.Statement = _lark().parse(text)  # type: ignore[assignment]
    except UnexpectedInput as unexpected:
        raise explain_mistake(unexpected, source, span, _lark().parse) from None
    except VisitError as wrapped:
        if isinstance(wrapped.orig_exc, PenstockError):
            raise wrapped.orig_exc.located(source) from None
        raise
    except PenstockError as error:
        raise error.located(source) from None
    if len(_NESTING.findall(source.text, span.start, span.end)) > MAX_DEPTH:
        _check_depth(statement, source)
    return statement


def _check_depth(statement: ast.Statement, source: Source) -> None:
    for type_name in statement.find_all(ast.TypeName):
        if _type_depth(type_name.text) > MAX_DEPTH:
            raise _too_deep(type_name.span, source)
    level: list[Any] = [statement]
    for _ in range(MAX_DEPTH):
        deepest = level[0]
        level = [child for node in level for child in node.children]
        if not level:
            return
    raise _too_deep(deepest.span, source)


def _type_depth(text: str) -> int:
    steps = ({"<": 1, ">": -1}.get(character, 0) for character in text)
    return max(accumulate(steps), default=0)


def _too_deep(span: Span, source: Source) -> PenstockError:
    return PenstockError(
        f"this is nested more than {MAX_DEPTH} levels deep",
        span=Span(span.start, span.start + 1),
        source=source,
        hint="Write it with fewer levels; a chain of AND or OR may be as long as you like.",
        label="too-deep",
    )
