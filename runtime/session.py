"""The Spark session: defaults that suit the machine, which the user's settings override."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

from penstock.grammar.errors import PenstockError
from penstock.runtime.failures import cause
from penstock.runtime.local_files import use_quick_local_files
from penstock.runtime.spark_log import SparkLog

__all__ = ["DataFrame", "Row", "SparkSession", "spark_session"]

_SILENT = SparkLog()
_LOCAL_CHECKPOINTS = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
"""Spark's own choice is a file system that is not the one of `local_files`."""
_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.scheduler.mode": "FAIR",
    # Steps are small plans over few partitions: deciding again between stages costs more than it saves.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # An arithmetic mistake in one row gives NULL and does not stop every query.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ui.explainMode": "simple",  # every statement is described for a UI that is not there
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "lz4",
    "spark.sql.files.openCostInBytes": "131072",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "spark.hadoop.parquet.enable.summary-metadata": "false",
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",  # no files of checksums
}


def spark_session(
    settings: Iterable[tuple[str, str]] = (), *, name: str = "penstock", log: SparkLog = _SILENT
) -> SparkSession:
    """The session that is there, or a local one made for this machine."""
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    _need_java()
    cores = os.cpu_count() or 2
    chosen = {
        "spark.master": "local[*]",
        "spark.driver.memory": f"{_memory_gb()}g",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.default.parallelism": str(cores),
        **_DEFAULTS,
        **dict(settings),
    }
    local = chosen["spark.master"].startswith("local")
    if local:
        chosen.setdefault("spark.sql.streaming.checkpointFileManagerClass", _LOCAL_CHECKPOINTS)
    builder = SparkSession.builder.appName(name)
    for key, value in log.added_to(chosen).items():
        builder = builder.config(key, value)
    if log.level == "off":
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
    with _own_stderr(quiet=log.level == "off") as said:
        try:
            session = builder.getOrCreate()
        except Exception as error:
            raise PenstockError(
                f"Spark does not start: {_why(said(), error)}",
                hint="Check Java 17 and the settings under  spark:  in penstock.yml.",
                label="no-spark",
            ) from error
    if local:
        use_quick_local_files(session)
    return session


def _need_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home and not (Path(home) / "bin" / "java").exists():
        raise PenstockError(
            f"JAVA_HOME is {home}, and there is no Java in it",
            hint="Set it to the folder of Java 17, or unset it to use the  java  of the PATH.",
            label="no-java",
        )
    if not home and shutil.which("java") is None:
        raise PenstockError(
            "Java is not installed, and Spark needs it",
            hint="Install Java 17 and put it on the PATH, or set JAVA_HOME.\n"
            "On Debian or Ubuntu:  apt install openjdk-17-jre-headless",
            label="no-java",
        )


def _memory_gb() -> int:
    """A third of the machine's memory, between 1 and 16 GB."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    return max(1, min(16, total // 3))


@contextmanager
def _own_stderr(*, quiet: bool) -> Iterator[Callable[[], str]]:
    """Give what is started a stderr of its own, if it is to be quiet: Java warns of things that nobody can mend.

    What has been written to it can be asked for.
    """
    if not quiet:
        yield lambda: ""
        return
    sys.stderr.flush()
    before = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lambda: os.pread(file.fileno(), 100_000, 0).decode("utf-8", "replace")
        finally:
            os.dup2(before, 2)
            os.close(before)


def _why(said: str, error: Exception) -> str:
    """Why Spark does not start: what it said itself, or else the error that came of it."""
    lines = [line for line in said.splitlines() if re.search(r"[Ee]rror|[Ii]nvalid|[Ee]xception", line)]
    own = [line for line in lines if "Could not create the Java" not in line and "fatal exception" not in line]
    return re.sub(r"^.*?(?:Exception|Error): ", "", own[0]) if own else cause(error)
