"""Queries that come and go while others run: how soon they are in force, and what the others notice of it."""

from __future__ import annotations

from penstock.bench.core import Case, Found, Setting, Shown, Table, Workload, number
from penstock.bench.data import make_pair
from penstock.bench.pairs import Pair, penstock_job
from penstock.bench.workloads.latency import LIVE, pairs_of

RATE, KEYS = 1_000, 20_000
LONGEST = 20_000
"""The longest window, in milliseconds."""


def size(setting: Setting) -> tuple[int, int, int, int]:
    """How many are added; how many periods of how many seconds; files before the first, while things get warm."""
    return setting.pick((200, 8, 10, 20), (30, 4, 6, 8), (2, 2, 1, 1))


def more(count: int) -> list[Pair]:
    """So many other queries: nine of ten of known templates, one of a new one."""
    found = []
    for place in range(count):
        window = 1000 * (2 + place % 18)
        condition = f"a.v >= {80 + place % 97 * 0.1:.2f}" if place % 2 else f"b.v <= {20 - place % 97 * 0.1:.2f}"
        if place % 10 == 9:
            condition = f"a.v + {place % 7 + 1} * b.v > {180 + place * 0.01:.2f} AND a.v - b.v <> {place}"
        found.append(Pair(f"more{place}", window, condition))
    return found


def cases(setting: Setting) -> list[Case]:
    """One run: it has many changes in it."""
    reach, periods, period, skip = size(setting)
    seconds = skip + periods * period + reach + 30
    data = setting.scratch / "churn"
    make_pair(data, rate=RATE, seconds=seconds, keys=KEYS, per_file=1)
    job = {
        **penstock_job(data, pairs_of(10, LONGEST), rate=RATE, keys=KEYS),
        "data": str(data),
        "every": 1.0,
        "skip": skip,
        "files": seconds,
        "more": {pair.name: pair.text for pair in more(reach + 4 * periods * period)},
        "reach": reach,
        "periods": periods,
        "period": period,
        "churned": 100 / 60,
    }
    return [Case("penstock", "penstock", job, call=f"{LIVE}:churn", rounds=1, compared=False)]


def show(setting: Setting, found: Found) -> Shown:
    """How long changes take, and steps with and without them."""
    one = found.get("penstock")
    if one is None or not one.is_valid:
        return Shown(notes=["not measured"])
    reach, _, _, _ = size(setting)
    adding = one.last("adding")
    lines = [
        ("one of the first to be added: from the call to its being in force", number(adding["first"], 3)),
        (f"one of the last, when there are {10 + reach}", number(adding["last"], 3)),
        ("the change itself, median", number(one.median("made"), 3)),
        ("a query comes or goes, 100 times a minute: median", number(one.median(), 3)),
        ("… the worst", number(one.median("worst"), 3)),
        ("a step, while nothing changes", number(one.median("step_calm"), 3)),
        ("a step, with 100 changes a minute", number(one.median("step_busy"), 3)),
    ]
    note = f"Steps take {number(one.median('ratio'), 2)} times as long with {one.last('changes')} changes."
    title = f"Queries come and go beside ten others, {RATE:,} rows/s a stream"
    return Shown(tables=[Table("churn", title, ("", "seconds"), lines, note)], figures={"steps": one.median("ratio")})


WORKLOAD = Workload(
    "churn", "Queries that come and go", "how soon changes are in force, and what others notice", cases, show
)
