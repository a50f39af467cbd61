"""The suite: workloads one after the other, each with its table, and a file of what was found."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from penstock.bench.core import Found, Setting, Shown, Workload
from penstock.bench.measure import measure
from penstock.bench.systems import SYSTEMS
from penstock.bench.workloads import workload

Say = Callable[[str], None]
Result = dict[str, Any]
"""What is known of a workload that has been run, as JSON has it."""


def run(names: Sequence[str], setting: Setting, output: Path, say: Say, done: Callable[[Result], None]) -> None:
    """Run workloads; `done` is told of each, when its file has been written."""
    output.mkdir(parents=True, exist_ok=True)
    for name in names:
        own = replace(setting, scratch=Path(tempfile.mkdtemp(prefix="penstock-bench-", dir=setting.scratch)))
        try:
            result = run_one(workload(name), own, output / "logs", say)
        finally:
            shutil.rmtree(own.scratch, ignore_errors=True)
        path = output / f"{name}.json"
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        done(result)


def run_one(chosen: Workload, setting: Setting, logs: Path, say: Say) -> Result:
    """Run a workload."""
    began = time.perf_counter()
    say(f"{chosen.name}: making data …")
    cases = chosen.cases(setting)
    found = measure(cases, setting, logs, lambda text: say(f"{chosen.name}: {text}"))
    shown = chosen.show(setting, found)
    return {
        "workload": chosen.name,
        "title": chosen.title,
        "shows": chosen.shows,
        "size": setting.size,
        "rounds": setting.rounds,
        "systems": sorted(setting.systems),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "minutes": round((time.perf_counter() - began) / 60, 1),
        "machine": machine(),
        **as_data(found, shown),
    }


def as_data(found: Found, shown: Shown) -> Result:
    """What was found and what is shown of it."""
    cases = [
        {
            "name": one.case.name,
            "system": one.case.system,
            "note": one.case.note,
            "rounds": one.rounds,
            "counted": one.counted,
            "failure": one.failure,
            "void": one.void,
        }
        for one in found.values()
    ]
    return {"cases": cases, **asdict(shown)}


def read_results(output: Path, names: Iterable[str]) -> list[Result]:
    """What is known of workloads, those that have been run, in their order."""
    paths = (output / f"{name}.json" for name in names)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]


def machine() -> dict[str, Any]:
    """What it was measured on."""
    packages = ("penstock", "pyspark", "duckdb")
    versions = {name: metadata.version(name) for name in packages}
    versions |= {system.name: ", ".join(system.packages) for system in SYSTEMS.values() if system.packages}
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "versions": versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
