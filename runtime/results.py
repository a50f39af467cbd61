"""The results store: Parquet files that all queries share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.compiler.physical import PhysicalPlan, Route
from penstock.runtime.columns import QUERY, TIME, quoted
from penstock.runtime.faults import reached
from penstock.runtime.log import Group, State
from penstock.runtime.records import refuse_missing
from penstock.runtime.route import Target
from penstock.runtime.storage import Storage, glob_of

_MERGE = 16
"""So many folders of results become one."""
_READING = 60.0
"""Results that were asked for may be read for so many seconds before their folders are merged, …"""
_CROWDED = 8 * _MERGE
"""… unless there are so many of them."""


@dataclass
class ResultGroup:
    """Templates whose results go together into one file."""

    number: int
    columns: Group
    """The columns that they have now."""
    targets: list[Target]


def result_groups(plan: PhysicalPlan, known: Iterable[Group] = ()) -> tuple[list[ResultGroup], tuple[Group, ...]]:
    """The groups of a plan's templates, and the columns of all groups there have ever been.

    Two templates that give different types under one name are kept apart, and a template goes where its columns went
    before.
    """
    columns = [dict(group) for group in known]
    found: dict[int, ResultGroup] = {}
    for route in plan.of_kind(Route):
        if route.shape.sink is not None:
            continue
        own = {named.name.lower(): (named.name, named.expr.type) for named in route.shape.columns}
        fits = (number for number, group in enumerate(columns) if all(group.get(k, c) == c for k, c in own.items()))
        number = next(fits, len(columns))
        if number == len(columns):
            columns.append({})
        columns[number].update(own)
        group = found.setdefault(number, ResultGroup(number, {}, []))
        group.columns.update(own)
        group.targets.append(Target(route.shape, route.members))
    return list(found.values()), tuple(columns)


class Results:
    """The folders of the store."""

    def __init__(
        self, spark: SparkSession, storage: Storage, *, read_up_to: Callable[[], int | None] = lambda: None
    ) -> None:
        """`read_up_to` says up to which step somebody who takes results step by step has read them."""
        self._spark = spark
        self._storage = storage
        self._read_up_to = read_up_to
        self._asked_at = float("-inf")
        self.folder = storage.path("results")

    def stage(self, rows: DataFrame, step: int, group: int, *, more: bool = False) -> None:
        """Write results of a step where nobody looks yet; `more` of them beside those that are there."""
        rows.write.mode("append" if more else "overwrite").parquet(self._staged(step, group))

    def staged(self, step: int, group: int) -> DataFrame:
        """What has been staged."""
        return self._spark.read.option("mergeSchema", "true").parquet(self._staged(step, group))

    def show(self, step: int, group: int) -> str:
        """Move staged results into the store; done again, it replaces them."""
        name = self.name(step, group)
        self._storage.move(self._staged(step, group), f"{self.folder}/{name}")
        return name

    def _staged(self, step: int, group: int) -> str:
        return self._storage.path("staging", self.name(step, group))

    def name(self, step: int, group: int) -> str:
        """The folder of a step's results."""
        return f"s{step:010}-{group}"

    def clean(self, state: State) -> None:
        """Undo what an interrupted run left half done: a swap of folders, staged results, folders that do not count."""
        there = self._storage.names(self.folder)
        for name in there:
            if name not in state.results:  # first, so that nobody ever sees a folder and the one that it is merged into
                self._storage.delete(f"{self.folder}/{name}")
        for name in state.results:
            if name not in there:
                aside = self._storage.path("staging", f"old-{name}")
                if not self._storage.exists(aside):
                    refuse_missing(self._storage, f"{self.folder}/{name}")
                self._storage.move(aside, f"{self.folder}/{name}")
        self._storage.delete(self._storage.path("staging"))

    def of_query(
        self,
        state: State,
        query: str,
        columns: Iterable[tuple[str, str]],
        *,
        after: int = 0,
        spark: SparkSession | None = None,
    ) -> DataFrame:
        """One query's results: the time of each and its own columns, of these names and types.

        Those of the steps `after` one, if their folders have not been merged with older ones; in the session `spark`.
        """
        spark = spark or self._spark
        self._asked_at = time.monotonic()
        folders = [name for name in state.results if not after or (_level(name) == 0 and _step(name) > after)]
        for name in folders:
            refuse_missing(self._storage, f"{self.folder}/{name}")
        own = list(columns)
        found = spark.range(0).where("FALSE").select(*(_shown(None, *it) for it in [(TIME, "timestamp"), *own]))
        for group in sorted({_group(name) for name in folders}):
            rows = self._read([name for name in folders if _group(name) == group], spark)
            types = {name.lower(): (name, type_) for name, type_ in rows.dtypes}
            shown = [_shown(types.get(name.lower()), name, type_) for name, type_ in own]
            found = found.unionAll(rows.where(F.col(QUERY) == query).select(TIME, *shown))
        return found

    def _read(self, names: list[str], spark: SparkSession) -> DataFrame:
        return spark.read.option("mergeSchema", "true").parquet(glob_of(self.folder, names))

    def due(self, state: State) -> list[str]:
        """The folders that are to become one: small ones, when there are enough of them in a row."""
        read = self._read_up_to()
        enough = _CROWDED if time.monotonic() - self._asked_at < _READING else _MERGE
        for level in range(6 if read != 0 else 0):  # who has read nothing yet reads everything
            of_level = [name for name in state.results if _level(name) == level]
            if level == 0 and read is not None:
                of_level = [name for name in of_level if _step(name) <= read]
            for group in sorted({_group(name) for name in of_level}):
                own = sorted(name for name in of_level if _group(name) == group)
                if len(own) >= enough:
                    return own[:_MERGE]
        return []

    def merge(self, names: list[str]) -> str:
        """Write folders as one, where nobody looks yet; its name."""
        merged = f"m{_level(names[0]) + 1}-{names[0].split('-')[-2][-10:]}-{_group(names[0])}"
        self._read(names, self._spark).coalesce(1).write.mode("overwrite").parquet(
            self._storage.path("staging", merged)
        )
        reached("results-merged")
        return merged

    def swap(self, names: list[str], merged: str) -> None:
        """Put the merged folder in place of the others."""
        for name in names:
            self._storage.move(f"{self.folder}/{name}", self._storage.path("staging", f"old-{name}"))
        self._storage.move(self._storage.path("staging", merged), f"{self.folder}/{merged}")
        reached("results-swapped")

    def forget(self, names: list[str]) -> None:
        """Remove the folders that a merged one has replaced, once that is in the log."""
        for name in names:
            self._storage.delete(self._storage.path("staging", f"old-{name}"))


def _level(name: str) -> int:
    return 0 if name.startswith("s") else int(name[1:].split("-")[0])


def _step(name: str) -> int:
    return int(name[1:].split("-")[0])


def _group(name: str) -> int:
    return int(name.split("-")[-1])


def _shown(found: tuple[str, str] | None, name: str, type_: str) -> Column:
    """A column of results; NULL where it is not there, or was of a type that does not become this one."""
    if found is None:
        return F.lit(None).cast(type_).alias(name)
    there, was = found
    own = F.col(quoted(there))
    # Through text, because every type becomes one.
    return (own if was == type_ else own.cast("string").try_cast(type_)).alias(name)
