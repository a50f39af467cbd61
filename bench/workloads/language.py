"""Sliding aggregates beside the join they are made from, and a star-streaming join with and without pre-filtering."""

from __future__ import annotations

from pathlib import Path

import duckdb

from penstock.bench.core import Case, Found, Job, Setting, Shown, Table, Workload, median_and_spread, number, times
from penstock.bench.data import BEGIN, make_pair
from penstock.bench.pairs import Pair, penstock_job

WINDOWS = (15, 20, 25, 30, 35, 40, 45, 50, 55, 60)
SUMS = "COUNT(*) AS n, SUM(a.v) AS total, MAX(b.v) AS most"
AGGREGATES = {
    "the join alone": 0,
    "one aggregate, 60 s, every second": 1,
    "ten aggregates, 15 to 60 s, every second": len(WINDOWS),
}
STAR = "SELECT a.k, a.v, b.v AS w FROM a, b, facts f WHERE a.k = f.ak AND b.k = f.bk"


def sizes(setting: Setting) -> tuple[int, int, int]:
    """Rows a second of each stream, seconds, keys."""
    return setting.pick((20_000, 60, 1_000_000), (10_000, 30, 500_000), (200, 5, 500))


def grouped(having: int, window: int) -> str:
    """A sliding aggregate for Penstock."""
    return (
        f"SELECT a.k % 100 AS part, {SUMS} FROM a, b WHERE a.k = b.k GROUP BY a.k % 100 "
        f"HAVING COUNT(*) > {having} WINDOW {window} sec SLIDE 1 sec"
    )


def duck_grouped(having: int, window: int) -> str:
    """The same for DuckDB: a combination counts at every second at which all its rows are in the window."""
    instants = (
        "unnest(range((greatest(epoch_us(ats), epoch_us(bts)) + 999999) // 1000000, "
        f"(least(epoch_us(ats), epoch_us(bts)) + {window * 1_000_000} + 999999) // 1000000))"
    )
    return (
        f"SELECT part, t, count(*) AS n FROM (SELECT k % 100 AS part, {instants} AS t FROM met) "
        f"GROUP BY part, t HAVING count(*) > {having}"
    )


def make_facts(path: Path, keys: int, seconds: int) -> None:
    """A relation that holds a twentieth of the keys, each for 40 seconds."""
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        db.execute(
            f"""
            COPY (
                SELECT (i * 20)::BIGINT AS ak, (i * 20 + 1)::BIGINT AS bk,
                       make_timestamptz(({BEGIN} + hash(i) % {seconds})::BIGINT * 1000000) AS since,
                       make_timestamptz(({BEGIN} + hash(i) % {seconds} + 40)::BIGINT * 1000000) AS until
                FROM range({keys // 20}) r(i)
            ) TO '{path}' (FORMAT parquet)
            """
        )


def cases(setting: Setting) -> list[Case]:
    """Aggregates over all that there is, every window closed; and the star-streaming join."""
    rate, seconds, keys = sizes(setting)
    data = setting.scratch / "aggregates"
    make_pair(data, rate=rate, seconds=seconds, keys=keys)
    join = Pair("q", 60_000)
    files = {name: f"{data / name}/*.parquet" for name in "ab"}
    found = []
    for name, count in AGGREGATES.items():
        texts = (
            {f"q{n}": grouped(n, window) for n, window in enumerate(WINDOWS[-count:])} if count else {"q": join.text}
        )
        questions = (
            {f"q{n}": duck_grouped(n, w) for n, w in enumerate(WINDOWS[-count:])} if count else {"q": "FROM met"}
        )
        job: Job = {
            **penstock_job(data, (), rate=rate, keys=keys, files=4),
            "texts": texts,
            "drain": True,
            "check": None,
        }
        judge = {"streams": files, "setup": [f"CREATE TEMP TABLE met AS {join.duck}"], "questions": questions}
        found.append(Case(name, "penstock", job, warm={}, answers=name))
        found.append(Case(f"duckdb, {name}", "duckdb", judge, answers=name, rounds=1))
    return found + _star_cases(setting)


def _star_cases(setting: Setting) -> list[Case]:
    rate, seconds, _ = sizes(setting)
    rate, keys = rate // 2, rate
    data, facts = setting.scratch / "star", setting.scratch / "facts.parquet"
    make_pair(data, rate=rate, seconds=seconds, keys=keys)
    make_facts(facts, keys, seconds)
    relation = {
        "schema": {"ak": "bigint", "bk": "bigint", "since": "timestamp", "until": "timestamp"},
        "valid": ["since", "until"],
        "source": {"format": "parquet", "path": str(facts)},
    }
    found = []
    for name in ("on", "off"):
        job = penstock_job(data, (), rate=rate, keys=keys, files=1, step_rows=10 * rate)
        job |= {"texts": {"q": f"{STAR} WINDOW 60 sec"}, "relations": {"facts": relation}}
        job |= {"settings": {"prefilter": name}, "check": "k"}
        found.append(Case(f"pre-filtering {name}", "penstock", job, warm={}, answers="star"))
    streams = {**{name: f"{data / name}/*.parquet" for name in "ab"}, "facts": str(facts)}
    # Left to itself it would join the streams first, by their times.
    first = "SELECT a.*, f.* EXCLUDE ak FROM a JOIN facts f ON a.k = f.ak AND a.ts >= f.since AND a.ts < f.until"
    question = (
        "SELECT x.k, x.v, b.v AS w FROM x JOIN b ON b.k = x.bk "
        "WHERE b.ts >= x.since AND b.ts < x.until AND abs(epoch_ms(x.ts) - epoch_ms(b.ts)) < 60000"
    )
    judge = {
        "streams": streams,
        "setup": [f"CREATE TEMP TABLE x AS {first}"],
        "questions": {"q": question},
        "check": "k",
    }
    found.append(Case("duckdb, star", "duckdb", judge, answers="star", rounds=1))
    return found


def show(setting: Setting, found: Found) -> Shown:
    """What aggregates cost beside their join; what pre-filtering saves."""
    rate, seconds, _ = sizes(setting)
    base = next(iter(AGGREGATES))
    lines = [
        (name, median_and_spread(found[name]), times(found.ratio(name, base)), _results(found, name))
        for name in AGGREGATES
        if name in found
    ]
    title = f"Sliding aggregates over a join of {2 * rate * seconds:,} rows, window 60 s"
    aggregates = Table("aggregates", title, ("", "seconds", "to the join", "results"), lines)
    names = [name for name in ("pre-filtering on", "pre-filtering off") if name in found]
    star_lines = [
        (name, median_and_spread(found[name]), number(found[name].last("state_rows")), _results(found, name))
        for name in names
    ]
    title = f"A star-streaming join of {rate * seconds:,} rows; the relation holds a twentieth of the keys"
    star = Table("star", title, ("", "seconds", "most state rows", "results"), star_lines)
    figures = {name: found.ratio(name, base) for name in list(AGGREGATES)[1:]}
    figures["pre-filtering"] = found.ratio("pre-filtering off", "pre-filtering on")
    return Shown(tables=[aggregates, star], figures=figures)


def _results(found: Found, name: str) -> str:
    return number(sum(found[name].last("results", {}).values()))


WORKLOAD = Workload(
    "language",
    "Aggregates and relations",
    "sliding aggregates beside their join; pre-filtering by relations",
    cases,
    show,
)
