"""Plan versions: what a plan was made from, so that it can be made again, and the starts of its queries."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from penstock.catalog import Catalog
from penstock.compiler.handover import Handover, operators_for, together
from penstock.compiler.physical import PhysicalPlan
from penstock.compiler.warm import Start
from penstock.runtime.records import read_record
from penstock.runtime.storage import Storage

Texts = dict[str, Any]
"""The catalog, the settings and the queries, as JSON has them."""


@dataclass(frozen=True)
class RunPlan:
    """A physical plan, the catalog it reads, and the texts that both were made from."""

    physical: PhysicalPlan
    catalog: Catalog
    texts: Texts
    handover: Handover | None = None
    """What goes on of plans of before."""
    before: Texts | None = None
    """The texts of the plan that is handed over from."""

    @cached_property
    def running(self) -> PhysicalPlan:
        """All the operators that run."""
        return together(self.physical, self.handover)

    @property
    def noted(self) -> Texts:
        """All that the plan can be made from again."""
        if self.handover is None:
            return self.texts
        return {**self.texts, "handover": {"texts": self.before, "cuts": dict(self.handover.cuts)}}


def remake(texts: Texts, plan: RunPlan, remade: Callable[[Texts], RunPlan]) -> RunPlan:
    """The plan that was noted so; `plan` if it is that one."""
    own = {key: value for key, value in texts.items() if key != "handover"}
    found = plan if own == plan.texts else remade(own)
    if "handover" not in texts:
        return found
    before, cuts = texts["handover"]["texts"], texts["handover"]["cuts"]
    operators = operators_for(remade(before).physical, cuts)
    return replace(found, handover=Handover(operators, cuts), before=before)


class Plans:
    """The files of plan versions."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._folder = storage.path("plans")

    def write(self, version: int, texts: Texts) -> None:
        """Write a version before the log says that it is in force."""
        self._storage.write(self._name(version), json.dumps(texts))

    def read(self, version: int) -> Texts:
        """What a version was made from."""
        texts: Texts = read_record(self._storage, self._name(version))
        return texts

    def write_starts(self, version: int, step: int, starts: Mapping[str, Start]) -> str:
        """Write the starts of the queries; the name that the log gives them."""
        name = f"starts-{version:010}-{step:010}.json"
        data = {query: start.to_data() for query, start in starts.items()}
        self._storage.write(f"{self._folder}/{name}", json.dumps(data))
        return name

    def read_starts(self, name: str) -> dict[str, Start]:
        """The starts of the queries."""
        if not name:
            return {}
        data = read_record(self._storage, f"{self._folder}/{name}")
        return {query: Start.of(start) for query, start in data.items()}

    def clean(self, version: int, starts: str) -> None:
        """Remove all files but those that the log names: versions of before, and one that never came into force."""
        kept = {self._name(version).split("/")[-1], starts}
        for name in self._storage.names(self._folder):
            if name not in kept:
                self._storage.delete(f"{self._folder}/{name}")

    def _name(self, version: int) -> str:
        return f"{self._folder}/{version:010}.json"
