"""Folders that are written to: whether that is possible, and the room in them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from penstock.doctor.finding import Finding, failed, ok, warning
from penstock.runtime.failures import system_reason

_LITTLE = 100 * 2**20
_SHORT = 2**30


def check_temp(spark: Mapping[str, str]) -> Finding:
    """Where Spark keeps what it cannot hold in memory."""
    named = os.environ.get("SPARK_LOCAL_DIRS") or spark.get("spark.local.dir") or tempfile.gettempdir()
    folder = Path(named.split(",")[0])
    return check_folder("temp folder", folder, "Name another one with the environment variable SPARK_LOCAL_DIRS.")


def check_folder(check: str, folder: Path, otherwise: str) -> Finding:
    """Whether a folder, or the nearest one above it that is there, can be written to, and how much room it has."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return failed(check, f"{folder} cannot be written to: {system_reason(error)[0]}", otherwise)
    found = f"{folder}, {free / 2**30:,.1f} GB free"
    if free < _LITTLE:
        return failed(check, found, f"Make room. {otherwise}")
    return warning(check, found, f"Make room: a run may need more. {otherwise}") if free < _SHORT else ok(check, found)
