"""Spark's own stream-stream joins at their best: state in RocksDB, state format 4, a streaming query for each query.

A job has `streams` (of each the folder and the columns, as Spark writes them) and `questions`, a SELECT for each query.
Results are written to Parquet, as Penstock's are. With `table`, the rows of a small relation, all queries are one: a
join whose results are matched with it.
"""

from __future__ import annotations

import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.bench.core import settled

SETTINGS = {
    "spark.master": "local[*]",
    "spark.driver.memory": "8g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.join.stateFormatVersion": "4",
    "spark.sql.streaming.numRecentProgressUpdates": "10000",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def start() -> None:
    """Start Spark."""
    session().range(10).count()


def session() -> SparkSession:
    """The session of this process."""
    builder = SparkSession.builder
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    found: SparkSession = builder.getOrCreate()
    return found


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run all queries over what is there; they run at the same time."""
    spark = session()
    for name, stream in job["streams"].items():
        reader = spark.readStream.schema(stream["columns"]).option("maxFilesPerTrigger", job.get("files", 1))
        reader.parquet(stream["path"]).withWatermark("ts", "1 second").createOrReplaceTempView(name)
    if "table" in job:
        spark.createDataFrame(job["table"]["rows"], job["table"]["columns"]).createOrReplaceTempView("queries")
    began = time.perf_counter()
    running = []
    for name, question in job["questions"].items():
        writer = spark.sql(question).writeStream.format("parquet").option("path", f"{job['work']}/out/{name}")
        writer = writer.option("checkpointLocation", f"{job['work']}/checkpoints/{name}")
        running.append(writer.outputMode("append").trigger(availableNow=True).start())
    for query in running:
        query.awaitTermination()
    seconds = time.perf_counter() - began
    triggers = [[progress["durationMs"]["triggerExecution"] / 1000 for progress in q.recentProgress] for q in running]
    states = [[sum(o["numRowsTotal"] for o in p["stateOperators"]) for p in q.recentProgress] for q in running]
    return {
        "seconds": seconds,
        "steps": triggers[0],
        "step": settled(triggers[0]),
        "state_rows": sum(max(rows, default=0) for rows in states),
        **counted(spark, job),
    }


def counted(spark: SparkSession, job: dict[str, Any]) -> dict[str, Any]:
    """The results of each query, and the checksum of all."""
    results, checksum = {}, 0
    for name in job["questions"]:
        rows: DataFrame = spark.read.parquet(f"{job['work']}/out/{name}")
        own = "_query" if "table" in job else f"'{name}'"
        sums = F.expr(f"sum({job['check']})") if job.get("check") else F.lit(0)
        for row in rows.groupBy(F.expr(own).alias("q")).agg(F.count(F.lit(1)).alias("n"), sums.alias("s")).collect():
            results[row["q"]] = row["n"]
            checksum += int(row["s"] or 0)
    return {"results": results, **({"checksum": checksum} if job.get("check") else {})}
