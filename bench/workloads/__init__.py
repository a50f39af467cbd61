"""The workloads, in the order they are run: each is the `WORKLOAD` of the module of its name."""

from __future__ import annotations

from importlib import import_module

from penstock.bench.core import Workload

NAMES = (
    "windows",
    "queries",
    "state_slice",
    "latency",
    "churn",
    "multiway",
    "language",
    "nexmark",
    "growth",
    "compile",
)


def workload(name: str) -> Workload:
    """The workload of a name."""
    found = import_module(f"penstock.bench.workloads.{name}").WORKLOAD
    assert isinstance(found, Workload)
    return found
