"""Random sets of queries that have much in common, and random rows, the same ones for the same seed.

A `Question` is what a family of queries asks, `Values` are the constants and windows of one of them, and `spelled`
writes it down in one of many ways: with other aliases, orders, and equivalent conditions.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from penstock.tests.evaluate import SECOND, Value

_COLUMNS = {"k": "int", "v": "double", "s": "string", "n": "int"}
_STREAM = {**_COLUMNS, "ts": "timestamp"}
CATALOG = {
    "streams": {
        "Heat": {"schema": _STREAM, "statistics": {"rate": 100, "distinct": {"k": 50}}},
        "Damp": {"schema": _STREAM, "statistics": {"rate": 10}},
        "Load": {"schema": {**_STREAM, "k": "bigint"}},
    },
    "relations": {
        "Racks": {
            "schema": {**_COLUMNS, "since": "timestamp", "until": "timestamp"},
            "source": {"format": "csv", "path": "racks.csv"},
            "valid": ["since", "until"],
        },
        "Kinds": {"schema": _COLUMNS, "source": {"format": "csv", "path": "kinds.csv"}},
    },
}
STREAMS, RELATIONS = tuple(CATALOG["streams"]), tuple(CATALOG["relations"])

Pattern = tuple[str, ...]
"""Texts that mean the same: {x} and {y} are inputs, {d} and {e} numbers, {i} and {j} whole numbers, {w} a word."""

KEYS: tuple[Pattern, ...] = (
    ("{x}.k = {y}.k", "{y}.k = {x}.k", "({x}.k) = {y}.k"),
    ("{x}.k = {y}.k", "{y}.k = {x}.k AND {x}.k = {y}.k"),
    ("{x}.k = {y}.k AND {x}.s = {y}.s", "{y}.s = {x}.s AND {y}.k = {x}.k"),
    ("{x}.k + 1 = {y}.k", "{y}.k = {x}.k + 1"),
    ("{x}.n = {y}.k", "{y}.k = {x}.n"),
    ("{x}.k = {y}.k AND {x}.n = {y}.k", "{y}.k = {x}.n AND {y}.k = {x}.k"),
    (
        "{x}.k = {y}.k AND ({x}.v > {d} OR {y}.v < {e})",
        "({x}.k = {y}.k AND {x}.v > {d}) OR ({y}.k = {x}.k AND {y}.v < {e})",
        "({e} > {y}.v AND {x}.k = {y}.k) OR ({x}.k = {y}.k AND {x}.v > {d})",
    ),
)
ON_ONE: tuple[Pattern, ...] = (
    ("{x}.v > {d}", "{d} < {x}.v", "NOT {x}.v <= {d}", "(({x}.v) > {d})"),
    ("{x}.v <= {d}", "{d} >= {x}.v", "NOT ({x}.v > {d})", "NOT NOT {x}.v <= {d}"),
    ("{x}.v BETWEEN {d} AND {e}", "{x}.v >= {d} AND {x}.v <= {e}", "{e} >= {x}.v AND {d} <= {x}.v"),
    ("{x}.v NOT BETWEEN {d} AND {e}", "{x}.v < {d} OR {x}.v > {e}", "NOT ({x}.v >= {d} AND {e} >= {x}.v)"),
    ("{x}.n > {d}", "{d} < {x}.n"),
    ("{x}.n < {d}", "{d} > {x}.n"),
    ("{x}.n <> {i}", "NOT {x}.n = {i}", "{i} != {x}.n"),
    ("{x}.k > {i}", "{i} < {x}.k"),
    ("{x}.k = {i}", "{i} = {x}.k", "{x}.k IN ({i})"),
    ("{x}.k IN ({i}, {j})", "{x}.k IN ({j}, {i})", "({x}.k) IN ({i}, {j}, {i})"),
    ("{x}.k NOT IN ({i}, {j})", "NOT {x}.k IN ({j}, {i})"),
    ("{x}.s LIKE 'a%'", "({x}.s LIKE 'a%')"),
    ("{x}.s = '{w}' OR {x}.n IS NULL", "{x}.n IS NULL OR '{w}' = {x}.s"),
    ("{x}.n IS NOT NULL", "NOT {x}.n IS NULL"),
    ("{x}.n IS DISTINCT FROM {i}", "NOT {x}.n <=> {i}", "NOT ({x}.n IS NOT DISTINCT FROM {i})"),
    ("NOT ({x}.v > {d} OR {x}.n < {i})", "{x}.v <= {d} AND {x}.n >= {i}", "{i} <= {x}.n AND NOT {x}.v > {d}"),
    (
        "({x}.v > {d} AND {x}.n = {i}) OR ({x}.v > {d} AND {x}.k = {j})",
        "{x}.v > {d} AND ({x}.k = {j} OR {x}.n = {i})",
        "({j} = {x}.k OR {x}.n = {i}) AND {d} < {x}.v",
    ),
    ("{x}.v > {d} AND {x}.v > {e}", "{e} < {x}.v AND {x}.v > {d}"),
    ("{x}.v > {d} OR {x}.v >= {e}", "{e} <= {x}.v OR {x}.v > {d}"),
    ("({x}.n > {i}) IS NOT TRUE", "NOT ({i} < {x}.n) IS TRUE"),
    ("COALESCE({x}.n, 0) + 1 > {i}", "{i} < COALESCE({x}.n, 1 - 1) + 1"),
    ("CASE WHEN {x}.n > {i} THEN {x}.v ELSE 0.5 END < {d}", "{d} > CASE WHEN {i} < {x}.n THEN {x}.v ELSE 0.5 END"),
    ("{x}.v / {x}.n > {d}", "{d} < {x}.v / {x}.n"),
    ("{x}.n % 2 = 1", "1 = {x}.n % 2"),
    ("CAST({x}.v AS INT) = {i}", "{i} = CAST({x}.v AS INT)"),
    ("UPPER({x}.s) = 'AB'", "'AB' = UPPER({x}.s)"),
    ("{x}.n > {x}.k", "{x}.k < {x}.n"),
    ("1 = 1", "TRUE", "NOT 1 > 2", "2 BETWEEN 1 AND 3"),
)
RARELY: tuple[Pattern, ...] = (("1 > 2", "FALSE", "NOT 1 = 1"), ("{x}.v > NULL", "NULL < {x}.v"))
WITH_TIME: tuple[Pattern, ...] = (
    ("{x}.ts >= TIMESTAMP '1970-01-01 00:00:0{i}'", "'1970-01-01 00:00:0{i}' <= {x}.ts"),
    ("{x}.ts + INTERVAL 1 sec > TIMESTAMP '1970-01-01 00:00:0{i}'",),
)
ON_TWO: tuple[Pattern, ...] = (
    ("{x}.v < {y}.v", "{y}.v > {x}.v", "NOT {x}.v >= {y}.v"),
    ("{x}.v + {y}.v > {d}", "{d} < {x}.v + {y}.v"),
    ("{x}.s <> {y}.s", "{y}.s != {x}.s", "NOT {y}.s = {x}.s"),
    ("{x}.v > {d} OR {y}.v > {e}", "{e} < {y}.v OR {d} < {x}.v"),
    ("ABS({x}.v - {y}.v) < {d}", "{d} > ABS({x}.v - {y}.v)"),
    ("{x}.n <=> {y}.n", "{y}.n IS NOT DISTINCT FROM {x}.n"),
    ("({x}.n = {y}.n AND {x}.v > {d}) IS NOT FALSE", "({d} < {x}.v AND {y}.n = {x}.n) IS NOT FALSE"),
)
_OUTPUTS = (
    ("{x}.k",),
    ("{x}.v",),
    ("{x}.s",),
    ("{x}.v + {y}.v",),
    ("{x}.v < {y}.v", "{y}.v > {x}.v"),
    ("COALESCE({x}.n, {y}.n)",),
    ("{x}.n * (2 + 1)", "{x}.n * 3"),
)
_GROUPS = (("{x}.k",), ("{x}.s",), ("{x}.n + 1",), ("{x}.v",))
_AGGREGATES = (
    ("COUNT(*)", "count(*)"),
    ("COUNT({x}.n)",),
    ("COUNT(DISTINCT {x}.s)",),
    ("SUM({x}.v)",),
    ("AVG({x}.v) + 1",),
    ("MIN({x}.n)",),
    ("MAX({x}.v) - MIN({y}.v)",),
    ("MIN({x}.v) < MAX({y}.n)", "MAX({y}.n) > MIN({x}.v)"),
)
_HAVING = (
    ("COUNT(*) > {i}", "{i} < COUNT(*)"),
    ("MAX({x}.v) < {d}", "NOT MAX({x}.v) >= {d}"),
    ("MIN({x}.v) < MAX({y}.v)", "MAX({y}.v) > MIN({x}.v)"),
    ("SUM({x}.n) BETWEEN {i} AND {j}", "SUM({x}.n) >= {i} AND {j} >= SUM({x}.n)"),
)
_DURATIONS = ("1 ms", "500 ms", "1 sec", "2 sec", "3 sec", "4500 ms", "1 min")
_COUNTS = ("1", "2", "3", "5", "100")
_ALIASES = ("a", "b", "c", "x", "y", "z", "left_", "B2", "T")

Placed = tuple[Pattern, int, int]
"""A pattern and the inputs that x and y are."""


@dataclass(frozen=True)
class Question:
    """What a family of queries has in common."""

    sources: tuple[str, ...]
    conditions: tuple[Placed, ...]
    outputs: tuple[Placed, ...]
    units: tuple[str, ...]
    groups: tuple[Placed, ...] = ()
    having: tuple[Placed, ...] = ()
    grouped: bool = False
    distinct: bool = False
    slide: str = ""


@dataclass(frozen=True)
class Values:
    """What sets a query of a family apart: constants for each condition, and the windows of its streams."""

    constants: tuple[dict[str, str], ...]
    windows: tuple[str, ...]


def question(rng: random.Random) -> Question:
    """A random question."""
    count = rng.choice((1, 1, 2, 2, 2, 2, 3))
    streams = tuple(rng.choice(STREAMS) for _ in range(count))
    sources = streams + ((rng.choice(RELATIONS),) if count < 3 and rng.random() < 0.3 else ())
    grouped = rng.random() < 0.35
    distinct = not grouped and rng.random() < 0.1
    conditions: list[Placed] = [(rng.choice(KEYS), place - 1, place) for place in range(1, len(sources))]
    if len(sources) > 1 and rng.random() < 0.1:
        conditions.pop()
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        place = rng.randrange(len(sources))
        patterns = (*ON_ONE, *WITH_TIME) if place < count else ON_ONE
        conditions.append((rng.choice(patterns), place, place))
    if len(sources) > 1 and rng.random() < 0.3:
        conditions.append((rng.choice(ON_TWO), *rng.sample(range(len(sources)), 2)))
    if rng.random() < 0.05:
        conditions.append((rng.choice(RARELY), 0, 0))
    rows = "rows" if rng.random() < 0.2 else "time"
    mixed = rng.random() < 0.1
    units = tuple(rng.choice(("rows", "time")) if mixed else rows for _ in streams)
    if len(sources) == 1 and not grouped and not distinct and rng.random() < 0.5:
        units = ("",)

    def some(patterns: tuple[Pattern, ...], most: int) -> tuple[Placed, ...]:
        places = range(len(sources))
        return tuple((rng.choice(patterns), rng.choice(places), rng.choice(places)) for _ in range(most))

    return Question(
        sources=sources,
        conditions=tuple(conditions),
        outputs=some(_AGGREGATES if grouped else _OUTPUTS, rng.randint(1, 3)),
        units=units,
        groups=some(_GROUPS, rng.randrange(3)) if grouped else (),
        having=some(_HAVING, rng.choice((0, 0, 0, 1, 2))) if grouped else (),
        grouped=grouped,
        distinct=distinct,
        slide=rng.choice(("", "1 sec", "700 ms", "3 sec")) if grouped else "",
    )


def values(asked: Question, rng: random.Random) -> Values:
    """Random constants and windows for a question."""
    constants = []
    for _ in range(len(asked.conditions) + len(asked.having) + 1):
        numbers = {name: rng.choice(("0.5", "1.5", "2", "3.5", "-1", "3.0")) for name in "de"}
        whole = {name: rng.choice("0123") for name in "ij"}
        constants.append({**numbers, **whole, "w": rng.choice(("a", "b", "ab"))})
    same = rng.random() < 0.5
    first = rng.choice(_DURATIONS)
    windows = [
        rng.choice(_COUNTS) + " ROWS"
        if unit == "rows"
        else ""
        if not unit
        else first
        if same
        else rng.choice(_DURATIONS)
        for unit in asked.units
    ]
    return Values(tuple(constants), tuple(windows))


def spelled(asked: Question, given: Values, rng: random.Random) -> str:
    """The query in one of the ways it can be written."""
    aliases = rng.sample(_ALIASES, len(asked.sources))

    def text(placed: Placed, constants: dict[str, str] | None = None) -> str:
        pattern, x, y = placed
        return rng.choice(pattern).format(x=aliases[x], y=aliases[y], **(constants or {}))

    def together(conditions: list[str]) -> str:
        return " AND ".join(f"({c})" if " OR " in c or rng.random() < 0.2 else c for c in conditions)

    constants = iter(given.constants)
    conditions = [text(placed, next(constants)) for placed in asked.conditions]
    having = [text(placed, next(constants)) for placed in asked.having]
    group_texts = [text(placed) for placed in asked.groups]
    if group_texts and asked.groups[0][0] in (("{x}.k",), ("{x}.n + 1",)):
        having.append(f"{group_texts[0]} > {next(constants)['i']}")
    rng.shuffle(conditions)
    rng.shuffle(having)
    outputs = [f"{text(placed)} AS o{number}" for number, placed in enumerate(asked.outputs)]
    outputs += [f"{group} AS g{number}" for number, group in enumerate(group_texts)]
    rng.shuffle(group_texts)
    one_window = len(set(given.windows)) == 1 and given.windows[0] and rng.random() < 0.5
    sources = []
    for place, (source, alias) in enumerate(zip(asked.sources, aliases, strict=True)):
        window = given.windows[place] if place < len(given.windows) and not one_window else ""
        unit = f"[ROWS {window.split()[0]}]" if window.endswith("ROWS") else f"[RANGE {window}]" if window else ""
        sources.append(" ".join(part for part in (source, alias, unit) if part))
    rng.shuffle(sources)
    query = f"SELECT {'DISTINCT ' if asked.distinct else ''}{', '.join(outputs)} FROM "
    if len(sources) > 1 and conditions and rng.random() < 0.3:
        query += f"{', '.join(sources[:-1])} JOIN {sources[-1]} ON {together(conditions)}"
    else:
        query += ", ".join(sources) + (f" WHERE {together(conditions)}" if conditions else "")
    query += f" GROUP BY {', '.join(group_texts)}" if group_texts else ""
    query += f" HAVING {together(having)}" if having else ""
    slide = f" SLIDE {asked.slide}" if asked.slide else ""
    window = given.windows[0] if one_window else "1 min" if slide else ""  # a stream's own window wins over it
    return query + (f" WINDOW {window}{slide}" if window else "")


def workload(seed: int) -> dict[str, str]:
    """A set of queries, several to each of a few questions."""
    rng = random.Random(seed)
    queries: dict[str, str] = {}
    for _ in range(rng.randint(1, 3)):
        asked = question(rng)
        for _ in range(rng.randint(1, 4)):
            queries[f"q{len(queries) + 1}"] = spelled(asked, values(asked, rng), rng)
    return queries


def random_row(rng: random.Random) -> dict[str, Value]:
    """Values for the columns all streams and relations have; few keys, one of them frequent; NULL now and then."""

    def maybe(value: Value) -> Value:
        return None if rng.random() < 0.1 else value

    return {
        "k": maybe(rng.choice((0, 1, 1, 1, 2, 3))),
        "v": maybe(rng.randrange(-4, 12) / 2),
        "s": maybe(rng.choice(("a", "b", "ab", "Ab"))),
        "n": maybe(rng.randrange(5)),
    }


def random_rows(seed: int, count: int = 12) -> tuple[dict[str, list], dict[str, list]]:
    """Rows of streams, a few out of order, many at the same time; and rows of relations."""
    rng = random.Random(seed)
    streams = {}
    for stream in STREAMS:
        times = sorted(rng.randrange(14) * SECOND // 2 for _ in range(count))
        for _ in range(2):
            place = rng.randrange(count - 1)
            times[place], times[place + 1] = times[place + 1], times[place]
        streams[stream] = [{**random_row(rng), "ts": ts} for ts in times]
    spans = [sorted(rng.sample(range(9), 2)) for _ in range(5)]
    racks = [{**random_row(rng), "since": begin * SECOND, "until": end * SECOND} for begin, end in spans]
    return streams, {"Racks": racks, "Kinds": [random_row(rng) for _ in range(4)]}
