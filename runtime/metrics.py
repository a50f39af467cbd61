"""Metrics of every step, as lines of JSON, and what they and the log say about a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.compiler.explain.words import age
from penstock.compiler.physical import AggregateWindows, Ingest, KeepChain, PhysicalPlan
from penstock.compiler.warm import EVER, Start
from penstock.runtime.chunks import Chunk
from penstock.runtime.log import State

if TYPE_CHECKING:
    from penstock.runtime.engine import StepReport

Table = list[dict[str, Any]]


class Metrics:
    """Writes a line for every step into `<state>/metrics/`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{datetime.now(UTC):%Y%m%d}.jsonl"

    def add(self, report: StepReport, state: State) -> None:
        """Note a step."""
        line = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "plan": state.plan,
            **asdict(report),
            "state_rows": {chain: rows_of(chunks) for chain, chunks in state.chains.items()},
            "chunks": {chain: len(chunks) for chain, chunks in state.chains.items()},
            "watermarks": {name: stream.high for name, stream in state.streams.items()},
            "late": {name: stream.late for name, stream in state.streams.items()},
            "unreadable": {name: stream.unreadable for name, stream in state.streams.items()},
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def read_steps(folder: Path, most: int) -> Table:
    """What was noted of the last steps, the latest one last; a line that is only half written is left out."""
    files = sorted(folder.glob("*.jsonl"), reverse=True)
    texts = (text for file in files for text in reversed(file.read_text("utf-8", "replace").splitlines()))
    found = (line for text in texts if (line := _line(text)) is not None)
    return list(islice(found, most))[::-1]


def _line(text: str) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def stream_table(plan: PhysicalPlan, state: State) -> Table:
    """Every stream: rows taken, how far in event time, rows set aside."""
    names = sorted({op.stream for op in plan.of_kind(Ingest) if not op.derived})
    table = []
    for name in names:
        known = state.streams.get(name)
        table.append(
            {
                "stream": name,
                "rows": known.rows if known else 0,
                "up to": moment(known.high) if known and known.high is not None else None,
                "late": known.late if known else 0,
                "unreadable": known.unreadable if known else 0,
            }
        )
    return table


def query_table(plan: PhysicalPlan, state: State, starts: Mapping[str, Start]) -> Table:
    """Every query, the number of its results so far if they are counted, and since when it is complete."""
    return [
        {
            "query": name,
            "results": state.counts.get(name),
            "complete from": complete_from(starts[name]) if name in starts else None,
        }
        for name in plan.queries
    ]


def complete_from(start: Start) -> str | None:
    """The time from which on a query's answer is complete, for people; None if it is not known yet."""
    time = start.complete
    if time is None:
        return None
    return "the start" if time == EVER else moment(time, exact=True)


def slice_table(plan: PhysicalPlan, state: State) -> Table:
    """Every slice of every chain and about how many rows are in it."""
    return [
        {
            **_where(keeper),
            "from": age(keeper.chain, start) if start else "0",
            "to": age(keeper.chain, end),
            "chunks": len(chunks),
            "rows": rows_of(chunks),
        }
        for keeper in _keepers(plan)
        for (start, end), chunks in chunks_of_slices(keeper, state).items()
    ]


def chunks_of_slices(keeper: KeepChain, state: State) -> dict[tuple[int, int], list[Chunk]]:
    """The chunks in each slice of a chain, by its ends; what is past the last slice, and not yet gone, is in that."""
    chain, chunks = keeper.chain, state.chains.get(keeper.id, ())
    found: dict[tuple[int, int], list[Chunk]] = {ends: [] for ends in chain.slices}
    now = _now(state, chain.stream, chunks)
    for chunk in chunks:
        if chain.partitioned:
            place = chunk.reach - 1
        elif chain.rows:
            place = _behind(chunk, state.ranked.get(keeper.id, 0))
        else:
            place = 0 if now is None else now - chunk.high
        ends = next(((start, end) for start, end in chain.slices if place < end), chain.slices[-1])
        found[ends].append(chunk)
    return found


def rows_of(chunks: Iterable[Chunk]) -> int:
    """How many rows chunks have."""
    return sum(chunk.rows for chunk in chunks)


def _behind(chunk: Chunk, last: int) -> int:
    """How many rows have come since the last one of a chunk; those that are not counted yet are the newest."""
    return last - chunk.ranks[1] if chunk.ranks is not None else 0


def state_table(plan: PhysicalPlan, state: State) -> Table:
    """Every chain: rows and chunks kept, and the span of their event times."""
    table = []
    for keeper in _keepers(plan):
        chunks = state.chains.get(keeper.id, ())
        table.append(
            {
                **_where(keeper),
                "rows": rows_of(chunks),
                "chunks": len(chunks),
                "oldest": moment(min(chunk.low for chunk in chunks)) if chunks else None,
                "newest": moment(max(chunk.high for chunk in chunks)) if chunks else None,
            }
        )
    for tally in plan.of_kind(AggregateWindows):
        chunks = state.chains.get(tally.id, ())
        scope = {"query": tally.tally.shape.scope} if tally.tally.shape.scope else {}
        table.append(
            {
                "stream": f"aggregates of {', '.join(scan.alias for scan in tally.tally.shape.inputs)}",
                **scope,
                "rows": rows_of(chunks),
                "chunks": len(chunks),
                "oldest": moment(min(chunk.low for chunk in chunks)) if chunks else None,
                "newest": moment(max(chunk.high for chunk in chunks)) if chunks else None,
            }
        )
    return table


def moment(micros: int, *, exact: bool = False) -> str:
    """A time for people."""
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    return time.isoformat(sep=" ", timespec="microseconds" if exact else "milliseconds")


def _keepers(plan: PhysicalPlan) -> list[KeepChain]:
    return [op for op in plan.of_kind(KeepChain) if op.chain.reach]


def _where(keeper: KeepChain) -> dict[str, Any]:
    scope = {"query": keeper.chain.scope} if keeper.chain.scope else {}
    return {"stream": keeper.chain.stream, **scope}


def _now(state: State, stream: str, chunks: tuple[Chunk, ...]) -> int | None:
    """The last event time of a stream; of results, that of those that are kept."""
    known = state.streams.get(stream)
    return known.high if known else max((chunk.high for chunk in chunks), default=None)
