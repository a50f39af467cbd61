"""The experiments of the State-Slice paper: how strategies compare (its table 3), and kinds of chains (its table 4).

Three queries with windows W1 < W2 < W3 share a join; the second and third have the same selection on one stream. State
is measured with small steps, at a rate that leaves few rows to chance, and compared with the cost model; the service
rate with the paper's rates, as fast as it goes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from penstock.bench.core import Case, Found, Plot, Setting, Shown, Table, Workload, median_and_spread, number, ratio
from penstock.bench.data import BEGIN
from penstock.bench.pairs import Pair, duckdb_job, penstock_job
from penstock.compiler.cost import sharing_cost
from penstock.compiler.cost.table3 import S_JOIN, S_SIGMA, WINDOWS, three_queries

STRATEGIES = ("pull-up", "push-down", "slice")
CHAINS = {
    "uniform": tuple(2.5 * n for n in range(1, 13)),
    "mostly-small": (*range(1, 11), 20, 30),
    "small-large": (*range(1, 7), *range(25, 31)),
}
"""Table 4's windows of 12 queries, in seconds."""
OF_CHAINS = 0.025
"""The join selectivity of table 4's queries."""
STEP = 0.5
"""Where state is measured a step is so many seconds long: rows are kept for up to a step longer than they must be."""
Series = list[tuple[float | str, float]]


def streams(folder: Path, rate: int, seconds: int, join_selectivity: float, per_file: float) -> Path:
    """Two streams whose rows match with a probability, and whose values are spread as evenly as can be."""
    count = math.ceil(1 / join_selectivity - 1e-9)
    small = (count - 1 - math.sqrt(max(0.0, (count - 1) * (count * join_selectivity - 1)))) / (count * (count - 1))
    large = 1 - (count - 1) * small
    for seed, name in enumerate("ab"):
        (folder / name).mkdir(parents=True)
        with duckdb.connect() as db:
            db.execute("SET timezone = 'UTC'")
            step = round(rate * per_file)
            for first in range(0, seconds * rate, step):
                rows = f"range({first}, {min(first + step, seconds * rate)}) r(i)"
                db.execute(
                    f"""
                    COPY (
                        SELECT make_timestamptz(({BEGIN} * 1000::BIGINT + i * 1000 // {rate}) * 1000) AS ts,
                               IF(u < {large}, 0, 1 + least({count - 2}, floor((u - {large}) / {small})))::BIGINT AS k,
                               floor((i * 0.6180339887498949 % 1) * 1000000) / 10000 AS v
                        FROM (SELECT i, (hash(i, {seed}) % 1000000) / 1e6 AS u FROM {rows})
                    ) TO '{folder / name / f"{first:07}.parquet"}' (FORMAT parquet)
                    """
                )
    return folder


def queries(windows: Sequence[float], s_sigma: float | None = None) -> list[Pair]:
    """A query for each window; all but the first have the selection, if there is one."""
    selection = "" if s_sigma is None else f"a.v >= {100 * (1 - s_sigma):g}"
    return [Pair(f"q{n}", round(w * 1000), selection if n else "") for n, w in enumerate(windows)]


def chain_windows(name: str, count: int) -> list[float]:
    """The windows of so many queries, distributed like table 4's twelve."""
    printed = (0.0, *map(float, CHAINS[name]))
    places = [n * 12 / count for n in range(1, count + 1)]
    return [printed[math.ceil(p) - 1] + (p % 1 or 1) * (printed[math.ceil(p)] - printed[math.ceil(p) - 1])
            for p in places]  # fmt: skip


def state_size(setting: Setting) -> tuple[int, int]:
    """Rows a second and seconds, where state is measured."""
    return setting.pick((40, 36), (40, 36), (20, 34))


def service_size(setting: Setting) -> tuple[int, int]:
    """Rows a second and seconds, where the service rate is measured; the paper has 20 to 80 rows/s for 90 s."""
    return setting.pick((80, 90), (80, 60), (20, 40))


def state_settings(setting: Setting) -> list[tuple[str, float, float, str]]:
    """Windows, selectivity, join selectivity, strategy: all 27 sliced; the others at the middle ones."""
    sigmas = setting.pick(S_SIGMA, (0.5,), (0.5,))
    joins = setting.pick(S_JOIN, (0.1,), (0.1,))
    names = setting.pick(tuple(WINDOWS), tuple(WINDOWS), ("uniform",))
    return [
        (name, sigma, join, strategy)
        for name in names
        for sigma in sigmas
        for join in joins
        for strategy in STRATEGIES
        if strategy == "slice" or (join == 0.1 and sigma == 0.5)
    ]


