"""The Spark session: defaults that suit the machine, which the user's settings override."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

from penstock.grammar.errors import PenstockError
from penstock.runtime.local_files import use_quick_local_files

__all__ = ["DataFrame", "Row", "SparkSession", "spark_session"]

_QUIET = (Path(__file__).parent / "log4j2.properties").as_uri()
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


def spark_session(settings: Iterable[tuple[str, str]] = (), *, name: str = "penstock") -> SparkSession:
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
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET}",
        **_DEFAULTS,
        **dict(settings),
    }
    local = chosen["spark.master"].startswith("local")
    if local:
        chosen.setdefault("spark.sql.streaming.checkpointFileManagerClass", _LOCAL_CHECKPOINTS)
    builder = SparkSession.builder.appName(name)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise PenstockError(
            f"Spark does not start: {_first_line(error)}",
            hint="Check Java 17 and the settings under  spark:  in penstock.yml.",
            label="no-spark",
        ) from error
    if local:
        use_quick_local_files(session)
    return session


def _need_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        raise PenstockError(
            "Java is not installed, and Spark needs it",
            hint="Install Java 17 and put it on the PATH, or set JAVA_HOME.",
            label="no-java",
        )


def _memory_gb() -> int:
    """A third of the machine's memory, between 1 and 16 GB."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    return max(1, min(16, total // 3))


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
