"""DuckDB over all the data at once: the limit, and the judge of what comes out.

A job has `streams`, the files of each by name, and `questions`, a SELECT for each query. They are counted; with
`check`, an integer expression over the columns of a result, its sum is the checksum. `setup` holds statements before.
"""

from __future__ import annotations

import time
from typing import Any

import duckdb


def run(job: dict[str, Any]) -> dict[str, Any]:
    """The number of results of each query."""
    check = job.get("check")
    results, checksum = {}, 0
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        for name, path in job["streams"].items():
            db.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{path}')")
        began = time.perf_counter()
        for statement in job.get("setup", ()):
            db.execute(statement)
        for name, question in job["questions"].items():
            sums = f", coalesce(sum({check}), 0)" if check else ""
            found = db.execute(f"SELECT count(*){sums} FROM ({question})").fetchone()
            assert found is not None
            results[name] = int(found[0])
            checksum += int(found[1]) if check else 0
        seconds = time.perf_counter() - began
    return {"seconds": seconds, "results": results, **({"checksum": checksum} if check else {})}


def write(job: dict[str, Any]) -> dict[str, Any]:
    """The same, with all results written to Parquet, as others do."""
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        for name, path in job["streams"].items():
            db.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{path}')")
        began = time.perf_counter()
        for name, question in job["questions"].items():
            db.execute(f"COPY ({question}) TO '{job['work']}/{name}.parquet' (FORMAT parquet, COMPRESSION lz4)")
        return {"seconds": time.perf_counter() - began}
