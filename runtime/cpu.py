"""How much work Spark has done on this machine."""

from __future__ import annotations

import time

from pyspark.sql import SparkSession


def cpu_seconds(spark: SparkSession) -> float:
    """The processor time that Spark's process and this one have used so far, on all cores."""
    java = spark.sparkContext._jvm
    assert java is not None
    return float(java.java.lang.ProcessHandle.current().info().totalCpuDuration().get().toNanos()) / 1e9 + (
        time.process_time()
    )
