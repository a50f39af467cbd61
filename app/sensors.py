"""A made-up data centre: what its sensors measure, and whose its racks are; the same for the same seed."""

from __future__ import annotations

import csv
import itertools
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = tuple[Any, ...]
STREAMS: Mapping[str, Mapping[str, pa.DataType]] = {
    "temperature": {"LocationId": pa.int32(), "Value": pa.float64(), "ts": pa.timestamp("us", tz="UTC")},
    "humidity": {"LocationId": pa.int32(), "Value": pa.float64(), "ts": pa.timestamp("us", tz="UTC")},
    "load": {"Feed": pa.string(), "Watts": pa.float64(), "ts": pa.timestamp("us", tz="UTC")},
}
"""The columns of each stream."""
RACKS = ("LocationId", "Feed", "Owner", "since", "until")
_OWNERS = ("Acme", "Bolt", "Cirrus", "Delta", "Ember", "Fjord")


@dataclass(frozen=True)
class Failure:
    """The cooling of an aisle fails for a while, in seconds after the start."""

    aisle: int
    begin: int
    end: int

    def heat(self, second: float) -> float:
        """How many degrees it adds: some more every second, until it is repaired and they go again."""
        if second < self.begin:
            return 0.0
        risen = min(second, self.end) - self.begin
        return max(0.0, risen * 0.08 - max(0.0, second - self.end) * 0.2)


@dataclass(frozen=True)
class DataCenter:
    """Racks, each with a sensor for temperature and one for humidity; a meter for each feed of an aisle."""

    racks: int
    aisle: int
    """So many racks stand in one aisle, share its cooling and hang on one feed."""
    period: int
    """So many seconds pass between two readings of a sensor."""
    failures: tuple[Failure, ...]
    moved: int
    """So many seconds after the start every tenth rack gets another owner."""
    seed: int = 1
    start: datetime = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def readings(self, stream: str, begin: int, end: int) -> list[Row]:
        """What a stream's sensors measure in some seconds after the start, in the order of time."""
        rng = random.Random(f"{self.seed} {stream} {begin}")
        rows = self._feeds(rng, begin, end) if stream == "load" else self._racks(stream, rng, begin, end)
        return sorted(rows, key=lambda row: row[-1])

    def _racks(self, stream: str, rng: random.Random, begin: int, end: int) -> Iterator[Row]:
        for second in range(begin, end):
            for place in range(1 + second % self.period, self.racks + 1, self.period):
                heat = self._heat((place - 1) // self.aisle, second)
                wave = math.sin(place + second / 90)
                value = 24 + wave + heat if stream == "temperature" else 45 - 10 * wave + heat
                yield place, round(value + rng.gauss(0, 0.8), 2), self._moment(second, rng)

    def _feeds(self, rng: random.Random, begin: int, end: int) -> Iterator[Row]:
        aisles = math.ceil(self.racks / self.aisle)
        for second, aisle in itertools.product(range(begin, end), range(aisles)):
            if second % self.period == aisle % self.period:
                wave = 1 + 0.4 * math.sin(aisle + second / 60)
                watts = self.aisle * (400 * wave + 20 * self._heat(aisle, second))  # the fans run faster
                yield self._feed(aisle), round(watts + rng.gauss(0, 100), 1), self._moment(second, rng)

    def owners(self) -> list[Row]:
        """Whose each rack is from when until when, and which feed it hangs on."""
        rng = random.Random(f"{self.seed} owners")
        first, last = self.start - timedelta(days=30), self.start + timedelta(days=30)
        moved = self.start + timedelta(seconds=self.moved)
        rows: list[Row] = []
        for place in range(1, self.racks + 1):
            aisle = (place - 1) // self.aisle
            owner, other = rng.sample(_OWNERS, 2)
            stays = place % 10 != 0
            rows.append((place, self._feed(aisle), owner, first, last if stays else moved))
            if not stays:
                rows.append((place, self._feed(aisle), other, moved, last))
        return rows

    def _heat(self, aisle: int, second: int) -> float:
        return sum(failure.heat(second) for failure in self.failures if failure.aisle == aisle)

    def _feed(self, aisle: int) -> str:
        return f"F{aisle:02}"

    def _moment(self, second: int, rng: random.Random) -> datetime:
        return self.start + timedelta(seconds=second, milliseconds=rng.randrange(1000))


def write_readings(center: DataCenter, data: Path, begin: int, end: int, format: str) -> None:
    """Add a file of some seconds to the folder of each stream, csv or parquet; none is seen before it is whole."""
    for stream, types in STREAMS.items():
        file = data / stream / f"{begin:05}.{format}"
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_name(f".{file.name}")
        rows = center.readings(stream, begin, end)
        if format == "parquet":
            columns = [list(column) for column in zip(*rows, strict=True)]
            arrays = [pa.array(column, type_) for column, type_ in zip(columns, types.values(), strict=True)]
            pq.write_table(pa.table(arrays, names=list(types)), unfinished)
        else:
            _write_csv(unfinished, tuple(types), rows)
        unfinished.rename(file)


def write_owners(center: DataCenter, data: Path) -> None:
    """Write the relation of racks."""
    data.mkdir(parents=True, exist_ok=True)
    _write_csv(data / "racks.csv", RACKS, center.owners())


def _write_csv(file: Path, names: tuple[str, ...], rows: list[Row]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_text(value) for value in row] for row in rows)


def _text(value: Any) -> Any:
    return value.replace(tzinfo=None).isoformat(" ", "milliseconds") if isinstance(value, datetime) else value
