"""What the cost model predicts for each strategy, side by side."""

from __future__ import annotations

from typing import Any

from penstock.compiler.estimate import Estimates
from penstock.compiler.explain.words import number
from penstock.compiler.shared import SharedPlan
from penstock.compiler.strategies import Prediction, predict


def explain_cost(plan: SharedPlan, estimates: Estimates, chosen: str) -> str:
    """State rows and comparisons a second of every join under each sharing strategy; `chosen` is the one in force."""
    lines = [_rates(plan, estimates)]
    for index, join in enumerate(plan.joins, 1):
        scope = f" for {join.scope} alone" if join.scope else ""
        lines.append(f"Join {index}{scope}: {join.name}")
        lines += _table(predict(join, plan, estimates), chosen)
    stateless = [t for t in plan.templates if not t.shape.keeps_state]
    if stateless:
        count = sum(len(template.members) for template in stateless)
        lines.append(f"{count} {'query keeps' if count == 1 else 'queries keep'} no rows")
    return "\n".join(lines)


def cost_data(plan: SharedPlan, estimates: Estimates) -> list[dict[str, Any]]:
    """The same as lists and dicts, for JSON."""
    return [
        {
            "join": join.name,
            "strategies": {
                prediction.strategy: {"state rows": prediction.rows, "comparisons/s": prediction.comparisons}
                for prediction in predict(join, plan, estimates)
            },
        }
        for join in plan.joins
    ]


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
        rows.append((prediction.strategy, _figure(prediction.rows), _figure(prediction.comparisons)))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return [
        f"  {row[0].ljust(widths[0])}  {row[1].rjust(widths[1])}  {row[2].rjust(widths[2])}"
        + ("  ← in force" if row[0] == chosen else "")
        for row in rows
    ]


def _figure(value: float | None) -> str:
    return "not counted" if value is None else number(value)
