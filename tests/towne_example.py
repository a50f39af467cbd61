"""The example of Towne et al. for star-streaming joins: two streams joined through a relation that changes.

A row arrives in each stream at each of six instants, written here as seconds, and lives for four of them. A row of the
relation F ties a row of R to a row of S if it is active at the times of both; the result is as important as the less
important of the two.
"""

from __future__ import annotations

from datetime import timedelta

from penstock.tests.duck import Bag, _comparable
from penstock.tests.language_questions import Data, Input, Question
from penstock.tests.streams import SECOND, START

EVER = 1_000_000
_R = ((0, 1, 5), (1, 0, 1), (2, 1, 4), (3, 0, 8), (4, 2, 3), (5, 5, 2))
_S = ((0, 1, 1), (1, 3, 5), (2, 3, 2), (3, 8, 6), (4, 3, 4), (5, 5, 3))
_F = ((0, 3, -1, EVER), (1, 5, -1, EVER), (0, 8, -1, EVER), (4, 5, -1, EVER), (1, 3, -1, 5), (5, 8, 3, EVER))
_STREAM = {"sch": "int", "imp": "int", "ts": "timestamp"}

DATA = Data(
    schemas={"R": _STREAM, "S": _STREAM, "F": {"r": "int", "s": "int", "since": "timestamp", "until": "timestamp"}},
    rows={
        name: [{"sch": sch, "imp": imp, "ts": START + timedelta(seconds=ts)} for ts, sch, imp in rows]
        for name, rows in (("R", _R), ("S", _S))
    }
    | {
        "F": [
            {"r": r, "s": s, "since": START + timedelta(seconds=since), "until": START + timedelta(seconds=until)}
            for r, s, since, until in _F
        ]
    },
    streams=("R", "S"),
    valid={"F": ("since", "until")},
    lateness=0,
)
QUESTION = Question(
    "star",
    (Input("R", "R", ("time", 4 * SECOND)), Input("F", "F"), Input("S", "S", ("time", 4 * SECOND))),
    ("R.sch = F.r", "F.s = S.sch"),
    (("R.sch", "r"), ("S.sch", "s"), ("LEAST(R.imp, S.imp)", "imp")),
    one_window=True,
)
_RESULTS = (
    (1, 1, 3, 5), (1, 0, 3, 1), (2, 1, 3, 2), (2, 0, 3, 1), (2, 1, 3, 4), (2, 1, 3, 2), (3, 0, 8, 1), (3, 0, 3, 5),
    (3, 0, 3, 2), (3, 0, 8, 6), (4, 0, 3, 1), (4, 1, 3, 4), (4, 0, 3, 4), (5, 1, 5, 3), (5, 5, 8, 2),
)  # fmt: skip
"""The second, what joined of each stream, and the importance."""
RESULTS = Bag(_comparable((START + timedelta(seconds=ts), r, s, imp)) for ts, r, s, imp in _RESULTS)
NUMBER = 15
IMPORTANCE = 43
