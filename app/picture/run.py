"""What a run has measured, as a picture shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.api import CompiledQueries
    from penstock.session import Session

Row = Mapping[str, Any]
_STEPS = 60
"""So many steps are looked back at."""


@dataclass(frozen=True)
class Run:
    """The state after a step, and how long the last ones took."""

    step: int
    version: int
    """The version of the plan in force."""
    is_other_plan: bool
    """Whether the plan in force is another one than the one that is drawn."""
    streams: Mapping[str, Row]
    """The rows of SHOW STREAMS."""
    slices: Mapping[tuple[str, int, int], tuple[int, int]]
    """How many rows and chunks are in a slice, by the chain's operator and the slice's ends."""
    kept: Mapping[str, int]
    """How many rows an operator keeps."""
    results: Mapping[str, int]
    """The number of results of each query, where they are counted."""
    steps: tuple[Row, ...] = ()
    """The last steps, as the metrics note them."""

    @property
    def seconds(self) -> float | None:
        """How long one of the last steps took, as a rule."""
        return median(step["seconds"] for step in self.steps) if self.steps else None

    @property
    def rows_a_second(self) -> float | None:
        """How many rows the last steps took in a second of their own time."""
        seconds = sum(step["seconds"] for step in self.steps)
        return sum(sum(step["rows"].values()) for step in self.steps) / seconds if seconds else None


def measured_run(session: Session, queries: CompiledQueries) -> Run | None:
    """What the run of a session has measured, by the operators of some queries' plan; None before its first step."""
    from penstock.compiler.diff import diff
    from penstock.compiler.physical import KeepChain
    from penstock.runtime.metrics import chunks_of_slices, read_steps, rows_of, stream_table

    plan, (state, _) = queries.physical, session.state()
    if not state.step:
        return None
    keepers = [keeper for keeper in plan.of_kind(KeepChain) if keeper.chain.slices]
    folder = session.folder.metrics
    return Run(
        state.step,
        state.plan,
        bool(diff(session.in_force.physical, plan)),
        {row["stream"]: row for row in stream_table(plan, state)},
        {
            (keeper.id, *ends): (rows_of(chunks), len(chunks))
            for keeper in keepers
            for ends, chunks in chunks_of_slices(keeper, state).items()
        },
        {operator.id: rows_of(state.chains.get(operator.id, ())) for operator in plan.operators},
        {name: count for name, count in state.counts.items() if name in plan.queries},
        tuple(read_steps(folder, _STEPS)) if folder is not None else (),
    )
