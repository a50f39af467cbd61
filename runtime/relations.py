"""Relations: read when a run begins, and again when their files have changed; bad rows are set aside."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from penstock.catalog import Relation
from penstock.catalog.parts import SourceSpec
from penstock.compiler.shared import Fact
from penstock.grammar.errors import PenstockError
from penstock.runtime.columns import quoted
from penstock.runtime.reach import over_columns
from penstock.runtime.sources import ORIGINAL, REASON, Conversion, explanation, read_relation, resolved
from penstock.runtime.storage import Print, Storage

_GLOBAL = "global_temp."
"""Streams are read in sessions of their own, which see only such tables."""
_OLD = 8
"""So many earlier versions are still there, for who has begun to read them."""


@dataclass
class Loaded:
    """A relation as it was read: its rows, a table of those that are fine, and what its files looked like then."""

    frame: DataFrame
    copy: str
    """The folder of a copy of it."""
    table: str
    rows: int
    unreadable: int
    print: Print | None
    spans: dict[str, str] = field(default_factory=dict)
    """Tables of the times of validity by key, by fact."""


@dataclass(frozen=True)
class Pinned:
    """Relations as they were at some time."""

    loaded: Mapping[str, Loaded]

    def table(self, name: str) -> str:
        """The table of a relation."""
        return self.loaded[name].table

    def rows(self, name: str) -> int:
        """How many rows a relation has."""
        return self.loaded[name].rows

    def spans(self, fact: Fact) -> str:
        """The table of a fact: `_key0`, `_key1`, … and `_spans`, the times of validity."""
        return self.loaded[fact.relation].spans[fact.column]


class Relations:
    """The relations that a plan reads, for its steps and for the readers of its streams."""

    def __init__(self, spark: SparkSession, storage: Storage, root: Path | None) -> None:
        self._spark = spark
        self._storage = storage
        self._root = root
        self._relations: dict[str, Relation] = {}
        self._facts: dict[str, Fact] = {}
        self._latest: dict[str, Loaded] = {}
        self._old: deque[Loaded] = deque()
        self._lock = threading.RLock()

    def use(self, relations: Mapping[str, Relation], facts: Iterable[Fact]) -> None:
        """Read these from now on, and look for these facts in them."""
        with self._lock:
            for name in [name for name in self._latest if relations.get(name) != self._relations[name]]:
                self._old.append(self._latest.pop(name))
            self._relations = dict(relations)
            self._facts = {fact.column: fact for fact in facts}

    def refresh(self) -> Pinned:
        """The relations as they are now: what has changed since it was read is read again."""
        with self._lock:
            for name, relation in self._relations.items():
                known, now = self._latest.get(name), self._print(relation)
                gone = now == () and known is not None  # it is being written anew
                if known is None or (not gone and (now is None or now != known.print)):
                    self._load(relation, now)
            return self.latest()

    def latest(self) -> Pinned:
        """The relations as they were read last, those that were not yet are read now."""
        with self._lock:
            for name, relation in self._relations.items():
                if name not in self._latest:
                    self._load(relation, self._print(relation))
            for fact in self._facts.values():
                loaded = self._latest[fact.relation]
                if fact.column not in loaded.spans:
                    loaded.spans[fact.column] = self._collect(fact, loaded)
            return Pinned(dict(self._latest))

    def shown(self) -> dict[str, tuple[int, int]]:
        """For every relation that was read, its rows and those that could not be read."""
        return {name: (loaded.rows, loaded.unreadable) for name, loaded in self._latest.items()}

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            for loaded in (*self._old, *self._latest.values()):
                self._forget(loaded)
            self._old.clear()
            self._latest = {}
            self._storage.delete(self._storage.path("relations"))

    def _forget(self, loaded: Loaded) -> None:
        loaded.frame.unpersist()
        self._storage.delete(loaded.copy)
        for table in (loaded.table, *loaded.spans.values()):
            self._spark.catalog.dropGlobalTempView(table.removeprefix(_GLOBAL))

    def _collect(self, fact: Fact, loaded: Loaded) -> str:
        """The times of validity by key, as a table."""
        keys = [over_columns(theirs, fact.relation) for theirs in fact.theirs]
        named = [f"{key} AS _key{i}" for i, key in enumerate(keys)]
        begin, end = (f"unix_micros({quoted(name)})" for name in fact.valid)
        present = " AND ".join([f"{begin} < {end}", *(f"({key}) IS NOT NULL" for key in keys)])
        spans = f"collect_list(struct({begin} AS begin, {end} AS end)) AS _spans"
        text = f"SELECT {', '.join([*named, spans])} FROM {loaded.table} WHERE {present} GROUP BY {', '.join(keys)}"
        table = f"{loaded.table}{fact.column}"
        frame = self._spark.sql(text).coalesce(1).persist()
        frame.createOrReplaceGlobalTempView(table.removeprefix(_GLOBAL))
        return table

    def _load(self, relation: Relation, now: Print | None) -> None:
        came = read_relation(self._spark, relation, self._root)
        table = f"penstock_relation_{uuid4().hex[:12]}"
        source = f"{table}_source"
        came.createOrReplaceTempView(source)
        conversion = Conversion(came, relation)
        columns = [quoted(column.name) for column in relation.columns]
        rejected = self._storage.path("rejected", quote(relation.name, safe=""))
        copy = self._storage.path("relations", quote(relation.name, safe=""), uuid4().hex[:12])
        try:
            # A copy: Spark would take rows that it holds of a file for what is in the file now.
            read = self._spark.sql(conversion.sql(source)).selectExpr(REASON, *columns)
            read.coalesce(1).write.mode("overwrite").parquet(copy)
            judged = self._spark.read.schema(read.schema).parquet(copy).persist()
            ((rows, unreadable),) = judged.selectExpr("count(1)", f"count({REASON})").collect()
            self._storage.delete(rejected)
            if unreadable:
                all_of_it = self._spark.sql(conversion.sql(source, original=True))
                bad = all_of_it.where(f"{REASON} IS NOT NULL").selectExpr(REASON, f"{ORIGINAL}.*")
                bad.write.mode("overwrite").json(rejected)
        except PenstockError:
            raise
        except Exception as error:
            assert relation.source is not None
            raise explanation(f"the relation {relation.name}", relation.source, error) from error
        finally:
            self._spark.catalog.dropTempView(source)
        fine = judged.where(f"{REASON} IS NULL").select(*columns)
        fine.createOrReplaceGlobalTempView(table)
        if relation.name in self._latest:
            self._old.append(self._latest[relation.name])
        while len(self._old) > _OLD:
            self._forget(self._old.popleft())
        self._latest[relation.name] = Loaded(judged, copy, f"{_GLOBAL}{table}", rows - unreadable, unreadable, now)

    def _print(self, relation: Relation) -> Print | None:
        """What its files look like; None if that cannot be told, so that it must be read each time."""
        source = relation.source
        if source is None or (path := resolved(source, self._root)) is None or not _is_files(source):
            return None
        return self._storage.files(path)


def _is_files(source: SourceSpec) -> bool:
    return source.format.lower() in ("csv", "json", "parquet", "orc", "avro", "text", "delta")
