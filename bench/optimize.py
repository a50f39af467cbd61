"""How fast many queries become one physical plan, and one more is added to them.

Run it with  make bench  or  .venv/bin/python bench/optimize.py [--queries 10000]. The queries share one signature and
have 1,000 distinct windows and ten shapes of selection.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time

import penstock
from penstock.compiler.diff import diff
from penstock.compiler.estimate import Estimates
from penstock.compiler.optimize import optimize
from penstock.compiler.planner import plan_physical
from penstock.compiler.rules import Context

STREAMS = {
    name: {"schema": {"LocationId": "int", "Value": "double", "ts": "timestamp"}}
    for name in ("Temperature", "Humidity")
}
SHAPES = (
    "A.Value > {}",
    "A.Value < {}",
    "A.Value >= {}",
    "B.Value > {}",
    "B.Value < {}",
    "A.LocationId = {}",
    "A.LocationId <> {}",
    "A.Value > {} AND B.Value < {}",
    "A.Value + B.Value > {}",
    "A.Value BETWEEN {} AND {}",
)


def query(number: int, rng: random.Random) -> str:
    """The text of a query: one of ten shapes, one of 1,000 windows."""
    selection = SHAPES[number % 10].format(rng.randint(0, 1000), rng.randint(1001, 2000))
    return (
        "SELECT A.LocationId, A.Value AS t, B.Value AS h FROM Temperature A, Humidity B "
        f"WHERE A.LocationId = B.LocationId AND {selection} WINDOW {1 + number // 10 % 1000} sec"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=10_000, help="how many queries (10000)")
    parser.add_argument("--rounds", type=int, default=3, help="how many times (3)")
    options = parser.parse_args()
    rng = random.Random(1)
    texts = {f"q{number}": query(number, rng) for number in range(options.queries)}
    penstock.compile(texts["q0"], catalog={"streams": STREAMS})  # loads the grammar
    whole, more, kept = [], [], None
    for _ in range(options.rounds):
        kept = None
        started = time.perf_counter()
        compiled = penstock.compile(texts, catalog={"streams": STREAMS})
        physical = compiled.physical
        whole.append(time.perf_counter() - started)
        kept = compiled.shared
        for number in range(10):
            text = query(rng.randrange(10), rng).replace("sec", "min")
            started = time.perf_counter()
            one = penstock.compile(text, catalog=compiled.catalog)
            context = Context(compiled.settings, Estimates(compiled.catalog))
            changed = plan_physical(optimize([one.logical], context, kept).plan)
            stages = diff(physical, changed)
            more.append(time.perf_counter() - started)
            assert stages, number
    print(f"{options.queries:,} queries: {len(kept.templates) if kept else 0} templates")
    print(f"{'':34}{'median':>9}{'best':>9}{'goal':>9}")
    for name, times, goal in (
        ("text to physical plan, s", whole, 10),
        ("one more, planned and compared, s", more, 0.05),
    ):
        print(f"{name:34}{statistics.median(times):9.3f}{min(times):9.3f}{goal:9.3f}")


if __name__ == "__main__":
    main()
