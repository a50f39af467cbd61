"""Streams for benchmarks: made by a seeded generator, the same every time."""

from __future__ import annotations

from pathlib import Path

import duckdb

COLUMNS = """
    make_timestamptz((({start}::BIGINT * 1000 + i * 1000 // {rate}) + {begin}::BIGINT * 1000) * 1000) AS ts,
    (hash(i, {start}, {seed}) % {keys})::BIGINT AS k,
    (hash(i, {start}, {seed}, 'v') % 1000000) / 10000.0 AS v
"""
"""Times are whole milliseconds: Flink keeps no more of them."""
BEGIN = 1_700_000_000
"""Rows begin here: at time 0 some would be behind a watermark that is nowhere yet."""
CSV = {
    "csv": "strftime(ts, '%Y-%m-%d %H:%M:%S.%g') AS ts, k, v",
    "pcsv": "epoch_us(ts) AS ts, k, v",
}
"""What the peers read: text for Flink (times as text, no header) and for Pathway (times as numbers, a header)."""


def make_stream(
    folder: Path, *, rate: int, seconds: int, keys: int, per_file: int, seed: int, begin: int = 0, csv: bool = False
) -> None:
    """Parquet files of `per_file` seconds each, rows in the order of their time: ts, k and v (0 to 100).

    Rows begin `begin` seconds after 1970. With `csv` the same rows are written for the peers that read text, into
    `csv/NAME` and `pcsv/NAME` beside the folder, `NAME` being its name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        for number, start in enumerate(range(0, seconds, per_file)):
            columns = COLUMNS.format(start=start, rate=rate, begin=begin, seed=seed, keys=keys)
            rows = f"SELECT {columns} FROM range({rate * min(per_file, seconds - start)}) r(i)"
            db.execute(f"COPY ({rows}) TO '{folder / f'{number:05}.parquet'}' (FORMAT parquet)")
        for kind, columns in CSV.items() if csv else ():
            text = folder.parent / kind / folder.name
            text.mkdir(parents=True, exist_ok=True)
            header = "true" if kind == "pcsv" else "false"
            found = f"SELECT {columns} FROM '{folder}/*.parquet' ORDER BY ts"
            db.execute(f"COPY ({found}) TO '{text / 'rows.csv'}' (FORMAT csv, HEADER {header})")


def make_pair(folder: Path, *, rate: int, seconds: int, keys: int, per_file: int = 5, csv: bool = False) -> int:
    """The two streams `a` and `b` that most workloads join, from `BEGIN` on; how many rows they have."""
    for seed, name in enumerate(("a", "b")):
        make_stream(
            folder / name, rate=rate, seconds=seconds, keys=keys, per_file=per_file, seed=seed, begin=BEGIN, csv=csv
        )
    return 2 * rate * seconds
