"""All the checks, in the order in which one thing needs another."""

from __future__ import annotations

import os
from collections.abc import Iterator

from penstock.doctor.finding import Finding
from penstock.doctor.folders import check_temp
from penstock.doctor.machine import (
    check_address,
    check_cores,
    check_environment,
    check_memory,
    memory,
    usable_cores,
)
from penstock.doctor.project import check_project
from penstock.doctor.spark import check_java, check_pyspark, check_start
from penstock.project import Project


def examine(project: Project | None) -> Iterator[Finding]:
    """Look at the machine, at Spark with a project's settings, and at the project."""
    from penstock.runtime.session import driver_memory

    settings = dict(project.spark) if project is not None else {}
    java, pyspark = check_java(), check_pyspark()
    yield java
    yield pyspark
    yield check_environment(os.environ)
    yield check_memory(driver_memory(settings), *memory())
    yield check_cores(usable_cores(), os.cpu_count() or 1)
    yield check_address()
    yield check_temp(settings)
    yield check_start(settings, java, pyspark)
    if project is not None:
        yield from check_project(project)
