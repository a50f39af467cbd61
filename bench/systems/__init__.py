"""The systems that are measured. Each is a module that carries out jobs in a process of its own.

A module has `start()`, if something is to be made ready before the first job (it is not measured), and functions that
take a job and return a round, both as dicts. Modules of peers are loaded by the Python of an environment of their own,
which has no Penstock: they import nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class System:
    """A system: what it is called, what carries out its jobs, and the packages that it needs, if it is a peer."""

    name: str
    title: str
    code: str
    packages: tuple[str, ...] = ()


SYSTEMS = {
    system.name: system
    for system in (
        System("penstock", "Penstock", "penstock.bench.systems.penstock"),
        System("spark", "Spark's own join", "penstock.bench.systems.spark"),
        System("flink", "Flink SQL", "flink.py", ("apache-flink==2.3.0",)),
        System("pathway", "Pathway", "pathway.py", ("pathway>=0.33,<0.34",)),
        System("duckdb", "DuckDB, all at once", "penstock.bench.systems.duckdb"),
    )
}
