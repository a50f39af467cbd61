"""The machine: memory, cores, its address, and what the environment says."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from penstock.doctor.finding import Finding, failed, ok, warning

_GB = 2**30
_SIZES = {"": 2**20, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_LEAST = 512 * 2**20
_LEAD_ELSEWHERE = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS")
"""Variables with which another Spark, or other settings, are taken than people think."""


def check_memory(asked: str, total: int, available: int) -> Finding:
    """Whether the machine has the memory that Spark's driver may take."""
    size = re.fullmatch(r"(\d+)([bkmgt]?)b?", asked.strip().lower())
    setting = "spark.driver.memory under  spark:  in penstock.yml"
    if size is None:
        return failed("memory", f"'{asked}' is not a size", f"Write {setting} as 2g or 1500m.")
    wanted = int(size[1]) * _SIZES[size[2]]
    found = f"Spark may take {wanted / _GB:.1f} of {total / _GB:.1f} GB, of which {available / _GB:.1f} are free"
    if wanted < _LEAST:
        return failed("memory", found, f"Set {setting} to 1g or more.")
    if wanted > total:
        return failed("memory", found, f"Set {setting} to what the machine has, less 1 GB.")
    if wanted > available:
        return warning("memory", found, f"Close other programs, or lower {setting}.")
    return ok("memory", found)


def memory() -> tuple[int, int]:
    """The bytes of memory that may be used at all, and those that are free."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    free = total
    known = Path("/proc/meminfo")
    if known.exists():
        found = re.search(r"^MemAvailable:\s+(\d+) kB", known.read_text(encoding="ascii"), re.M)
        free = total if found is None else int(found[1]) * 1024
    group = Path("/sys/fs/cgroup")
    limit = _number(group / "memory.max")
    if limit is not None and limit < total:
        used = _number(group / "memory.current") or 0
        total, free = limit, min(free, limit - used)
    return total, free


def _number(file: Path) -> int | None:
    try:
        text = file.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def check_cores(usable: int, all_: int) -> Finding:
    """Whether there are enough cores, and as many as Spark thinks."""
    if usable < all_:
        return warning(
            "cores",
            f"{usable} of the machine's {all_} may be used",
            f"Spark takes all it sees: set  spark.master: local[{usable}]  under  spark:  in penstock.yml.",
        )
    if usable == 1:
        return warning("cores", "1", "It works, but reading and merging wait for the steps: two or more are better.")
    return ok("cores", str(usable))


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_address() -> Finding:
    """Whether the parts of Spark will find each other: its driver listens at the address of this machine's name."""
    name = os.environ.get("SPARK_LOCAL_IP") or socket.gethostname()
    advice = "If Spark does not start:  export SPARK_LOCAL_IP=127.0.0.1"
    try:
        address = socket.gethostbyname(name)
    except OSError:
        return warning("address", f"the name {name} has no address", f"{advice}, or add it to /etc/hosts.")
    try:
        with socket.socket() as listener:
            listener.bind((address, 0))
    except OSError:
        return warning("address", f"{name} is {address}, which is not an address of this machine", f"{advice}.")
    return ok("address", f"{name} is {address}")


def check_environment(environment: Mapping[str, str]) -> Finding:
    """Whether variables lead to another Spark, or to other settings."""
    found = [f"{name}={environment[name]}" for name in _LEAD_ELSEWHERE if environment.get(name)]
    if not found:
        return ok("environment", "nothing leads to another Spark")
    names = " ".join(entry.partition("=")[0] for entry in found)
    return warning("environment", ", ".join(found), f"It changes which Spark is started. If not wanted:  unset {names}")
