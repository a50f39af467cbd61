"""Whether everything that the log names is there: what is missing would make results wrong without a word."""

from __future__ import annotations

from urllib.parse import quote

import pyarrow.parquet as pq
from pyarrow import ArrowException

from penstock.runtime.log import State
from penstock.runtime.records import damaged
from penstock.runtime.storage import Storage


def refuse_lost_log(storage: Storage, state: State) -> None:
    """Without a log everything would begin anew, and what there is be removed."""
    if state == State():
        for part in ("checkpoints", "results"):
            if storage.names(storage.path(part)):
                raise damaged(storage.path("log"), f"there are no steps in it, but there are {part}")


def refuse_lost_chunks(storage: Storage, state: State) -> None:
    """Every chunk has the rows that it had."""
    for chunks in state.chains.values():
        for chunk in chunks:
            found = _rows(storage, chunk.path)
            if found is not None and found != chunk.rows:
                raise damaged(chunk.path, f"{chunk.rows:,} rows were kept in it and {found:,} are there")


def refuse_lost_checkpoint(storage: Storage, stream: str, batch: int) -> None:
    """The checkpoint of a stream knows the last batch that was taken; otherwise Spark would give it again, or none."""
    path = storage.path("checkpoints", quote(stream, safe=""), "offsets", str(batch))
    if batch >= 0 and not storage.exists(path):
        raise damaged(path, f"it notes how far {stream} was read, and is not there")


def _rows(storage: Storage, folder: str) -> int | None:
    """How many rows are in a folder, by the ends of its files; None if they are far away and there are some."""
    files = _files(storage, folder)
    if not files or not storage.is_local(folder):
        return None if files else 0
    try:
        return sum(int(pq.read_metadata(file).num_rows) for file in files)
    except (ArrowException, OSError) as error:
        raise damaged(folder, f"a file in it cannot be read ({str(error).splitlines()[0]})") from error


def _files(storage: Storage, folder: str) -> list[str]:
    return [path for path, _, _ in storage.files(folder) if path.endswith(".parquet")]
