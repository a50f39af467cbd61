"""Sliding aggregates beside the join that they are made from, and a star-streaming join with and without pre-filtering.

Run it with  .venv/bin/python bench/language.py [--quick] [--only aggregates,star]. The systems run one after the other,
each in a process of its own, in turns; medians of all rounds are shown. Take the ratios, not the figures.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

import duckdb
from data import make_stream
from head_to_head import JOIN, child, table

WINDOWS = (15, 20, 25, 30, 35, 40, 45, 50, 55, 60)
GROUPED = (
    "SELECT pmod(x.k, 100) AS part, COUNT(*) AS n, SUM(x.v) AS total, MAX(y.v) AS most FROM a x, b y WHERE x.k = y.k "
    "GROUP BY pmod(x.k, 100)"
)


def aggregates(scratch: Path, quick: bool) -> None:
    """Ten sliding aggregates over a join with a window of 60 s, beside the join alone."""
    seconds, rate = (60 if quick else 120), 20_000
    data = scratch / "aggregates"
    for seed, name in enumerate(("a", "b")):
        make_stream(data / name, rate=rate, seconds=seconds, keys=1_000_000, per_file=5, seed=seed)
    base = {"scratch": str(scratch), "data": str(data), "window": 60, "rate": rate, "files": 4, "step_rows": 1_000_000}
    shared = {
        f"q{n}": f"{GROUPED} HAVING COUNT(*) > {n} WINDOW {window} sec SLIDE 1 sec" for n, window in enumerate(WINDOWS)
    }
    jobs = {
        "the join alone": {"q": f"{JOIN} WINDOW 60 sec"},
        "one aggregate, 60 s, every second": {"q": f"{GROUPED} WINDOW 60 sec SLIDE 1 sec"},
        "ten aggregates, 15 to 60 s, every second": shared,
    }
    found = rounds(base, {name: {"texts": texts, "queries": len(texts)} for name, texts in jobs.items()}, quick)
    alone = found["the join alone"]["seconds"]
    rows = [(n, f"{f['seconds']:.1f}", f"{f['seconds'] / alone:.2f}", f"{f['results']:,}") for n, f in found.items()]
    title = f"Sliding aggregates over a join of {2 * rate * seconds:,} rows"
    table(title, ("", "seconds", "to the join", "results"), rows)


def star(scratch: Path, quick: bool) -> None:
    """Two streams joined through a relation that holds a part of their keys for a part of the time."""
    seconds, rate, keys = (60 if quick else 120), 10_000, 20_000
    data = scratch / "star"
    for seed, name in enumerate(("a", "b")):
        make_stream(data / name, rate=rate, seconds=seconds, keys=keys, per_file=5, seed=seed)
    facts = data / "facts.parquet"
    with duckdb.connect() as db:
        db.execute("SET timezone = 'UTC'")
        db.execute(
            f"""
            COPY (
                SELECT (i * 20)::BIGINT AS ak, (i * 20 + 1)::BIGINT AS bk,
                       make_timestamptz((hash(i) % {seconds})::BIGINT * 1000000) AS since,
                       make_timestamptz((hash(i) % {seconds} + 40)::BIGINT * 1000000) AS until
                FROM range({keys // 20}) r(i)
            ) TO '{facts}' (FORMAT parquet)
            """
        )
    relation = {
        "schema": {"ak": "bigint", "bk": "bigint", "since": "timestamp", "until": "timestamp"},
        "valid": ["since", "until"],
        "source": {"format": "parquet", "path": str(facts)},
    }
    base = {"scratch": str(scratch), "data": str(data), "window": 60, "rate": rate, "files": 1, "step_rows": 100_000}
    text = "SELECT x.k, x.v, y.v AS w FROM a x, b y, facts f WHERE x.k = f.ak AND y.k = f.bk WINDOW 60 sec"
    jobs = {
        name: {"texts": {"q": text}, "queries": 1, "relations": {"facts": relation}, "settings": {"prefilter": name}}
        for name in ("on", "off")
    }
    found = rounds(base, jobs, quick)
    rows = [
        (
            f"pre-filtering {name}",
            f"{f['seconds']:.1f}",
            f"{statistics.median(f['steps']):.3f}",
            f"{max(f['state_rows']):,}",
            f"{f['results']:,}",
        )
        for name, f in found.items()
    ]
    title = f"A star-streaming join of {2 * rate * seconds:,} rows; the relation holds a twentieth of the keys"
    table(title, ("", "seconds", "median step", "most rows kept", "results"), rows)
    ratio = found["off"]["seconds"] / found["on"]["seconds"]
    kept = max(found["on"]["state_rows"]) / max(found["off"]["state_rows"])
    print(f"  without pre-filtering {ratio:.2f} times the time; with it {kept:.3f} of the rows kept")


def rounds(base: dict[str, Any], jobs: dict[str, dict[str, Any]], quick: bool) -> dict[str, dict[str, Any]]:
    """Run jobs in turns; of each the run of median length. Answers must be the same in all rounds."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in jobs}
    for _ in range(1 if quick else 3):
        for name, job in jobs.items():
            runs[name].append(child({**base, "system": "penstock", **job}))
    for name, own in runs.items():
        if len({run["results"] for run in own}) > 1:
            print(f"VOID: {name} gave {sorted({run['results'] for run in own})} results")
    return {name: sorted(own, key=lambda run: run["seconds"])[len(own) // 2] for name, own in runs.items()}


PARTS = {"aggregates": aggregates, "star": star}


def main() -> None:
    """Run the parts that were asked for and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="less data, one round")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    try:
        for name in options.only.split(","):
            PARTS[name.strip()](scratch, options.quick)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
