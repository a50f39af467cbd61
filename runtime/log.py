"""The log: what a step takes, and what is true after it.

A step is one entry when it begins, naming the batches it takes, and one when it is done, holding everything there is
to know: the chunks of every chain, how far every stream has been read. The last one is the state of the run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from penstock.grammar.errors import PenstockError
from penstock.runtime.chunks import Chunk, chunk_folder
from penstock.runtime.records import damaged, is_cut_off, read_record
from penstock.runtime.storage import Storage

FORMAT = 2
_KEPT = 3
Group = dict[str, tuple[str, str]]
"""Names and types of columns, by name in small letters."""


@dataclass(frozen=True)
class StreamState:
    """How far a stream has been taken: the last batch, the largest event time, and counts of rows.

    No row before its `mark` is taken any more.
    """

    batch: int = -1
    high: int | None = None
    floor: int | None = None
    rows: int = 0
    late: int = 0
    unreadable: int = 0
    mark: int | None = None


@dataclass(frozen=True)
class State:
    """What is true after a step."""

    step: int = 0
    plan: int = 0
    """The version of the plan in force; 0 before there is one."""
    starts: str = ""
    """The file with the starts of the queries."""
    streams: dict[str, StreamState] = field(default_factory=dict)
    chains: dict[str, tuple[Chunk, ...]] = field(default_factory=dict)
    ranked: dict[str, int] = field(default_factory=dict)
    """For each chain whose rows are counted, how many have been."""
    columns: dict[str, dict[str, int]] = field(default_factory=dict)
    """For each chain the columns that it has not always kept, and since when it does."""
    trimmed: dict[str, int] = field(default_factory=dict)
    """For each chain the time up to which rows past their reach are gone."""
    retained: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each chain that retains all rows, since when and for how long."""
    groups: tuple[Group, ...] = ()
    """The columns of results that have been written together; a folder's name ends with the number of its group."""
    results: tuple[str, ...] = ()
    """The folders of results that count."""
    counts: dict[str, int] = field(default_factory=dict)
    """The number of results by query, and under the empty name of all."""

    def to_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "format": FORMAT,
            "step": self.step,
            "plan": self.plan,
            "starts": self.starts,
            "streams": {name: vars(stream) for name, stream in self.streams.items()},
            "chains": {chain: [chunk.to_data() for chunk in chunks] for chain, chunks in self.chains.items()},
            "ranked": self.ranked,
            "columns": self.columns,
            "trimmed": self.trimmed,
            "retained": self.retained,
            "groups": list(self.groups),
            "results": list(self.results),
            "counts": self.counts,
        }

    @staticmethod
    def of(data: dict[str, Any]) -> State:
        """From JSON."""
        if data["format"] != FORMAT:
            raise PenstockError(
                f"the state was written in format {data['format']}, and this version of Penstock reads {FORMAT}",
                hint="Go on with the version that wrote it, or name another state folder.",
                label="other-format",
            )
        return State(
            data["step"],
            data["plan"],
            data["starts"],
            {name: StreamState(**stream) for name, stream in data["streams"].items()},
            {chain: tuple(map(Chunk.of, chunks)) for chain, chunks in data["chains"].items()},
            data.get("ranked", {}),
            data["columns"],
            data["trimmed"],
            {chain: (since, reach) for chain, (since, reach) in data["retained"].items()},
            tuple({key: (name, type_) for key, (name, type_) in group.items()} for group in data["groups"]),
            tuple(data["results"]),
            data["counts"],
        )


class Log:
    """Begins and ends of steps, as files."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._folder = storage.path("log")

    def last(self) -> State:
        """The state after the last step that was done; an empty one before the first."""
        done = [name for name in self._storage.names(self._folder) if name.endswith(".done.json")]
        if not done:
            return State()
        path = f"{self._folder}/{done[-1]}"
        if is_cut_off(self._storage, path) and self._can_be_done_again(int(done[-1].split(".")[0])) and done[:-1]:
            path = f"{self._folder}/{done[-2]}"
        data = read_record(self._storage, path)
        try:
            return State.of(data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise damaged(path, f"it is not an entry of the log ({type(error).__name__}: {error})") from error

    def begun(self, step: int) -> dict[str, list[int]] | None:
        """The batches that a step took when it began; None if it never did, or died while it said so."""
        path = self._name(step, "begun")
        if not self._storage.exists(path) or is_cut_off(self._storage, path):
            return None
        data = read_record(self._storage, path)
        try:
            return {name: list(numbers) for name, numbers in data["batches"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise damaged(path, "it is not the beginning of a step") from error

    def _can_be_done_again(self, step: int) -> bool:
        """Whether the batches that a step took still wait: then nothing came after its end."""
        begun = self.begun(step)
        return begun is not None and all(
            self._storage.exists(f"{chunk_folder(self._storage, name)}/b{number:010}.json")
            for name, numbers in begun.items()
            for number in numbers
        )

    def begin(self, step: int, batches: dict[str, list[int]]) -> None:
        """Note what a step takes, before it does anything."""
        self._storage.write(self._name(step, "begun"), json.dumps({"step": step, "batches": batches}))

    def commit(self, state: State) -> None:
        """Note that a step is done; entries that no restart needs are removed."""
        self._storage.write(self._name(state.step, "done"), json.dumps(state.to_data()))
        if state.step >= _KEPT:
            for kind in ("begun", "done"):
                self._storage.delete(self._name(state.step - _KEPT, kind))

    def _name(self, step: int, kind: str) -> str:
        return f"{self._folder}/{step:010}.{kind}.json"
