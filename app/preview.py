"""What a migration would do, before it does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.api import CompiledQueries
from penstock.compiler.diff import diff
from penstock.compiler.explain.words import listed, number
from penstock.compiler.program import Program
from penstock.compiler.strategies import predicted_rows, predicted_work

if TYPE_CHECKING:
    from penstock.compiler.warm import Start
    from penstock.session import Session


def preview(session: Session, program: Program) -> str:
    """The queries that come, change and go, the stages, and what the cost model predicts before and after."""
    before = session.in_force
    after = before.changed(program)
    lines = [_changes(before, after)]
    stages = diff(before.physical, after.physical)
    lines += [f"  {stage}" for stage in stages]
    lines += _predictions(before, after)
    new = [name for name in after if name not in before or before[name].logical != after[name].logical]
    starts = session.starts_under(after)
    lines += [f"  {name}: {_start(name, starts)}" for name in new[:20]]
    lines += [f"  and {len(new) - 20} more"] if len(new) > 20 else []
    return "\n".join(lines)


def _changes(before: CompiledQueries, after: CompiledQueries) -> str:
    come = [name for name in after if name not in before]
    altered = [name for name in after if name in before and before[name].logical != after[name].logical]
    gone = [name for name in before if name not in after]
    parts = [
        f"{word} {listed(names)}" for word, names in (("adds", come), ("changes", altered), ("drops", gone)) if names
    ]
    if before.settings != after.settings:
        old = before.settings.shown()
        parts += [f"sets {key} to {value}" for key, value in after.settings.shown().items() if old[key] != value]
    return f"The migration {', '.join(parts)}:" if parts else "Nothing changes."


def _predictions(before: CompiledQueries, after: CompiledQueries) -> list[str]:
    rows = [predicted_rows(q.shared, after.estimates) for q in (before, after)]
    work = [predicted_work(q.shared, after.estimates, q.settings.sharing) for q in (before, after)]
    return [
        f"  predicted state: {number(rows[0])} rows before, {number(rows[1])} after",
        f"  predicted work: {_figure(work[0])} before, {_figure(work[1])} after",
    ]


def _figure(value: float | None) -> str:
    return "not counted" if value is None else f"{number(value)} comparisons/s"


def _start(name: str, starts: Mapping[str, Start]) -> str:
    from penstock.runtime.metrics import complete_from

    text = complete_from(starts[name])
    if text is None:
        return "complete some time after the rows that are being read"
    return "complete from the start" if text == "the start" else f"complete from {text}"
