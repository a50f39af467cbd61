"""Statements and commands in colours."""

from __future__ import annotations

import re
from collections.abc import Callable

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import split_lines
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from penstock.compiler.functions import AGGREGATES, SCALARS
from penstock.grammar.words import KEYWORDS
from penstock.repl.commands import COMMANDS
from penstock.repl.entries import is_command

STYLE = Style.from_dict(
    {
        "keyword": "bold ansiblue",
        "function": "ansicyan",
        "text": "ansigreen",
        "name": "ansimagenta",
        "number": "ansimagenta",
        "comment": "italic ansibrightblack",
        "command": "bold ansiyellow",
        "bottom-toolbar": "noreverse ansibrightblack",
    }
)
_TOKEN = re.compile(
    r"""
    (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<text>'(?:[^']|'')*(?:'|\Z))
    | (?P<name>"(?:[^"\n]|"")*"?|`(?:[^`\n]|``)*`?)
    | (?P<number>(?<!\w)(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)
    | (?P<word>[^\W\d]\w*)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def highlighted(text: str) -> StyleAndTextTuples:
    """A text in pieces, each with its style; together they are the text."""
    if is_command(text):
        name = re.match(r"\s*\S+", text)
        known = name is not None and name[0].strip().lower() in COMMANDS
        end = name.end() if name is not None and known else 0
        return [("class:command" if known else "", text[:end]), ("", text[end:])]
    pieces: StyleAndTextTuples = []
    done = 0
    for match in _TOKEN.finditer(text):
        pieces += [("", text[done : match.start()]), (_style(match, text), match[0])]
        done = match.end()
    return [*pieces, ("", text[done:])]


class StatementLexer(Lexer):
    """Gives the colours of a text, line by line."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lines = list(split_lines(highlighted(document.text)))
        return lambda number: lines[number] if number < len(lines) else []


def _style(match: re.Match[str], text: str) -> str:
    kind = match.lastgroup
    if kind != "word":
        return f"class:{kind}"
    word = match[0].lower()
    if text[: match.start()].endswith("."):
        return ""  # after a dot every word is a name
    if word in SCALARS | AGGREGATES and text[match.end() :].lstrip().startswith("("):
        return "class:function"
    return "class:keyword" if word in KEYWORDS else ""
