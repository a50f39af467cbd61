"""What the cost model predicts for each strategy, side by side."""

from __future__ import annotations

from typing import Any

from penstock.compiler.estimate import Estimates
from penstock.compiler.explain.words import number, tally_text
from penstock.compiler.output import TallyLoad, tally_load, with_derived_rates
from penstock.compiler.shared import Member, Shape, SharedPlan
from penstock.compiler.strategies import Prediction, predict
from penstock.compiler.tally import Tally, grain_of, is_tallied, tallied_shape, tallies


def explain_cost(plan: SharedPlan, estimates: Estimates, chosen: str) -> str:
    """State rows and comparisons a second of every join under each sharing strategy; `chosen` is the one in force."""
    estimates = with_derived_rates(plan, estimates)
    lines = [_rates(plan, estimates)]
    for index, join in enumerate(plan.joins, 1):
        scope = f" for {join.scope} alone" if join.scope else ""
        lines.append(f"Join {index}{scope}: {join.name}")
        lines += _table(predict(join, plan, estimates), chosen)
    for index, (tally, load) in enumerate(tally_loads(plan, estimates), 1):
        lines += [f"Aggregates {index}: {_what(tally)}", *_load_lines(load)]
    stateless = [t for t in plan.templates if not t.shape.keeps_state and t.shape.slide is None]
    if stateless:
        count = sum(len(template.members) for template in stateless)
        lines.append(f"{count} {'query keeps' if count == 1 else 'queries keep'} no rows")
    return "\n".join(lines)


def cost_data(plan: SharedPlan, estimates: Estimates) -> list[dict[str, Any]]:
    """The same as lists and dicts, for JSON."""
    estimates = with_derived_rates(plan, estimates)
    joins: list[dict[str, Any]] = [
        {
            "join": join.name,
            "strategies": {
                prediction.strategy: {"state rows": prediction.rows, "comparisons/s": prediction.comparisons}
                for prediction in predict(join, plan, estimates)
            },
        }
        for join in plan.joins
    ]
    return joins + [
        {"aggregates": _what(tally), "partial aggregates": {"state rows": load.kept, **_figures(load)}}
        for tally, load in tally_loads(plan, estimates)
    ]


def tally_loads(plan: SharedPlan, estimates: Estimates) -> list[tuple[Tally, TallyLoad]]:
    """The partial aggregates of a plan and what they cost."""
    asking: dict[tuple[Shape, int], list[tuple[Shape, Member]]] = {}
    for template in plan.templates:
        if is_tallied(template.shape):
            shape = tallied_shape(template.shape)
            for member in template.members:
                own = asking.setdefault((shape, grain_of(template.shape, member)), [])
                own.append((template.shape, member))
    return [
        (tally, tally_load(tally, asking[tally.shape, tally.grain], estimates)) for tally in tallies(plan.templates)
    ]


def _what(tally: Tally) -> str:
    return tally_text(tally) + (f" for {tally.shape.scope} alone" if tally.shape.scope else "")


def _figures(load: TallyLoad) -> dict[str, float]:
    return {
        "combinations added up/s": load.combinations,
        "partial aggregates read/s": load.read,
        "without them, combinations read/s": load.anew,
    }


def _load_lines(load: TallyLoad) -> list[str]:
    return [f"  state rows {number(load.kept)}", *(f"  {name} {number(it)}" for name, it in _figures(load).items())]


def _rates(plan: SharedPlan, estimates: Estimates) -> str:
    streams = sorted({chain.stream for chain in plan.chains})
    shown = [
        f"{stream} {number(estimates.rate(stream))} rows/s{'' if estimates.knows_rate(stream) else ' (assumed)'}"
        for stream in streams
    ]
    return "Rates: " + ", ".join(shown)


def _table(predictions: tuple[Prediction, ...], chosen: str) -> list[str]:
    rows = [("strategy", "state rows", "comparisons/s")]
    for prediction in predictions:
        rows.append((prediction.strategy, predicted(prediction.rows), predicted(prediction.comparisons)))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return [
        f"  {row[0].ljust(widths[0])}  {row[1].rjust(widths[1])}  {row[2].rjust(widths[2])}"
        + ("  ← in force" if row[0] == chosen else "")
        for row in rows
    ]


def predicted(value: float | None) -> str:
    """A predicted figure."""
    return "not counted" if value is None else number(value)
