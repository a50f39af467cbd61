"""Small files on any path that Hadoop can reach: written whole or not at all."""

from __future__ import annotations

import posixpath
from typing import Any

from pyspark.sql import SparkSession


class Storage:
    """A folder, local or not, and the few things done with it."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        session: Any = spark
        self._jvm = session._jvm
        conf = session._jsc.hadoopConfiguration()
        self._path = self._jvm.org.apache.hadoop.fs.Path  # looked up once: every part of the name is a round trip
        path = self._path(root)
        self._fs = path.getFileSystem(conf)
        self.root = str(self._fs.makeQualified(path).toString())

    def path(self, *parts: str) -> str:
        """A path below the folder."""
        return posixpath.join(self.root, *parts)

    def write(self, path: str, text: str) -> None:
        """Write a file; after a crash it is there in full or not at all."""
        unfinished = self._path(f"{path}.tmp")
        stream = self._fs.create(unfinished, True)
        try:
            stream.write(bytearray(text.encode("utf-8")))
            stream.hsync()
        finally:
            stream.close()
        final = self._path(path)
        if not self._fs.rename(unfinished, final):
            self._fs.delete(final, False)
            self._fs.rename(unfinished, final)

    def read(self, path: str) -> str:
        """The text of a file."""
        stream = self._fs.open(self._path(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream)).decode("utf-8")
        finally:
            stream.close()

    def names(self, path: str) -> list[str]:
        """The names in a folder, sorted; none if there is no such folder."""
        folder = self._path(path)
        if not self._fs.exists(folder):
            return []
        return sorted(str(status.getPath().getName()) for status in self._fs.listStatus(folder))

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder."""
        return bool(self._fs.exists(self._path(path)))

    def delete(self, path: str) -> None:
        """Remove a file or folder, if it is there."""
        self._fs.delete(self._path(path), True)

    def make(self, path: str) -> None:
        """Make a folder."""
        self._fs.mkdirs(self._path(path))

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder, in place of whatever was there."""
        destination = self._path(target)
        self._fs.delete(destination, True)
        self._fs.mkdirs(destination.getParent())
        if not self._fs.rename(self._path(source), destination):
            raise OSError(f"could not move {source} to {target}")
