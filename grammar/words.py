"""The words of the language, read from the grammar itself, and how names keep out of their way."""

from __future__ import annotations

import re
from collections.abc import Set
from importlib import resources

GRAMMAR = resources.files("penstock.grammar").joinpath("penstock.lark").read_text(encoding="utf-8")


def _left_out(terminal: str) -> frozenset[str]:
    """The words that a terminal for names refuses."""
    match = re.search(rf"^{terminal}:.*?\(\?!\(\?:([a-z_|]+)\)", GRAMMAR, re.MULTILINE)
    assert match is not None
    return frozenset(match[1].split("|"))


# Never a name unless in quotes or after a dot.
RESERVED = _left_out("IDENT")
# The words that statements are made of, and every word that means something somewhere, in lower case.
WORDS = frozenset(re.findall(r"^[A-Z_]+\.2: /(\w+)\\b/i$", GRAMMAR, re.MULTILINE))
KEYWORDS = WORDS | RESERVED | _left_out("ALIAS")

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def is_bare(name: str, words: Set[str] = KEYWORDS) -> bool:
    """Whether a name can be written without quotes where those words are taken."""
    return _PLAIN.fullmatch(name) is not None and name.lower() not in words


def quoted(name: str, mark: str = '"') -> str:
    """A name in quotes."""
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"
