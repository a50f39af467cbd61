"""Storage on this machine, with Spark and without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.grammar.errors import PenstockError
from penstock.runtime.session import SparkSession
from penstock.runtime.storage import Storage

# Each of them is another spelling that Hadoop brings into its own form.
PATHS = (
    "/",
    "//",
    "/a//b/",
    "/a/./b/../c",
    "/a:b/c d",
    "///x/y",
    ".",
    "..",
    "state",
    "./state/",
    "a b/../é%20#?{x}*",
    "a/b:c",
    "~/x ",
    "file:/x",
    "file:///x",
    "file:///x y//z/",
    "file://",
    "file:/a%20b/..",
)


@pytest.mark.parametrize("path", PATHS)
def test_the_root_is_the_same_with_and_without_spark(spark: SparkSession, path: str) -> None:
    """A run with Spark and a look without it name the same folder by the same text."""
    assert Storage(None, path).root == Storage(spark, path).root


@pytest.mark.parametrize("path", ["", "file:", "file:x", "file://host/x", "//host/x"])
def test_what_is_no_local_path(spark: SparkSession, path: str) -> None:
    """What Hadoop refuses is refused without it."""
    with pytest.raises(PenstockError) as caught:
        Storage(None, path)
    assert caught.value.label == "bad-path"
    with pytest.raises(Exception, match=r"Path|URI|FS|FileSystem"):
        Storage(spark, path)


@pytest.mark.parametrize("prefix", ["", "file:", "file://"])
def test_files_without_spark(tmp_path: Path, prefix: str) -> None:
    """Files are written, read, listed, moved and deleted."""
    storage = Storage(None, f"{prefix}{tmp_path}/a b")
    assert storage.root == f"file:{tmp_path}/a b"
    assert storage.names(storage.root) == []
    storage.write(storage.path("x", "é"), "one")
    storage.write(storage.path("x", "é"), "zwei ü")
    assert (
        (tmp_path / "a b" / "x" / "é").read_text(encoding="utf-8") == storage.read(storage.path("x", "é")) == "zwei ü"
    )
    storage.write(storage.path("y"), "old")
    storage.move(storage.path("x"), storage.path("y"))
    assert storage.names(storage.root) == ["y"]
    assert storage.names(storage.path("y")) == ["é"]
    assert storage.exists(storage.path("y")) and not storage.exists(storage.path("x"))
    storage.delete(storage.path("y"))
    storage.delete(storage.path("never"))
    assert storage.names(storage.root) == []


def test_a_relative_root_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is that of the moment at which the storage is made."""
    monkeypatch.chdir(tmp_path)
    storage = Storage(None, "state")
    monkeypatch.chdir("/")
    storage.write(storage.path("x"), "1")
    assert (tmp_path / "state" / "x").read_text() == "1"


def test_one_reads_what_the_other_writes(spark: SparkSession, tmp_path: Path) -> None:
    """With and without Spark it is the same folder."""
    one, other = Storage(spark, f"{tmp_path}/s"), Storage(None, f"{tmp_path}/s")
    one.write(one.path("x"), "1")
    assert other.read(one.path("x")) == other.read(other.path("x")) == "1"


@pytest.mark.parametrize("path", ["s3a://bucket/state", "hdfs:/state", "FILE:/x"])
def test_other_places_need_spark(tmp_path: Path, path: str) -> None:
    """As root and as any path; the message names the path and says what to do."""
    storage = Storage(None, str(tmp_path))
    for attempt in (lambda: Storage(None, path), lambda: storage.names(path), lambda: storage.write(path, "")):
        with pytest.raises(PenstockError, match=path) as caught:
            attempt()
        assert caught.value.label == "needs-spark"
        assert caught.value.hint


def test_without_spark_pyspark_is_not_loaded(tmp_path: Path) -> None:
    """Nor is a JVM started."""
    code = (
        "import sys; from penstock.runtime.storage import Storage; s = Storage(None, sys.argv[1]);"
        "s.write(s.path('x'), ''); assert s.names(s.root) == ['x']; assert 'pyspark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
