"""Reading text files, with errors that say what to do."""

from __future__ import annotations

from pathlib import Path

from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source, Span


def read_source(path: Path) -> Source:
    """A file's text; an error if it cannot be read as UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        return Source(str(path), data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        start = len(data[: error.start].decode("utf-8-sig"))
        raise PenstockError(
            "the file is not UTF-8 text",
            span=Span(start, start + 1),
            source=Source(str(path), data.decode("utf-8-sig", errors="replace")),
            hint="Save it as UTF-8.",
            label="not-utf8",
        ) from None


def unreadable(path: Path, error: OSError) -> PenstockError:
    """The error for a file or folder that the system does not let us read."""
    return PenstockError(
        f"cannot read '{path}': {error.strerror or error}",
        hint="Check the path and its permissions.",
        label="unreadable",
    )