def service_settings(setting: Setting) -> list[tuple[str, float]]:
    """Windows and join selectivities."""
    names = setting.pick(tuple(WINDOWS), ("uniform",), ("uniform",))
    return [(name, join) for name in names for join in setting.pick((0.025, 0.4), (0.1,), (0.1,))]


def chain_settings(setting: Setting) -> list[tuple[str, int]]:
    """Distributions of windows and numbers of queries."""
    names = setting.pick(tuple(CHAINS), ("small-large",), ("small-large",))
    return [(name, count) for name in names for count in setting.pick((12, 24, 36), (12, 36), (12,))]


def cases(setting: Setting) -> list[Case]:
    """The three experiments."""
    found: list[Case] = []
    rate, seconds = state_size(setting)
    fine = {join: setting.scratch / f"fine-{join}" for join in {join for _, _, join, _ in state_settings(setting)}}
    for join, data in fine.items():
        streams(data, rate, seconds, join, STEP)
    judged = set()
    for name, sigma, join, strategy in state_settings(setting):
        pairs, answers = queries(WINDOWS[name], sigma), f"{name}, {sigma}, {join}"
        keys = round(1 / join)
        more: dict[str, Any] = {"files": 1, "step_rows": round(2 * rate * STEP), "settings": {"sharing": strategy}}
        job = penstock_job(fine[join], pairs, rate=rate, keys=keys, **more)
        found.append(Case(f"state, {answers}, {strategy}", "penstock", job, answers=f"state, {answers}", rounds=1))
        if answers not in judged:
            judged.add(answers)
            judge = duckdb_job(fine[join], pairs)
            found.append(Case(f"duckdb state, {answers}", "duckdb", judge, answers=f"state, {answers}", rounds=1))
    rate, seconds = service_size(setting)
    coarse = {
        join: setting.scratch / f"coarse-{join}" for join in {*dict(service_settings(setting)).values(), 0.4, 0.1}
    }
    for join in coarse:
        streams(coarse[join], rate, seconds, join, 15)
    for name, join in service_settings(setting):
        pairs, answers = queries(WINDOWS[name], 0.5), f"service, {name}, {join}"
        for strategy in STRATEGIES:
            more = {"files": 1, "step_rows": 2 * rate * 15, "settings": {"sharing": strategy}}
            job = penstock_job(coarse[join], pairs, rate=rate, keys=round(1 / join), **more)
            found.append(Case(f"{answers}, {strategy}", "penstock", job, warm={}, answers=answers))
        found.append(Case(f"duckdb {answers}", "duckdb", duckdb_job(coarse[join], pairs), answers=answers, rounds=1))
    return found + _chain_cases(setting)


def _chain_cases(setting: Setting) -> list[Case]:
    rate, seconds = service_size(setting)
    data = streams(setting.scratch / "chains", rate, seconds, OF_CHAINS, 5)
    found = []
    for name, count in chain_settings(setting):
        pairs, answers = queries(chain_windows(name, count)), f"chain, {name}, {count}"
        for objective in ("memory", "cpu"):
            more: dict[str, Any] = {
                "files": 1,
                "step_rows": 2 * rate * 5,
                "settings": {"objective": objective},
                "slices": True,
            }
            job = penstock_job(data, pairs, rate=rate, keys=round(1 / OF_CHAINS), **more)
            found.append(Case(f"{answers}, {objective}", "penstock", job, warm={}, answers=answers))
        found.append(Case(f"duckdb {answers}", "duckdb", duckdb_job(data, pairs), answers=answers, rounds=1))
    return found


def measured_state(setting: Setting, found: Found, name: str) -> float | None:
    """The rows kept on average, from when the longest window is full."""
    one = found.get(name)
    if one is None or not one.is_valid:
        return None
    rows = one.last("state_rows_by_step")[round(31 / STEP) :]
    return sum(rows) / len(rows) if rows else None


