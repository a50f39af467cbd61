"""Warm starts without Spark: since when the rows that a new query needs are there."""

from __future__ import annotations

import pytest

import penstock
from penstock.compiler.handover import Handover, moved_queries, operators_for, together
from penstock.compiler.physical import KeepChain, PhysicalPlan
from penstock.compiler.warm import EVER, Kept, Start, starts
from penstock.tests.streams import SCHEMAS, SECOND

CATALOG = {"streams": {name: {"schema": schema, "timestamp": "ts"} for name, schema in SCHEMAS.items()}}
JOIN = "SELECT A.v FROM Heat A, Wet B WHERE A.k = B.k"
HIGH, AHEAD, TRIMMED = 1_000 * SECOND, 1_005 * SECOND, 990 * SECOND


def plan(sharing: str = "slice", **texts: str) -> PhysicalPlan:
    return penstock.compile(texts, catalog=CATALOG, sharing=sharing).physical


def kept(of: PhysicalPlan, reading: int | None = None, **columns: int) -> dict[str, Kept]:
    """What is kept of every stream of a plan."""
    keepers = of.of_kind(KeepChain)
    own = {op.id: columns if op.chain.stream == "Heat" else {} for op in keepers}
    return {id_: Kept(HIGH, AHEAD, reading, TRIMMED, known) for id_, known in own.items()}


def start_of(old: str, new: str, **known: int) -> Start:
    """The start of a query that comes to another one, which has always been there."""
    before, after = plan(old=old), plan(old=old, new=new)
    first = starts(PhysicalPlan(), before, {}, {id_: Kept() for id_ in kept(before)})
    assert first["old"].complete == EVER
    found = starts(before, after, first, kept(after, **known))
    assert found["old"] is first["old"]
    return found["new"]


STARTS = {
    "the same": (f"{JOIN} WINDOW 20 sec", f"{JOIN} WINDOW 20 sec", 1_000),
    "a shorter window": (f"{JOIN} WINDOW 20 sec", f"{JOIN} WINDOW 5 sec", 1_000),
    "a longer window": (f"{JOIN} WINDOW 20 sec", f"{JOIN} WINDOW 60 sec", 990 - 20 + 60),
    "a narrower selection": (f"{JOIN} AND A.v > 3 WINDOW 20 sec", f"{JOIN} AND A.v > 4 WINDOW 20 sec", 1_000),
    "a wider selection": (f"{JOIN} AND A.v > 3 WINDOW 20 sec", f"{JOIN} AND A.v > 2 WINDOW 20 sec", 1_005 + 20),
    "another selection": (f"{JOIN} AND A.v > 3 WINDOW 20 sec", f"{JOIN} AND A.n = 2 WINDOW 20 sec", 1_005 + 20),
    "other keys": (f"{JOIN} WINDOW 20 sec", "SELECT A.v FROM Heat A, Wet B WHERE A.n = B.n WINDOW 9 sec", 1_000),
    "a window for each stream": (
        f"{JOIN} WINDOW 20 sec",
        "SELECT A.v FROM Heat A [RANGE 90 sec], Wet B [RANGE 1 sec] WHERE A.k = B.k",
        990 - 20 + 90,
    ),
    "no window": (f"{JOIN} AND A.v > 3 WINDOW 20 sec", "SELECT A.v FROM Heat A WHERE A.v > 5", 1_000),
    "no window, other rows": (f"{JOIN} AND A.v > 3 WINDOW 20 sec", "SELECT A.v FROM Heat A WHERE A.v < 5", 1_005),
    "rows that were not kept": ("SELECT A.v, A.k FROM Heat A", f"{JOIN} WINDOW 20 sec", None),
    "a negative constant": (f"{JOIN} AND A.v > -3 WINDOW 20 sec", f"{JOIN} AND A.v > -2 WINDOW 20 sec", 1_000),
}


@pytest.mark.parametrize("case", STARTS)
def test_starts(case: str) -> None:
    """A query is complete when all rows it can need are there, and what is proven to be there counts."""
    old, new, wanted = STARTS[case]
    found = start_of(old, new).complete
    if wanted is None:  # Wet was never read for this plan: what has been read of it is not kept
        wanted = 1_005 + 20
    assert found is not None and found // SECOND == wanted


def test_columns() -> None:
    """Rows from before a column was kept are not used, on whichever stream."""
    text = f"{JOIN.replace('A.v', 'A.v, A.s')} WINDOW 10 sec"
    found = start_of(f"{JOIN} WINDOW 20 sec", text, s=AHEAD + 1)
    assert found.usable == AHEAD + 1 and found.since == (AHEAD + 1, AHEAD + 1)
    assert found.complete == AHEAD + 1 + 10 * SECOND
    assert start_of(f"{JOIN} WINDOW 20 sec", f"{JOIN} WINDOW 10 sec", s=AHEAD + 1).usable == EVER


def test_waiting_for_a_batch() -> None:
    """While a batch is read for the plan of before, it is not known since when other rows are there."""
    found = start_of(f"{JOIN} AND A.v > 3 WINDOW 20 sec", f"{JOIN} WINDOW 20 sec", reading=7)
    assert found.waits == {"Heat": 7} and found.complete is None
    assert found.taken("Heat", 6, 3) is found and found.taken("Wet", 9, 3) is found
    known = found.taken("Heat", 7, 2_000 * SECOND)
    assert known.complete == 2_020 * SECOND + 1
    assert Start.of(known.to_data()) == known
    assert not start_of(f"{JOIN} WINDOW 20 sec", f"{JOIN} WINDOW 9 sec", reading=7).waits


def test_retained() -> None:
    """Retained rows serve every query, as far back as they go."""
    before, after = plan(old="SELECT A.v FROM Heat A"), plan(old="SELECT A.v FROM Heat A", new=f"{JOIN} WINDOW 20 sec")
    own = {id_: Kept(HIGH, AHEAD, None, TRIMMED, {}, (EVER, 60 * SECOND)) for id_ in kept(after)}
    (heat,) = (op.id for op in before.of_kind(KeepChain))
    found = starts(before, after, {}, own)["new"]
    assert dict(zip(found.streams, found.since, strict=True))["Heat"] == TRIMMED - 60 * SECOND + 1
    assert heat in own


def test_what_is_handed_over() -> None:
    """Between sharing and not, the queries that stay need their operators of before; another text does not."""
    texts = {"a": f"{JOIN} WINDOW 20 sec", "b": f"{JOIN} AND A.v > 3 WINDOW 9 sec", "c": "SELECT A.v FROM Heat A"}
    alone, shared = plan("none", **texts), plan(**{**texts, "b": f"{JOIN} AND A.v > 4 WINDOW 9 sec"})
    assert moved_queries(alone, shared) == ("a",) and not moved_queries(shared, shared)
    operators = operators_for(alone, ["a"])
    assert [op.kind for op in operators] == ["chain", "chain", "probe", "route", "sink"]
    both = together(shared, Handover(operators))
    assert len(both.operators) == len(shared.operators) + 5 and together(shared, None) is shared
