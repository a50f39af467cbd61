"""Streams for benchmarks: made by a seeded generator, the same every time."""

from __future__ import annotations

from pathlib import Path

import duckdb


def make_stream(folder: Path, *, rate: int, seconds: int, keys: int, per_file: int, seed: int) -> None:
    """Files of `per_file` seconds each, rows in the order of their time: ts, k and v (0 to 100)."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        for number, start in enumerate(range(0, seconds, per_file)):
            rows = rate * per_file
            db.execute(
                f"""
                COPY (
                    SELECT make_timestamptz({start * 1_000_000}::BIGINT + i * 1000000 // {rate}) AS ts,
                           (hash(i, {start}, {seed}) % {keys})::BIGINT AS k,
                           (hash(i, {start}, {seed}, 'v') % 1000000) / 10000.0 AS v
                    FROM range({rows}) r(i)
                ) TO '{folder / f"{number:05}.parquet"}' (FORMAT parquet)
                """
            )
