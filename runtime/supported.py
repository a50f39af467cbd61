"""What cannot be run yet, said before a run begins."""

from __future__ import annotations

from penstock.compiler.logical import RelationScan
from penstock.compiler.physical import PhysicalPlan, Route
from penstock.compiler.shared import Shape
from penstock.grammar.errors import PenstockError, raise_all


def refuse_unsupported(plan: PhysicalPlan) -> None:
    """Raise an error for every query that compiles but does not run yet."""
    errors = []
    for route in plan.of_kind(Route):
        what = _unsupported(route.shape)
        if what:
            for member in route.members:
                errors.append(
                    PenstockError(
                        f"the query '{member.query}' compiles, but {what} cannot be run yet",
                        hint="Take it out of the project to run the others.",
                        label="not-yet",
                    )
                )
    raise_all(errors)


def _unsupported(shape: Shape) -> str:
    if shape.slide is not None:
        return "aggregates"
    if any(isinstance(scan, RelationScan) for scan in shape.inputs):
        return "joins with relations"
    if "rows" in shape.units:
        return "windows of a number of rows"
    if any(scan.derived for _, scan in shape.streams):
        return "queries over other queries"
    return ""
