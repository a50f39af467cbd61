"""Where the peers live: virtual environments of their own, made when they are first asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from penstock.bench.systems import System

ROOT = Path(__file__).resolve().parent.parent
IN_CLONE = (ROOT / "pyproject.toml").exists()
"""Whether this is a clone of the repository, and not an installed package."""


class PeerMissing(Exception):
    """A peer that cannot be installed."""


def folder() -> Path:
    """Where the environments are: below `build/` in a clone, in the user's cache otherwise."""
    if IN_CLONE:
        return ROOT / "build" / "peers"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock" / "peers"


def python_for(system: System, say: Callable[[str], None]) -> Path:
    """The Python that has a system: our own, or that of an environment, which is made if it is not there."""
    if not system.packages:
        return Path(sys.executable)
    own = folder() / system.name
    python, stamp = own / "bin" / "python", own / "installed.txt"
    wanted = "\n".join(system.packages)
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        say(f"installing {', '.join(system.packages)} into {own}, once …")
        _run([sys.executable, "-m", "venv", str(own)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *system.packages])
        stamp.write_text(wanted, encoding="utf-8")
    return python


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise PeerMissing(str(error)) from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise PeerMissing(lines[0] if lines else f"{command[0]} ended with code {done.returncode}")
