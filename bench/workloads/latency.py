"""How soon results are there: at fixed rates while rows arrive, and how long small steps take."""

from __future__ import annotations

from penstock.bench.core import Case, Found, Plot, Setting, Shown, Table, Workload, median_and_spread, number, times
from penstock.bench.data import make_pair
from penstock.bench.pairs import Pair, duckdb_job, penstock_job, spark_job

LIVE = "penstock.bench.systems.live"
SMALL = 60_000
"""The window of the small steps, in milliseconds."""


def rates(setting: Setting) -> tuple[int, ...]:
    """Rows a second of each stream."""
    return setting.pick((1_000, 10_000, 40_000, 80_000), (1_000, 20_000), (100,))


def counts(setting: Setting) -> tuple[int, ...]:
    """How many queries."""
    return setting.pick((1, 10, 100), (1, 10), (1,))


def span(setting: Setting) -> tuple[int, int]:
    """For how many seconds rows arrive, and of how many results do not count."""
    return setting.pick((30, 10), (15, 5), (4, 1))


def small_steps(setting: Setting) -> tuple[int, int]:
    """Rows a second of each stream and seconds of the small steps."""
    return setting.pick((1_000, 70), (1_000, 30), (100, 4))


def pairs_of(count: int, longest: int) -> list[Pair]:
    """Windows from a fifth of the longest on; half of the queries select by one stream, half by the other."""
    if count == 1:
        return [Pair("q0", longest)]
    found = []
    for place in range(count):
        window = round(longest * (1 + 4 * place / (count - 1)) / 5)
        condition = f"a.v >= {90 - place * 0.01:.2f}" if place % 2 else f"b.v <= {10 + place * 0.01:.2f}"
        found.append(Pair(f"q{place}", window, condition))
    return found


def cases(setting: Setting) -> list[Case]:
    """Live runs once at every rate, and small steps in rounds."""
    seconds, skip = span(setting)
    small = setting.scratch / "warm"
    make_pair(small, rate=100, seconds=skip, keys=1_000, per_file=1)
    found: list[Case] = []
    for rate in rates(setting):
        data, keys = setting.scratch / f"live-{rate}", rate * 20
        warm = None if found else {"data": str(small), "skip": 0}
        make_pair(data, rate=rate, seconds=seconds, keys=keys, per_file=1)
        more = {"data": str(data), "every": 1.0, "skip": skip}
        for count in counts(setting):
            pairs, answers = pairs_of(count, 10_000), f"live, {rate}, {count}"
            job = {**penstock_job(data, pairs, rate=rate, keys=keys), **more}
            first = None if found else warm
            own = Case(
                f"penstock {answers}", "penstock", job, call=f"{LIVE}:run", warm=first, answers=answers, rounds=1
            )
            found += [own, Case(f"duckdb {answers}", "duckdb", duckdb_job(data, pairs), answers=answers, rounds=1)]
        answers = f"live, {rate}, 1"
        job = {**spark_job(data, pairs_of(1, 10_000)), **more}
        found.append(Case(f"spark {answers}", "spark", job, call=f"{LIVE}:spark", warm=warm, answers=answers, rounds=1))
    rate, seconds = small_steps(setting)
    data, keys = setting.scratch / "steps", rate * 50
    make_pair(data, rate=rate, seconds=seconds, keys=keys, per_file=1)
    for count in (1, 10):
        pairs, answers = pairs_of(count, SMALL), f"steps, {count}"
        job = penstock_job(data, pairs, rate=rate, keys=keys, files=1, step_rows=2 * rate)
        found.append(Case(f"penstock {answers}", "penstock", job, answers=answers))
        found.append(Case(f"duckdb {answers}", "duckdb", duckdb_job(data, pairs), answers=answers, rounds=1))
    job = spark_job(data, pairs_of(1, SMALL))
    found.append(Case("spark steps, 1", "spark", job, answers="steps, 1"))
    return found


def show(setting: Setting, found: Found) -> Shown:
    """Latencies by rate, and the time of small steps."""
    lines: list[tuple[str, ...]] = []
    series: dict[str, list[tuple[float | str, float]]] = {}
    systems = [("Penstock", "penstock", count) for count in counts(setting)] + [("Spark's own join", "spark", 1)]
    figures: dict[str, float | None] = {}
    for title, system, count in systems:
        for rate in rates(setting):
            one = found.get(f"{system} live, {rate}, {count}")
            if one is None:
                continue
            median, sustained = one.median(), one.last("sustained")
            if median is not None and sustained:
                series.setdefault(f"{title}, N = {count}", []).append((rate, median))
                figures[f"sustained {system} {count}"] = rate
            cells = (number(median, 2), number(one.median("p95"), 2), number(one.median("worst"), 2))
            lines.append((title, f"{count}", f"{rate:,}", *cells, "yes" if sustained else one.remark or "no"))
    header = ("", "queries", "rows/s a stream", "median s", "95 %", "worst", "keeps up")
    note = (
        "From the arrival of a file, one a second for each stream, to the commit of its results. Windows of up to 10 s."
    )
    tables = [Table("latency", "From arrival to result", header, lines, note), _steps(setting, found, figures)]
    plot = Plot("latency", "From arrival to result", "rows/s a stream", "median, s", series, log_x=True)
    return Shown(tables=tables, figures=figures, plots=[plot])


def _steps(setting: Setting, found: Found, figures: dict[str, float | None]) -> Table:
    rate, seconds = small_steps(setting)
    names = {"penstock steps, 1": "Penstock, 1 query", "penstock steps, 10": "Penstock, 10 queries",
             "spark steps, 1": "Spark's own join, 1 query"}  # fmt: skip
    lines = [
        (
            title,
            median_and_spread(found.get(name), "step", 3),
            times(found.ratio(name, "spark steps, 1", "step")),
            median_and_spread(found.get(name)),
        )
        for name, title in names.items()
        if name in found
    ]
    figures["step 1"] = found.ratio("penstock steps, 1", "spark steps, 1", "step")
    figures["step 10"] = found.ratio("penstock steps, 10", "spark steps, 1", "step")
    title = f"Small steps: {rate:,} rows/s a stream, a second of data in each, window 60 s, {seconds} s"
    return Table(
        "latency_steps", title, ("", "median step, s", "to Spark's", "all, s"), lines, "Medians of the second half."
    )


WORKLOAD = Workload(
    "latency", "Latency", "from arrival to result at fixed rates, and the time of small steps", cases, show
)
