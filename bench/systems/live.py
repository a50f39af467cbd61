"""Streams that arrive while queries run: Penstock, with queries that come and go, and Spark's own joins.

A job is that of the system, with `data`, the folder whose files arrive, `every` so many seconds; the first `skip` of
them do not count.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import penstock as p
from penstock.bench.systems import spark as spark_system
from penstock.bench.systems.feed import Commit, Feeder, latencies
from penstock.bench.systems.penstock import counted
from penstock.runtime.engine import Migration, StepReport


class Live:
    """A session that runs while files arrive, and what it has told."""

    def __init__(self, job: dict[str, Any]) -> None:
        work = Path(job["work"])
        self.feeder = Feeder(Path(job["data"]), work / "live", list(job["streams"]), job["every"])
        streams = {
            name: {**stream, "source": {**stream["source"], "path": str(work / "live" / name)}}
            for name, stream in job["streams"].items()
        }
        self.commits: list[Commit] = []
        self.steps: list[tuple[float, float]] = []
        """When each was done, and how long it took."""
        self.migrations: list[Migration] = []
        self._news = threading.Condition()
        self.state = work / "state"
        self.session = p.Session(catalog={"streams": streams}, state=self.state)
        for name, text in job["texts"].items():
            self.session.register(name, text)
        self.session.on_step = self._note
        self.session.on_migration = self.migrations.append

    def _note(self, report: StepReport) -> None:
        with self._news:
            now = time.time()
            self.commits.append((now, sum(report.rows.values())))
            self.steps.append((now, report.seconds))
            self._news.notify_all()

    def start(self) -> None:
        """Run, and let files arrive."""
        self.session.start()
        self.feeder.start()

    def wait(self, rows: int) -> None:
        """Wait until so many rows have been taken, or the run has failed."""
        with self._news:
            while sum(taken for _, taken in self.commits) < rows and self.session.is_running:
                self._news.wait(1.0)

    def finish(self) -> None:
        """Wait for what has arrived, and stop."""
        self.wait(self.feeder.rows[-1])
        self.session.stop()

    def step_median(self, begin: float, end: float) -> float | None:
        """The median time of the steps that were done in some time; None if there were none."""
        return median(seconds for when, seconds in self.steps if begin <= when < end)


def median(values: Iterable[float | None]) -> float | None:
    """The median of the values that there are."""
    found = [value for value in values if value is not None]
    return statistics.median(found) if found else None


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Penstock: how long it takes from the arrival of a file to its results."""
    live = Live(job)
    live.start()
    live.feeder.wait()
    live.finish()
    steps = [seconds for _, seconds in live.steps]
    return {**latencies(live.feeder, live.commits, job["skip"]), "steps": steps, **counted(live.state, job)}


def spark(job: dict[str, Any]) -> dict[str, Any]:
    """Spark's own join of one query: the same."""
    session = spark_system.session()
    live = Path(job["work"]) / "live"
    feeder = Feeder(Path(job["data"]), live, list(job["streams"]), job["every"])
    for name, stream in job["streams"].items():
        rows = session.readStream.schema(stream["columns"]).parquet(str(live / name))
        rows.withWatermark("ts", "1 second").createOrReplaceTempView(name)
    ((name, question),) = job["questions"].items()
    writer = session.sql(question).writeStream.format("parquet").option("path", f"{job['work']}/out/{name}")
    query = writer.option("checkpointLocation", f"{job['work']}/checkpoint").outputMode("append").start()
    feeder.start()
    feeder.wait()
    query.processAllAvailable()
    query.stop()
    commits = []
    for progress in query.recentProgress:
        seconds = progress["durationMs"].get("triggerExecution", 0) / 1000
        began = datetime.fromisoformat(progress["timestamp"]).timestamp()
        commits.append((began + seconds, sum(source["numInputRows"] for source in progress["sources"])))
    return {**latencies(feeder, commits, job["skip"]), **spark_system.counted(session, job)}


def churn(job: dict[str, Any]) -> dict[str, Any]:
    """Penstock: queries are added until there are so many, then come and go in every second period.

    `more` are their texts; `reach` so many of them are added, then `churned` a second come and go, in `periods`.
    """
    live = Live(job)
    live.start()
    live.wait(live.feeder.total * job["skip"] // job["files"])
    texts = list(job["more"].items())
    adding = []
    for name, text in texts[: job["reach"]]:
        began = time.perf_counter()
        live.session.register(name, text)
        adding.append(time.perf_counter() - began)
    standing = [name for name, _ in texts[: job["reach"]]]
    coming = iter(texts[job["reach"] :])
    calm: list[float | None] = []
    busy: list[float | None] = []
    changing: list[float] = []
    for period in range(job["periods"]):
        began = due = time.time()
        while time.time() < began + job["period"]:
            if period % 2:
                called = time.perf_counter()
                if len(changing) % 2:
                    live.session.drop(standing.pop(0))
                else:
                    name, text = next(coming)
                    live.session.register(name, text)
                    standing.append(name)
                changing.append(time.perf_counter() - called)
            due += 1 / job["churned"]
            time.sleep(max(0.0, due - time.time()))
        (busy if period % 2 else calm).append(live.step_median(began, time.time()))
    live.feeder.stop()
    live.finish()
    tenth = max(1, len(adding) // 10)
    return {
        "seconds": statistics.median(changing),
        "worst": max(changing),
        "adding": {"first": statistics.median(adding[:tenth]), "last": statistics.median(adding[-tenth:])},
        "made": statistics.median(migration.seconds for migration in live.migrations),
        "step_calm": median(calm),
        "step_busy": median(busy),
        "ratio": median(b / c for b, c in zip(busy, calm, strict=True) if b and c),
        "changes": len(changing),
        "results": {name: count for name, count in counted(live.state, job)["results"].items() if name in job["texts"]},
    }
