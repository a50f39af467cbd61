"""What was registered while nothing ran: kept in the state folder until a run puts it in force."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.runtime.storage import Storage

Texts = dict[str, Any]


class Kept:
    """The texts of a program that the next run is to put in force."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._path = storage.path("registered.json")

    def read(self) -> Texts | None:
        """What was kept; None if there is nothing."""
        from penstock.runtime.records import damaged, read_record

        if not self._storage.exists(self._path):
            return None
        found = read_record(self._storage, self._path)
        if not isinstance(found, dict) or not {"catalog", "queries", "registered"} <= set(found):
            raise damaged(self._path, "it does not say what was registered")
        return found

    def write(self, texts: Texts) -> None:
        """Keep this in place of what was kept."""
        self._storage.write(self._path, json.dumps(texts))

    def forget(self) -> None:
        """A run has put it in force, or there is nothing more to keep."""
        self._storage.delete(self._path)
