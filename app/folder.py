"""The state folder of a session, as it can be read without a run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.kept import Kept

if TYPE_CHECKING:
    from penstock.compiler.estimate import Measured
    from penstock.compiler.warm import Start
    from penstock.runtime.log import State
    from penstock.runtime.session import SparkSession
    from penstock.runtime.storage import Storage

T = TypeVar("T")


class StateFolder:
    """A folder of this machine, or anywhere that Spark can reach."""

    def __init__(self, path: str, spark: Callable[[], SparkSession]) -> None:
        local = _local(path)  # Spark may have been started in another folder
        self.local = None if local is None else local.resolve()
        """The folder as a path of this machine, if it is one."""
        self.path = path if self.local is None else str(self.local)
        self._spark = spark

    @property
    def metrics(self) -> Path | None:
        """Where the metrics of steps are; they are kept on this machine only."""
        return None if self.local is None else self.local / "metrics"

    def storage(self) -> Storage:
        """The files in it; Spark is needed for them only if they are not on this machine."""
        from penstock.runtime.storage import Storage

        return Storage(None if self.local is not None else self._spark(), self.path)

    def held(self) -> AbstractContextManager[None]:
        """Keep others from running over it meanwhile; that somebody runs already raises `PenstockError`."""
        from penstock.runtime.lock import Lock

        return nullcontext() if self.local is None else Lock(self.local)

    def kept(self) -> Kept:
        """What was registered while nothing ran."""
        return Kept(self.storage())

    def state(self) -> tuple[State, dict[str, Start]]:
        """What is true after the last step, and since when queries are complete."""
        from penstock.runtime.plans import Plans

        storage = self.storage()
        return _of_last(storage, lambda state: (state, Plans(storage).read_starts(state.starts)))

    def texts_in_force(self) -> dict[str, Any] | None:
        """What the plan in force was made from; None before the first run."""
        from penstock.runtime.plans import Plans

        storage = self.storage()
        return _of_last(storage, lambda state: Plans(storage).read(state.plan) if state.plan else None)

    def measured(self) -> Measured:
        """What the runs so far have measured."""
        from penstock.runtime.statistics import read_measured

        return read_measured(self.storage())


def _of_last(storage: Storage, read: Callable[[State], T]) -> T:
    """What is read about the last state; a run that goes on may remove the files that it names meanwhile."""
    from penstock.runtime.log import Log

    log = Log(storage)
    while True:
        state = log.last()
        try:
            return read(state)
        except FileNotFoundError:
            if log.last() == state:
                raise


def _local(folder: str) -> Path | None:
    if folder.startswith("file:"):
        return Path(folder.removeprefix("file:").replace("///", "/"))
    return None if "://" in folder else Path(folder)
