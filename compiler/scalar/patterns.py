"""Patterns that are written out: what Spark would refuse when it runs is refused before."""

from __future__ import annotations

import re

from penstock.grammar import ast
from penstock.grammar.errors import PenstockError

_TIME_LETTERS = frozenset("GyDMLdQqEFahKkHmsSVzOXx")
_TIMES = {"date_format": 1, "to_date": 1, "to_timestamp": 1, "unix_timestamp": 1, "to_unix_timestamp": 1}
_REGULAR = {"regexp_replace": 1, "regexp_extract": 1}
_WRONG_EVERYWHERE = ("unterminated", "unbalanced", "missing )", "nothing to repeat", "bad character range")
"""What Python says of a regular expression that Java takes no more than Python does."""


def check_patterns(node: ast.Call) -> None:
    """Refuse a pattern of a function that cannot be one."""
    name = node.name.lower()
    if name in _TIMES and len(node.args) > 1:
        _check_time(name.upper(), node.args[_TIMES[name]])
    elif name in _REGULAR:
        check_regular(node.args[_REGULAR[name]])


def check_regular(node: ast.Expr) -> None:
    """Refuse a text that is no regular expression."""
    if isinstance(node, ast.String):
        try:
            re.compile(node.value)
        except re.error as error:
            if error.msg.startswith(_WRONG_EVERYWHERE):
                raise _wrong(
                    f"'{node.value}' is not a regular expression: {error.msg}",
                    node,
                    "A character that has a meaning stands for itself after a \\, such as  '\\['.",
                ) from None


def check_like(node: ast.Expr, escape: str) -> None:
    """Refuse a pattern of LIKE in which the escape character stands before something that needs none."""
    if isinstance(node, ast.String):
        rest = re.sub(rf"{re.escape(escape)}[%_{re.escape(escape)}]", "", node.value)
        if escape in rest:
            raise _wrong(
                f"{escape} stands before %, _ or another {escape} in a pattern of LIKE, and nowhere else",
                node,
                f"Write {escape * 2} for the character itself, or name another one with  ESCAPE '!'.",
            )


def _check_time(name: str, node: ast.Expr) -> None:
    if isinstance(node, ast.Null):
        return
    if not isinstance(node, ast.String):
        raise PenstockError(
            f"{name} needs a plain text as its pattern",
            span=node.span,
            hint="Write for example  'yyyy-MM-dd HH:mm:ss'.",
            label="not-a-literal",
        )
    bare = re.sub(r"'[^']*'", "", node.value)
    unknown = [letter for letter in re.findall("[A-Za-z]", bare) if letter not in _TIME_LETTERS]
    if unknown:
        raise _wrong(
            f"'{unknown[0]}' is not a letter of a pattern of times",
            node,
            "Write for example  'yyyy-MM-dd HH:mm:ss'; a text in a pattern stands in quotes, which are doubled: ''T''.",
        )


def _wrong(message: str, node: ast.Expr, hint: str) -> PenstockError:
    return PenstockError(message, span=node.span, hint=hint, label="bad-pattern")