def show(setting: Setting, found: Found) -> Shown:
    """State against the model, and the service rates of strategies and of chains."""
    tables, plots, figures = [], [], dict[str, float | None]()
    rate, _ = state_size(setting)
    lines: list[tuple[str, ...]] = []
    deviations: list[float | None] = []
    savings: list[float] = []
    bars: dict[str, Series] = {strategy: [] for strategy in STRATEGIES}
    for name, sigma, join, strategy in state_settings(setting):
        model = sharing_cost(three_queries(WINDOWS[name], sigma, join, rate), strategy).memory
        kept = measured_state(setting, found, f"state, {name}, {sigma}, {join}, {strategy}")
        deviation = abs(kept / model - 1) if kept is not None else None
        if strategy == "slice":
            deviations.append(deviation)
        if join == 0.1 and sigma == 0.5 and kept is not None:
            bars[strategy].append((name, kept))
        pulled = measured_state(setting, found, f"state, {name}, 0.5, 0.1, pull-up")
        saved = 1 - kept / pulled if kept is not None and pulled else None
        if strategy == "slice" and saved is not None:
            savings.append(saved)
        cells = (number(model), number(kept), _percent(deviation), _percent(saved))
        lines.append((name, f"{sigma}", f"{join}", strategy, *cells))
    if deviations and None not in deviations:
        figures["worst deviation"] = max(value for value in deviations if value is not None)
    header = ("windows", "Sσ", "S⋈", "strategy", "rows by the model", "rows kept", "deviation", "less than pull-up")
    note = "Rows kept after a step, on average, from when the longest window is full. The paper saves 20 to 30 %."
    note += f" Here slicing saves {_percent(min(savings))} to {_percent(max(savings))}." if savings else ""
    title = f"State of three queries, {rate} rows/s a stream, a step for every {STEP} s"
    tables.append(Table("state_slice_memory", title, header, lines, note))
    plots.append(Plot("state_slice_memory", "State of three queries, Sσ 0.5, S⋈ 0.1", "windows", "rows", bars, "bars"))
    tables.append(_service_table(setting, found, figures))
    tables.append(_chain_table(setting, found, figures))
    return Shown(tables=tables, figures=figures, plots=plots)


def _service_table(setting: Setting, found: Found, figures: dict[str, float | None]) -> Table:
    rate, seconds = service_size(setting)
    lines: list[tuple[str, ...]] = []
    for name, join in service_settings(setting):
        own = f"service, {name}, {join}"
        for strategy in STRATEGIES:
            one = found.get(f"{own}, {strategy}")
            results = sum(one.last("results", {}).values()) if one else None
            served = ratio(results, one.median() if one else None)
            faster = found.ratio(f"{own}, {strategy}", f"{own}, slice")
            lines.append((name, f"{join}", strategy, median_and_spread(one, digits=2), number(served), _more(faster)))
        figures[own] = found.ratio(f"{own}, pull-up", f"{own}, slice")
    header = ("windows", "S⋈", "strategy", "seconds", "results/s", "slicing serves more by")
    note = "The paper's plans compare row by row: there slicing serves up to 40 % more."
    title = f"Service rate of three queries, {rate} rows/s a stream, {seconds} s, Sσ 0.5"
    return Table("state_slice_service", title, header, lines, note)


def _chain_table(setting: Setting, found: Found, figures: dict[str, float | None]) -> Table:
    rate, seconds = service_size(setting)
    lines: list[tuple[str, ...]] = []
    for name, count in chain_settings(setting):
        own = f"chain, {name}, {count}"
        for objective in ("memory", "cpu"):
            one = found.get(f"{own}, {objective}")
            slices = len({(row["from"], row["to"]) for row in one.last("slices", [])}) if one else None
            more = _more(found.ratio(f"{own}, memory", f"{own}, cpu")) if objective == "cpu" else ""
            lines.append((name, f"{count}", objective, number(slices), median_and_spread(one, digits=2), more))
        figures[own] = found.ratio(f"{own}, memory", f"{own}, cpu")
    header = ("windows", "queries", "objective", "slices", "seconds", "serves more by")
    title = f"Chains for the least memory or the least work, {rate} rows/s a stream, {seconds} s"
    return Table("state_slice_chains", title, header, lines, "In the paper the latter serves 20 to 30 % more.")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _more(value: float | None) -> str:
    return "–" if value is None else f"{100 * (value - 1):.0f} %"


WORKLOAD = Workload(
    "state_slice",
    "The experiments of State-Slice",
    "state and service rate of the sharing strategies, and of chains for the least memory or the least work",
    cases,
    show,
)
