"""The small files of JSON in the state folder: one that is damaged is refused with its name."""

from __future__ import annotations

import errno
import json
import os
from typing import Any

from penstock.grammar.errors import PenstockError
from penstock.runtime.storage import Storage

_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")


def read_record(storage: Storage, path: str) -> Any:
    """What a file says."""
    try:
        return json.loads(storage.read(path))
    except ValueError as error:
        raise damaged(path, f"it cannot be read ({error})") from error


def refuse_missing(storage: Storage, folder: str) -> None:
    """Raise an error if there is no file in a folder."""
    if not storage.files(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder.removeprefix("file:"))


def damaged(path: str, why: str) -> PenstockError:
    """A part of the state folder is not as it was left."""
    return PenstockError(
        f"the state is damaged: {path.removeprefix('file:')}: {why}",
        hint="Put a copy of the state folder back, or begin anew with another  state:  in penstock.yml.\n"
        "Nothing has been changed.",
        label="damaged-state",
    )


def is_cut_off(storage: Storage, path: str) -> bool:
    """Whether a file ends in the middle, as when the machine has died before all of it was on the disk."""
    try:
        text = storage.read(path)
        json.loads(text)
    except UnicodeDecodeError:
        return False
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        cut_word = any(word.startswith(rest) for word in _LITERALS)
        return not text.strip("\0") or cut_word or error.msg.startswith(("Unterminated", "Invalid \\escape"))
    return False
