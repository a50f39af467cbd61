"""Flink SQL: queries as one statement set. Loaded by a Python that has Flink and not Penstock.

A job has `streams` (of each the folder of its CSV files, the columns, and the event time if that is not ts) and
`questions`, a SELECT for each query.
Results are thrown away; those of a job with `count` are written as CSV and counted.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment

SETTINGS = {"parallelism.default": "2", "table.exec.source.idle-timeout": "0"}


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run all queries over what is there."""
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in SETTINGS.items():
        tables.get_config().set(key, value)
    for name, stream in job["streams"].items():
        time_ = stream.get("time", "ts")
        tables.execute_sql(
            f"CREATE TABLE {name} ({stream['columns']}, WATERMARK FOR {time_} AS {time_} - INTERVAL '1' SECOND) "
            f"WITH ('connector' = 'filesystem', 'path' = 'file://{stream['path']}', 'format' = 'csv')"
        )
    statements = tables.create_statement_set()
    for name, question in job["questions"].items():
        if job.get("count"):
            question = f"SELECT {job.get('check') or '0'} FROM ({question})"
            sink = f"'connector' = 'filesystem', 'path' = 'file://{job['work']}/{name}', 'format' = 'csv'"
        else:
            sink = "'connector' = 'blackhole'"
        tables.execute_sql(f"CREATE TABLE out_{name} ({columns_of(tables, question)}) WITH ({sink})")
        statements.add_insert_sql(f"INSERT INTO out_{name} {question}")
    began = time.perf_counter()
    statements.execute().wait()
    found: dict[str, Any] = {"seconds": time.perf_counter() - began}
    return {**found, **counted(job)} if job.get("count") else found


def columns_of(tables: TableEnvironment, question: str) -> str:
    """The columns of an answer, without names: c0, c1 and so on."""
    schema = tables.sql_query(question)._j_table.getResolvedSchema()
    types = [type_.getLogicalType().asSerializableString() for type_ in schema.getColumnDataTypes()]
    return ", ".join(f"c{number} {type_.removesuffix(' NOT NULL')}" for number, type_ in enumerate(types))


def counted(job: dict[str, Any]) -> dict[str, Any]:
    """The results of each query, and the checksum of all."""
    results, checksum = {}, 0
    for name in job["questions"]:
        results[name] = 0
        for path in Path(f"{job['work']}/{name}").rglob("*"):
            if path.is_file():
                numbers = path.read_bytes().split()
                results[name] += len(numbers)
                checksum += sum(map(int, numbers))
    return {"results": results, **({"checksum": checksum} if job.get("check") else {})}
