"""INSERT INTO: results that go elsewhere than into the store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame

from penstock.compiler.logical import Sink
from penstock.compiler.physical import PhysicalPlan, Route
from penstock.grammar.errors import PenstockError
from penstock.runtime.columns import QUERY
from penstock.runtime.failures import cause, reason
from penstock.runtime.route import NUMBER, Target
from penstock.runtime.storage import Storage

_FILES = ("parquet", "json", "csv", "orc", "avro", "text")


@dataclass(frozen=True)
class SinkWriter:
    """Writes the results of a step to a sink.

    Files are named after the step, so that a step done again replaces what it wrote before: every result is there
    once. Other sinks get a step's results again if the run is killed in the middle of it.
    """

    name: str
    sink: Sink
    path: str | None
    storage: Storage

    def write(self, rows: DataFrame, step: int) -> None:
        """Write the results of a step."""
        results = rows.drop(QUERY, NUMBER)
        try:
            if self.sink.format.lower() in _FILES and self.path is not None:
                self._write_files(results, self.path, step)
            else:
                writer = results.write.format(self.sink.format).mode("append").options(**dict(self.sink.options))
                writer.save(self.path) if self.path is not None else writer.save()
        except PenstockError:
            raise
        except Exception as error:
            known = reason(error, format=self.sink.format, path=self.path)
            why, hint = known or (cause(error), "Check the format, the path and the options behind INSERT INTO.")
            raise PenstockError(
                f"results cannot be written to {self.sink}: {why}", hint=hint, label="unwritable-sink"
            ) from error

    def _write_files(self, rows: DataFrame, folder: str, step: int) -> None:
        mark = f"{self.name}-s{step:010}-"
        staged = f"{folder}/_{mark}staged"
        for name in self.storage.names(folder):
            if name.startswith(mark):
                self.storage.delete(f"{folder}/{name}")
        rows.write.format(self.sink.format).mode("overwrite").options(**dict(self.sink.options)).save(staged)
        for name in self.storage.names(staged):
            if not name.startswith(("_", ".")):
                self.storage.move(f"{staged}/{name}", f"{folder}/{mark}{name}")
        self.storage.delete(staged)


def sinks_of(plan: PhysicalPlan, storage: Storage, root: Path | None) -> list[tuple[Target, SinkWriter]]:
    """A writer for every template with a sink of its own."""
    found = []
    for route in plan.of_kind(Route):
        sink = route.shape.sink
        if sink is not None:
            path = sink.path
            if path is not None and root is not None and "://" not in path and not path.startswith("/"):
                path = str(root / path)
            found.append((Target(route.shape, route.members), SinkWriter(route.id, sink, path, storage)))
    return found
