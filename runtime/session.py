"""The Spark session: defaults that suit the machine, which the user's settings override."""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import DataFrame, Row, SparkSession

from penstock.grammar.errors import PenstockError
from penstock.runtime.failures import cause, failure
from penstock.runtime.java import find_java
from penstock.runtime.local_files import use_quick_local_files
from penstock.runtime.spark_log import SparkLog

__all__ = ["DataFrame", "Row", "SparkSession", "beside", "fitting", "local_table", "spark_session"]

_SILENT = SparkLog()
_LOCAL_CHECKPOINTS = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
"""Spark's own choice is a file system that is not the one of `local_files`."""
_MEANING = {
    # An arithmetic mistake in one row gives NULL and does not stop every query.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.caseSensitive": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    # Names and texts are what they are, and no patterns.
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.variable.substitute": "false",
    # What cannot be read is set aside, and nothing that is missing goes unnoticed.
    "spark.sql.columnNameOfCorruptRecord": "_corrupt_record",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""What decides what a query means, the same in every session; so are the defaults of `spark.sql.legacy`."""
_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.scheduler.mode": "FAIR",
    # Steps are small plans over few partitions: deciding again between stages costs more than it saves.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.ui.explainMode": "simple",  # every statement is described for a UI that is not there
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
    wanted = dict(settings)
    _refuse_other_meaning(wanted)
    running = _running()
    if running is not None:
        return running
    find_java()
    cores = os.cpu_count() or 2
    chosen = {
        "spark.master": "local[*]",
        "spark.driver.memory": driver_memory({}),
        "spark.sql.shuffle.partitions": str(cores),
        "spark.default.parallelism": str(cores),
        **_DEFAULTS,
        **wanted,
        **_MEANING,
    }
    local = chosen["spark.master"].startswith("local")
    if local:
        chosen.setdefault("spark.sql.streaming.checkpointFileManagerClass", _LOCAL_CHECKPOINTS)
        chosen.setdefault("spark.sql.warehouse.dir", _tables_folder())
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


def _tables_folder() -> str:
    """Where Spark would keep tables of its own: it makes the folder at once, and else in the current folder."""
    return str(Path(tempfile.gettempdir()) / f"spark-warehouse-{os.getuid()}")


def _running() -> SparkSession | None:
    """The session that is active, or else the one that was made first, unless it has been stopped."""
    try:
        session = SparkSession.active()
    except PySparkRuntimeError:
        return None
    return None if _is_stopped(session) else session


def _is_stopped(spark: SparkSession) -> bool:
    return getattr(spark.sparkContext, "_jsc", None) is None


def try_spark(settings: Iterable[tuple[str, str]] = ()) -> str:
    """Start Spark, let it count, and stop it again unless it was there before; its version."""
    before = _running()
    session = spark_session(settings)
    try:
        session.range(10).count()
        return str(session.version)
    except Exception as error:
        raise failure("Spark does not work", error, label="no-spark") or error from error
    finally:
        if before is None:
            session.stop()


def _refuse_other_meaning(settings: Mapping[str, str]) -> None:
    """Raise an error if settings would change what queries mean."""
    for key, value in settings.items():
        if value.lower() != _MEANING.get(key, value).lower() or _is_legacy(key):
            fixed = f"It is always {_MEANING[key]}. " if key in _MEANING else ""
            raise PenstockError(
                f"{key} would change what queries mean", hint=f"{fixed}Leave it out.", label="changes-meaning"
            )


def fitting(spark: object) -> SparkSession:
    """A session of the user's, if queries mean in it what they should, or else one beside it.

    The one beside it has its settings, but for those that change what queries mean; the user's stays as it is.
    """
    if not isinstance(spark, SparkSession):
        raise PenstockError(
            f"this cannot run on a {type(spark).__module__}.{type(spark).__name__}",
            hint="Give one made with  SparkSession.builder.master(…).getOrCreate() . Spark Connect will not do.",
            label="bad-spark",
        )
    if _is_stopped(spark):
        raise PenstockError("the Spark session has been stopped", hint="Give another one.", label="bad-spark")
    settings = spark.conf.getAll
    if settings.get("spark.sql.timestampType", "TIMESTAMP_LTZ") != "TIMESTAMP_LTZ":
        raise PenstockError(
            "in this Spark session a timestamp has no time zone, and an event time is an instant",
            hint="Leave spark.sql.timestampType out, or give  spark.newSession()  without it.",
            label="changes-meaning",
        )
    chosen = all(key in settings for key in _DEFAULTS if key.startswith("spark.sql."))
    fits = all(settings.get(key) == value for key, value in _MEANING.items())
    return spark if chosen and fits and not any(map(_is_legacy, settings)) else beside(spark)


def beside(spark: SparkSession) -> SparkSession:
    """A session on the same Spark with the settings of another, those that change what queries mean left out."""
    own = spark.newSession()
    there = own.conf.getAll
    for key in filter(_is_legacy, there):
        own.conf.unset(key)
    ours = {key: value for key, value in _DEFAULTS.items() if own.conf.isModifiable(key)}
    ours["spark.sql.shuffle.partitions"] = str(spark.sparkContext.defaultParallelism)
    for key, value in {**ours, **spark.conf.getAll, **_MEANING}.items():
        if not _is_legacy(key) and there.get(key) != value:
            own.conf.set(key, value)
    return own


def _is_legacy(key: str) -> bool:
    return key.startswith("spark.sql.legacy.")


def local_table(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A table of Arrow's as a table of Spark's; the session that is active stays so."""
    sessions: Any = SparkSession
    module = sessions._get_j_spark_session_class(spark.sparkContext._jvm)
    active, known = module.getActiveSession(), sessions._activeSession
    frame = spark.createDataFrame(table)
    sessions._activeSession = known
    module.setActiveSession(active.get()) if active.isDefined() else module.clearActiveSession()
    return frame


def driver_memory(settings: Mapping[str, str]) -> str:
    """The memory that Spark may take: a third of the machine's, unless the settings say otherwise."""
    return settings.get("spark.driver.memory", f"{_memory_gb()}g")


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
