"""Files and folders on any path that Hadoop can reach; small files are written whole or not at all."""

from __future__ import annotations

import glob
import os
import posixpath
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from penstock.grammar.errors import PenstockError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Print = tuple[tuple[str, int, int], ...]
"""What files look like: their paths, times and sizes."""


class Files(Protocol):
    """The few things done with files and folders."""

    def write(self, path: str, text: str) -> None:
        """Write a file; after a crash it is there in full or not at all."""

    def read(self, path: str) -> str:
        """The text of a file."""

    def names(self, path: str) -> list[str]:
        """The names in a folder, sorted; none if there is no such folder."""

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder."""

    def delete(self, path: str) -> None:
        """Remove a file or folder, if it is there."""

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder, in place of whatever was there."""

    def files(self, path: str) -> Print:
        """What the files at a path look like, or below it, or at all the paths that it is a pattern of."""


class Storage(Files):
    """A folder, and everything else by its full path; without Spark, on this machine only."""

    def __init__(self, spark: SparkSession | None, root: str) -> None:
        self._local = _LocalFiles()
        self._hadoop = None if spark is None else _HadoopFiles(spark)
        self._plain_is_local = self._hadoop is None or self._hadoop.qualified("/").startswith("file:")
        self.root = self._qualified(root)

    def path(self, *parts: str) -> str:
        """A path below the folder."""
        return posixpath.join(self.root, *parts)

    def write(self, path: str, text: str) -> None:
        self._files(path).write(path, text)

    def read(self, path: str) -> str:
        return self._files(path).read(path)

    def names(self, path: str) -> list[str]:
        return self._files(path).names(path)

    def exists(self, path: str) -> bool:
        return self._files(path).exists(path)

    def delete(self, path: str) -> None:
        self._files(path).delete(path)

    def move(self, source: str, target: str) -> None:
        self._files(source).move(source, target)

    def files(self, path: str) -> Print:
        return self._files(path).files(path)

    def is_local(self, path: str) -> bool:
        """Whether a path is on this machine."""
        return self._files(path) is self._local

    def _qualified(self, path: str) -> str:
        if self._hadoop is not None:
            return self._hadoop.qualified(path)
        self._files(path)  # refuses what is not on this machine
        return self._local.qualified(path)

    def _files(self, path: str) -> Files:
        if path.startswith("file:") or (self._plain_is_local and ":" not in path.split("/")[0]):
            return self._local
        if self._hadoop is None:
            raise PenstockError(
                f"'{path}' cannot be reached without Spark",
                hint="Start Spark, or give a folder on this machine.",
                label="needs-spark",
            )
        return self._hadoop


class _LocalFiles(Files):
    """On this machine Python does it at once; Hadoop would start a process for every file to set its permissions."""

    def qualified(self, path: str) -> str:
        """A path with its scheme, as Hadoop spells it."""
        plain = path.removeprefix("file:")
        if not plain or re.match("//[^/]", plain) or (plain != path and not plain.startswith("/")):
            raise PenstockError(
                f"'{path}' is not the path of a folder on this machine",
                hint="Give a path such as state or /data/state; after  file:  it begins with a slash.",
                label="bad-path",
            )
        return "file:/" + posixpath.normpath(posixpath.join(Path.cwd(), plain)).lstrip("/")

    def write(self, path: str, text: str) -> None:
        final = _local_path(path)
        unfinished = final.with_name(f"{final.name}.tmp")
        final.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(final)

    def read(self, path: str) -> str:
        return _local_path(path).read_text(encoding="utf-8")

    def names(self, path: str) -> list[str]:
        folder = _local_path(path)
        return sorted(child.name for child in folder.iterdir()) if folder.exists() else []

    def exists(self, path: str) -> bool:
        return _local_path(path).exists()

    def delete(self, path: str) -> None:
        local = _local_path(path)
        if local.is_dir() and not local.is_symlink():
            shutil.rmtree(local)
        else:
            local.unlink(missing_ok=True)

    def move(self, source: str, target: str) -> None:
        self.delete(target)
        destination = _local_path(target)
        destination.parent.mkdir(parents=True, exist_ok=True)
        _local_path(source).rename(destination)

    def files(self, path: str) -> Print:
        found: list[Path] = []
        for place in map(Path, glob.glob(str(_local_path(path)))):  # noqa: PTH207  a pattern of any depth
            inside = (Path(folder, name) for folder, _, names in os.walk(place) for name in names)
            found += [place] if place.is_file() else inside
        stats = ((file, file.stat()) for file in sorted(found) if not file.name.startswith((".", "_")))
        return tuple((str(file), stat.st_mtime_ns, stat.st_size) for file, stat in stats)


def glob_of(folder: str, names: Iterable[str]) -> str:
    """One path that means these names in a folder, whatever the folder is called."""
    plain = re.sub(r"([][{}*?\\,^])", r"\\\1", folder)
    return f"{plain}/{{{','.join(names)}}}"


def _local_path(path: str) -> Path:
    plain = path.removeprefix("file:")
    return Path("/" + plain.lstrip("/") if plain.startswith("/") else plain)


class _HadoopFiles(Files):
    """Wherever else Hadoop can reach."""

    def __init__(self, spark: SparkSession) -> None:
        session: Any = spark
        self._jvm = session._jvm
        self._conf = session._jsc.hadoopConfiguration()
        self._path = self._jvm.org.apache.hadoop.fs.Path  # looked up once: every part of the name is a round trip

    def qualified(self, path: str) -> str:
        """A path with its scheme."""
        return str(self._at(path)[0].makeQualified(self._path(path)).toString())

    def write(self, path: str, text: str) -> None:
        fs, final = self._at(path)
        unfinished = self._path(f"{path}.tmp")
        stream = fs.create(unfinished, True)
        try:
            stream.write(bytearray(text.encode("utf-8")))
            stream.hsync()
        finally:
            stream.close()
        if not fs.rename(unfinished, final):
            fs.delete(final, False)
            fs.rename(unfinished, final)

    def read(self, path: str) -> str:
        fs, file = self._at(path)
        stream = fs.open(file)
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)).decode("utf-8")
        finally:
            stream.close()

    def names(self, path: str) -> list[str]:
        fs, folder = self._at(path)
        if not fs.exists(folder):
            return []
        return sorted(str(status.getPath().getName()) for status in fs.listStatus(folder))

    def exists(self, path: str) -> bool:
        fs, place = self._at(path)
        return bool(fs.exists(place))

    def delete(self, path: str) -> None:
        fs, place = self._at(path)
        fs.delete(place, True)

    def move(self, source: str, target: str) -> None:
        fs, destination = self._at(target)
        fs.delete(destination, True)
        fs.mkdirs(destination.getParent())
        if not fs.rename(self._path(source), destination):
            raise OSError(f"could not move {source} to {target}")

    def files(self, path: str) -> Print:
        fs, place = self._at(path)
        waiting, found = list(fs.globStatus(place) or ()), []
        while waiting:
            status = waiting.pop()
            if status.getPath().getName().startswith((".", "_")):
                continue
            if status.isDirectory():
                waiting += fs.listStatus(status.getPath())
            else:
                found.append((str(status.getPath()), int(status.getModificationTime()), int(status.getLen())))
        return tuple(sorted(found))

    def _at(self, path: str) -> tuple[Any, Any]:
        place = self._path(path)
        return place.getFileSystem(self._conf), place
