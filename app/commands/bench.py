"""`penstock bench`: the benchmark suite."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from penstock.bench.workloads import NAMES
from penstock.commands.common import one_of
from penstock.verbosity import Verbosity, say

NEEDED = ("duckdb", "matplotlib")


def bench(
    workloads: Annotated[
        list[str] | None,
        typer.Argument(help=f"Some of {', '.join(NAMES)}; all when none is given.", metavar="WORKLOAD"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Less data, one round; a quarter of an hour in all.")] = False,
    tiny: Annotated[bool, typer.Option("--tiny", help="Hardly any data: shows that it works, says nothing.")] = False,
    systems: Annotated[
        str | None, typer.Option(help="Which systems, with commas between: penstock,spark,flink,pathway,duckdb.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="How often each case is measured: 3 times, once with --quick.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder for JSON and plots.", metavar="DIR")
    ] = None,
) -> None:
    """Measure Penstock beside Spark's own joins, Flink, Pathway and DuckDB: over an hour, --quick a quarter of one.

    All are run over the same data, in turns, and what comes out is compared. Flink and Pathway are installed into
    environments of their own when they are first asked for. Tables go to stdout, JSON and plots to the output folder.

    Examples:
      penstock bench --quick
      penstock bench windows queries --systems penstock,spark
      penstock bench latency --rounds 5 --output build/latency
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        say(f"the benchmarks need {' and '.join(missing)}: pip install 'penstock[bench]'", Verbosity.QUIET)
        raise typer.Exit(1)
    from penstock.bench.core import Setting, Size
    from penstock.bench.page import default_folder, finish
    from penstock.bench.report import print_result
    from penstock.bench.suite import run
    from penstock.bench.systems import SYSTEMS

    names = [one_of(name, NAMES, "WORKLOAD") for name in workloads or NAMES]
    wanted = [one_of(name.strip(), tuple(SYSTEMS), "--systems") for name in (systems or ",".join(SYSTEMS)).split(",")]
    chosen: Size = "tiny" if tiny else "quick" if quick else "full"
    folder = output or default_folder(chosen)
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as scratch:
        setting = Setting(Path(scratch), chosen, rounds or (3 if chosen == "full" else 1), frozenset(wanted))
        run(names, setting, folder, say, lambda result: print_result(result, sys.stdout))
    for path in finish(folder, NAMES):
        say(f"written: {path}")
