"""The data of the benchmarks: seeded, the same every time, and the same for every system."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from penstock.bench.data import BEGIN, make_pair
from penstock.bench.nexmark_data import SCHEMAS, Events, make_events


def _rows(path: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in parquet.read_table(path).to_pylist())


def test_pairs_are_the_same_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert make_pair(tmp_path / name, rate=100, seconds=3, keys=50, per_file=2, csv=True) == 600
    for stream in "ab":
        rows = _rows(f"{tmp_path}/one/{stream}")
        assert rows == _rows(f"{tmp_path}/two/{stream}") and len(rows) == 300
        assert rows[0][0].timestamp() == BEGIN and rows[-1][0].timestamp() < BEGIN + 3
        assert len({k for _, k, _ in rows}) > 40 and all(0 <= v < 100 for _, _, v in rows)
    assert _rows(f"{tmp_path}/one/a") != _rows(f"{tmp_path}/one/b")


def test_text_holds_the_same_rows(tmp_path: Path) -> None:
    make_pair(tmp_path, rate=100, seconds=2, keys=50, csv=True)
    rows = [(round(ts.timestamp() * 1e6), k, v) for ts, k, v in _rows(f"{tmp_path}/a")]
    with (tmp_path / "pcsv" / "a" / "rows.csv").open(encoding="utf-8") as file:
        assert sorted((int(r["ts"]), int(r["k"]), float(r["v"])) for r in csv.DictReader(file)) == rows
    with (tmp_path / "csv" / "a" / "rows.csv").open(encoding="utf-8") as file:
        first = next(csv.reader(file))
    assert first[0] == "2023-11-14 22:13:20.000" and len(first) == 3


@pytest.mark.parametrize("csv", [False, True])
def test_events_are_the_same_every_time(tmp_path: Path, csv: bool) -> None:
    events = Events(rate=500, seconds=4, per_file=3)
    make_events(tmp_path / "one", events, csv=csv)
    make_events(tmp_path / "two", events)
    make_events(tmp_path / "three", Events(rate=500, seconds=4, seed=1))
    counts = {}
    for name in SCHEMAS:
        rows = _rows(f"{tmp_path}/one/{name}")
        assert rows == _rows(f"{tmp_path}/two/{name}") != _rows(f"{tmp_path}/three/{name}")
        assert (tmp_path / "one" / "csv" / name).exists() == csv
        counts[name] = len(rows)
    assert counts == {"Person": 40, "Auction": 120, "Bid": 1840}
    assert {name: rate * 4 for name, rate in events.rates().items()} == counts
