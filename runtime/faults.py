"""Named points of the protocol, where tests make a run die."""

from __future__ import annotations

from collections.abc import Callable

POINTS = (
    "chunk-written",
    "chunk-noted",
    "step-begun",
    "rows-counted",
    "partials-written",
    "results-staged",
    "results-moved",
    "step-committed",
    "plan-written",
    "plan-committed",
    "chunks-merged",
    "results-merged",
    "results-swapped",
)

_hook: Callable[[str], None] | None = None


def reached(point: str) -> None:
    """Say that a point has been reached."""
    if _hook is not None:
        _hook(point)


def on_reach(hook: Callable[[str], None] | None) -> None:
    """Call `hook` at every point from now on; nothing with None."""
    global _hook
    _hook = hook
