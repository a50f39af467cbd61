"""The queries that stand in a session, with their catalog and settings, and what they are compiled to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from penstock.api import CompiledQueries, compiled
from penstock.compiler.program import Program
from penstock.grammar.errors import PenstockError, did_you_mean
from penstock.texts import texts_of

if TYPE_CHECKING:
    from penstock.compiler.estimate import Measured
    from penstock.runtime.plans import RunPlan


class Standing:
    """A program, compiled when it is first needed; who changes it holds `changing`."""

    def __init__(self, program: Program, measured: Callable[[], Measured]) -> None:
        """`measured` is asked for when the program is compiled."""
        self.changing = threading.RLock()
        self.program = program
        self._measured = measured
        self._compiled: CompiledQueries | None = None

    @property
    def compiled(self) -> CompiledQueries:
        """The queries, compiled together."""
        if self._compiled is None:  # no lock once they are: a step may ask while a change waits for its end
            with self.changing:
                self._compiled = self._compiled or compiled(self.program, measured=self._measured())
        return self._compiled

    def take(self, program: Program, compiled: CompiledQueries | None = None) -> None:
        """Put another program in place of this one."""
        self.program, self._compiled = program, compiled

    def known(self, name: str) -> str:
        """The name of a query as it is spelled; one that is not there raises `PenstockError`."""
        return known_query(name, self.program.queries)

    def is_same(self, name: str, program: Program) -> bool:
        """Whether a query means the same in another program, however it is written."""
        again = self.compiled.changed(program)
        return _meaning(again, name) == _meaning(self.compiled, name)


def known_query(name: str, queries: Iterable[str]) -> str:
    """The name of a query as it is spelled."""
    for known in queries:
        if known.lower() == name.lower():
            return known
    raise PenstockError(
        f"there is no query called '{name}'",
        hint=did_you_mean(name, queries) or "There are none.",
        label="unknown-query",
    )


def run_plan(queries: CompiledQueries) -> RunPlan:
    """What a run puts in force for queries."""
    from penstock.runtime.plans import RunPlan

    return RunPlan(queries.physical, queries.catalog, texts_of(queries))


def _meaning(queries: CompiledQueries, name: str) -> tuple[object, object]:
    template = queries.shared.members[name]
    return template.shape, next(member for member in template.members if member.query == name)
