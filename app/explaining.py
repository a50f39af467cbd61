"""Failures of Spark and of the system, said in the words of the user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.folder import StateFolder
from penstock.grammar.errors import PenstockError


@contextmanager
def explaining(what: str, folder: StateFolder) -> Iterator[None]:
    """Say failures of Spark and of the system in one sentence that begins with `what` cannot be done.

    The whole of it is kept in a file of the state folder.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, PenstockError) and error.__cause__ is None:
            raise
        from penstock.runtime.failures import comes_from_spark, failure, keep_details
        from penstock.runtime.records import damaged

        if isinstance(error, FileNotFoundError) and str(error.filename).startswith(folder.path):
            raise damaged(error.filename, "it is not there") from error
        told = error if isinstance(error, PenstockError) else failure(what, error)
        if told is None:
            raise
        local = folder.local
        wanted = local is not None and local.is_dir() and comes_from_spark(error.__cause__ or error)
        file = keep_details(error, local) if local is not None and wanted else None
        if file is not None:
            told.hint = f"{told.hint}\nThe details are in {file}."
        if told is error:
            raise
        raise told from error
