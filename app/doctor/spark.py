"""Java and Spark: whether they are there, and whether they start."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping
from importlib import metadata

from penstock.doctor.finding import Finding, failed, ok, refused
from penstock.grammar.errors import PenstockError
from penstock.verbosity import say

_OLDEST = 17
_INSTALL = "Install Java 17 and put it on the PATH, or set JAVA_HOME."


def check_java() -> Finding:
    """Whether there is a Java that is new enough."""
    from penstock.runtime.java import find_java

    try:
        java = find_java()
    except PenstockError as error:
        return refused("Java", error)
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError) as error:
        return failed("Java", f"{java} does not run: {error}", _INSTALL)
    found = re.search(r'version "(?:1\.)?(\d+)([^"]*)"', said)
    if found is None:
        return failed("Java", f"{java} does not say its version", _INSTALL)
    where = f"{found[1]}{found[2]}, {java}"
    if int(found[1]) < _OLDEST:
        return failed("Java", f"{where}: Spark needs {_OLDEST} or newer", _INSTALL)
    return ok("Java", where)


def check_pyspark() -> Finding:
    """Whether PySpark is installed."""
    try:
        return ok("PySpark", metadata.version("pyspark"))
    except metadata.PackageNotFoundError:
        return failed("PySpark", "it is not installed", "Install it with  pip install 'pyspark>=4,<5'")


def check_start(settings: Mapping[str, str], *others: Finding) -> Finding:
    """Whether Spark starts and counts to ten; it is not tried when one of the others has failed."""
    missing = next((other for other in others if other.status == "failed"), None)
    if missing is not None:
        return failed("Spark starts", f"not tried: {missing.check} is not right", missing.advice)
    from penstock.runtime.session import try_spark

    say("starting Spark")
    began = time.monotonic()
    try:
        version = try_spark(tuple(settings.items()))
    except PenstockError as error:
        return refused("Spark starts", error)
    return ok("Spark starts", f"{version}, in {time.monotonic() - began:.1f} s")
