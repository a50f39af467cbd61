"""Marks: how far the event time of streams is settled. No row before a stream's mark is taken any more.

A mark never goes back, whatever becomes of a stream's lateness.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.runtime.log import StreamState

NEVER = -(2**62)
"""Before every row."""


@dataclass(frozen=True)
class Span:
    """What a step settles: the times from `since` to before `until`."""

    since: int
    until: int

    @property
    def is_empty(self) -> bool:
        """Whether it settles nothing."""
        return self.since >= self.until


def marked(known: StreamState, lateness: int) -> StreamState:
    """A stream's state with its mark brought up to what has been taken."""
    own = [] if known.high is None else [known.high - lateness]
    own += [mark for mark in (known.floor, known.mark) if mark is not None]
    return replace(known, mark=max(own, default=None))
