"""The two queries that Hammad et al. print, over a few rows."""

from __future__ import annotations

from datetime import timedelta

from penstock.tests.duck import Bag, _comparable
from penstock.tests.language_questions import Data, Input, Question
from penstock.tests.streams import SECOND, START

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
_TEMPERATURE = ((0, 1, 35.0), (10, 2, 31.0), (15, 1, 20.0), (20, 3, 40.0), (30, 4, 33.0), (100, 1, 50.0))
_HUMIDITY = ((5, 1, 60.0), (12, 2, 40.0), (40, 4, 51.0), (69, 2, 70.0), (79.5, 3, 55.0))
_SCHEMA = {"LocationId": "int", "Value": "double", "ts": "timestamp"}

DATA = Data(
    schemas={"Temperature": _SCHEMA, "Humidity": _SCHEMA},
    rows={
        name: [{"LocationId": place, "Value": value, "ts": START + timedelta(seconds=ts)} for ts, place, value in rows]
        for name, rows in (("Temperature", _TEMPERATURE), ("Humidity", _HUMIDITY))
    },
    streams=("Temperature", "Humidity"),
    lateness=5 * SECOND,
)


def _inputs(size: int) -> tuple[Input, Input]:
    return Input("Temperature", "A", ("time", size)), Input("Humidity", "B", ("time", size))


HOW_MANY = Question(
    "how_many",
    _inputs(MINUTE),
    ("A.LocationId = B.LocationId", "A.Value > 30", "B.Value > 50"),
    (("COUNT(DISTINCT A.LocationId)", "COUNT(DISTINCT A.LocationId)"),),
    one_window=True,
    printed="""SELECT COUNT(DISTINCT A.LocationId) FROM Temperature A, Humidity B
WHERE A.LocationId = B.LocationId and A.Value > 30 and B.Value > 50 WINDOW 1 min""",
)
HIGHEST = Question(
    "highest",
    _inputs(HOUR),
    ("A.LocationId = B.LocationId",),
    (("A.LocationId", "LocationId"), ("MAX(A.Value)", "MAX(A.Value)"), ("MAX(B.Value)", "MAX(B.Value)")),
    ("A.LocationId",),
    one_window=True,
    printed="""SELECT A.LocationId, MAX(A.Value), MAX(B.Value) FROM Temperature A, Humidity B
WHERE A.LocationId = B.LocationId GROUP BY A.LocationId WINDOW 1 hour""",
)
_RESULTS = {
    "how_many": ((5, 39, 1), (40, 59, 2), (60, 68, 1), (69, 69, 2), (70, 89, 1)),
    "highest": (
        (5, 99, 1, 35.0, 60.0), (100, 3604, 1, 50.0, 60.0), (12, 68, 2, 31.0, 40.0), (69, 3609, 2, 31.0, 70.0),
        (80, 3619, 3, 40.0, 55.0), (40, 3629, 4, 33.0, 51.0),
    ),
}  # fmt: skip
"""From which second to which, and what is given at each of them; the third place's rows meet between two seconds."""
WATERMARK = 74_500_000
"""Of the streams, in microseconds after the start: humidity is behind."""


def results(*, drained: bool) -> dict[str, Bag]:
    """What the queries give, before and after every window is closed."""
    return {
        name: Bag(
            _comparable((START + timedelta(seconds=second), *values))
            for first, last, *values in spans
            for second in range(first, last + 1)
            if drained or second * SECOND < WATERMARK
        )
        for name, spans in _RESULTS.items()
    }
