"""What is wrong with a text that is not YAML, in plain words."""

from __future__ import annotations

import yaml

from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source, Span

_QUOTE_IT = "Put the value in quotes."


def syntax_error(error: yaml.YAMLError, source: Source) -> PenstockError:
    """An error of the YAML reader as one of ours."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        at = error.problem_mark
        begun = error.context_mark if error.context_mark is not None else at
        message, hint, offset = _explain(error, source.text, at, begun)
    else:
        # The reader stops before there is a mark: the first character that YAML does not allow.
        offset = next((i for i, char in enumerate(source.text) if not _allowed(char)), 0)
        code = ord(source.text[offset]) if source.text else 0
        message = f"the character U+{code:04X} cannot stand in a YAML file"
        hint = "Take it out, or write it as an escape in double quotes."
    start = max(0, min(offset, len(source.text) - 1))
    return PenstockError(message, span=Span(start, start + 1), source=source, hint=hint, label="yaml-syntax")


def _explain(error: yaml.MarkedYAMLError, text: str, at: yaml.Mark, begun: yaml.Mark) -> tuple[str, str, int]:
    """Message, hint and offset; the two YAML readers word the same problem differently."""
    problem, context = error.problem or "", error.context or ""
    char = text[at.index : at.index + 1]
    if "cannot start any token" in problem:
        if char == "\t":
            return "a tab indents this line", "Indent with spaces.", at.index
        return f"a value cannot begin with '{char}'", _QUOTE_IT, at.index
    if "mapping values are not allowed" in problem:
        line = text[text.rfind("\n", 0, at.index) + 1 : at.index]
        if ": " in line:
            return "a second ': ' in one line", "Put the value that contains it in quotes.", at.index
        return (
            "this key does not fit the line above it",
            "Keys that belong together begin in the same column, and each has a ':'.",
            at.index - len(line.lstrip()),
        )
    if "node content" in problem and text[at.index :].strip():
        return f"a value is expected here, not '{char}'", "Take it out, or put it in quotes.", at.index
    if "flow mapping" in context or "flow sequence" in context or "flow node" in context:
        return _unclosed(context, text, at, begun)
    if "quoted scalar" in context:
        if "escape" in problem:
            return (
                "a backslash sequence that YAML does not know",
                "Use single quotes, in which a backslash is only a backslash.",
                text.rfind("\\", 0, at.index + 1),
            )
        return "this quote is not closed", f"Add a closing {text[begun.index]}.", begun.index
    if "alphabetic or numeric" in problem:
        return f"a name is expected after '{text[begun.index]}'", _QUOTE_IT, begun.index
    if "sequence entries are not allowed" in problem:
        return "a list cannot begin here", "Begin each '- ' on a line of its own, below the key.", at.index
    if "directive" in context or "block scalar" in context:
        return f"'{text[begun.index]}' has a meaning of its own in YAML", _QUOTE_IT, begun.index
    if "expected ':'" in problem:
        return "this key has no value", "Write a key, a colon, a space and a value.", begun.index
    if "undefined alias" in problem:
        return "this alias is not defined", "Define it further up with &, or quote the value.", at.index
    if "duplicate anchor" in context:
        return "this anchor is defined twice", "Rename one of them.", at.index
    if "another document" in problem:
        return "a second document begins here", "Put it into a file of its own.", at.index
    if "document start" in problem or "block mapping" in context or "block collection" in context:
        if char and char in "}]":
            return f"this '{char}' closes nothing", "Take it out, or open it before.", at.index
        return (
            "this line does not fit those above it",
            "Keys that belong together begin in the same column; a mapping and a list cannot be mixed.",
            at.index,
        )
    return problem, "Look at the indentation, the colons and the quotes around here.", at.index


def _unclosed(context: str, text: str, at: yaml.Mark, begun: yaml.Mark) -> tuple[str, str, int]:
    if text[at.index :].strip() and at.line == begun.line:
        close = "]" if "sequence" in context else "}"
        hint = "Put commas between the parts, and quote a value that contains ': '."
        return f"a ',' or '{close}' is missing here", hint, at.index
    opening = max(text.rfind("{", 0, begun.index + 1), text.rfind("[", 0, begun.index + 1))
    close = "]" if text[opening] == "[" else "}"
    return f"this '{text[opening]}' is not closed", f"Add a closing {close}.", opening


def _allowed(char: str) -> bool:
    code = ord(char)
    return (
        char in "\t\n\r\x85"
        or 0x20 <= code <= 0x7E
        or 0xA0 <= code <= 0xD7FF
        or (0xE000 <= code <= 0xFFFD and code != 0xFEFF)
        or code >= 0x10000
    )
