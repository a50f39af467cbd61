"""The queries of Nexmark that are joins or aggregates with windows, each alone, and fifty variants of two of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from penstock.bench.core import (
    Case,
    Found,
    Job,
    Setting,
    Shown,
    Table,
    Workload,
    median_and_spread,
    number,
    ratio,
    times,
)
from penstock.bench.nexmark_data import SCHEMAS, Events, make_events
from penstock.bench.nexmark_queries import NOT_ASKED, Question, questions, variants

FLINK_TYPES = {"bigint": "BIGINT", "string": "STRING", "timestamp": "TIMESTAMP(3)"}
FEW = 5
"""So many of the variants are run by Spark, which takes minutes."""


def events(setting: Setting) -> Events:
    """What is made."""
    return setting.pick(Events(20_000, 20), Events(20_000, 10), Events(500, 12))


def chosen(setting: Setting) -> dict[str, Question]:
    """The queries that are measured alone."""
    found = questions()
    names = setting.pick(tuple(found), ("q3", "q5", "q8", "q12", "q20", "q23"), ("q3", "q5", "q7", "q8", "q12"))
    return {name: found[name] for name in names}


def together(setting: Setting) -> dict[str, Question]:
    """The variants."""
    return variants(setting.pick(50, 50, 4), setting.pick(20, 10, 2))


def penstock_job(data: Path, made: Events, asked: Mapping[str, Question]) -> Job:
    """For Penstock."""
    streams = {
        name: {
            "schema": schema,
            "timestamp": "ts",
            "source": {"format": "parquet", "path": str(data / name), "options": {"maxFilesPerTrigger": 2}},
            "statistics": {"rate": made.rates()[name]},
        }
        for name, schema in SCHEMAS.items()
    }
    texts = {name: text for question in asked.values() for name, text in question.texts.items()}
    return {"streams": streams, "texts": texts, "drain": True}


def duckdb_job(data: Path, asked: Mapping[str, Question]) -> Job:
    """For DuckDB."""
    streams = {name: f"{data / name}/*.parquet" for name in SCHEMAS}
    return {"streams": streams, "questions": {name: question.duck for name, question in asked.items()}}


def flink_job(data: Path, asked: Mapping[str, Question]) -> Job:
    """For Flink; the tables whose names end in _w have an event time a millisecond earlier."""
    streams = {}
    for name, schema in SCHEMAS.items():
        columns = ", ".join(f"`{column}` {FLINK_TYPES[type_]}" for column, type_ in schema.items())
        path = str(data / "csv" / name)
        streams[name] = {"path": path, "columns": columns}
        earlier = f"{columns}, w AS ts - INTERVAL '0.001' SECOND(1, 3)"
        streams[f"{name}_w"] = {"path": path, "columns": earlier, "time": "w"}
    return {"streams": streams, "questions": {name: question.flink for name, question in asked.items()}}


def spark_job(data: Path, asked: Mapping[str, Question]) -> Job:
    """For Spark."""
    streams = {
        name: {"path": str(data / name), "columns": ", ".join(f"{c} {t}" for c, t in schema.items())}
        for name, schema in SCHEMAS.items()
    }
    return {"streams": streams, "questions": {name: question.spark for name, question in asked.items()}, "files": 1}


def cases(setting: Setting) -> list[Case]:
    """Each query by everyone who can be asked it, and the variants at once."""
    data, made = setting.scratch / "nexmark", events(setting)
    make_events(data, made, csv=True)
    found = []
    for name, question in chosen(setting).items():
        asked = {name: question}
        found.append(Case(f"penstock, {name}", "penstock", penstock_job(data, made, asked), warm={}, answers=name))
        found.append(Case(f"duckdb, {name}", "duckdb", duckdb_job(data, asked), answers=name, rounds=1))
        if question.flink:
            job = flink_job(data, asked)
            found.append(Case(f"flink, {name}", "flink", job, counted={"count": True}, answers=name, rounds=1))
        if question.spark:
            found.append(Case(f"spark, {name}", "spark", spark_job(data, asked), answers=name, rounds=1))
    many, name = together(setting), "variants"
    few = dict(list(many.items())[:FEW])
    found.append(Case(f"penstock, {name}", "penstock", penstock_job(data, made, many), warm={}, answers=name))
    found.append(Case(f"duckdb, {name}", "duckdb", duckdb_job(data, many), answers=name, rounds=1))
    found.append(Case(f"flink, {name}", "flink", flink_job(data, many), warm={}, answers=name, rounds=1))
    found.append(Case(f"spark, {name}", "spark", spark_job(data, few), answers=name, rounds=1))
    return found


def show(setting: Setting, found: Found) -> Shown:
    """Events a second of each query by each system."""
    made = events(setting)
    many = together(setting)
    about = {name: question.about for name, question in chosen(setting).items()}
    about["variants"] = f"{len(many)} variants of q3 and q20 at once"
    lines: list[tuple[str, ...]] = []
    figures: dict[str, float | None] = {}
    for name, text in about.items():
        own = found.median(f"penstock, {name}")
        cells = [name, text, median_and_spread(found.get(f"penstock, {name}")), number(ratio(made.rows, own))]
        for peer in ("flink", "spark"):
            one = found.get(f"{peer}, {name}")
            taken = one.median() if one else None
            scaled = peer == "spark" and name == "variants" and len(many) > FEW
            if taken and scaled:
                taken *= len(many) / FEW
            cells.append(number(taken, 1) + " *" if taken and scaled else median_and_spread(one))
            figures[f"{peer} {name}"] = ratio(taken, own)
            cells.append(times(figures[f"{peer} {name}"]))
        lines.append(tuple(cells))
    header = ("query", "", "Penstock, s", "events/s", "Flink, s", "to Penstock", "Spark, s", "to Penstock")
    note = (
        f"Flink throws its results away. * Extrapolated from {FEW} of them. Joins have the windows of the aggregates."
    )
    table = Table("nexmark", f"Nexmark, {made.rows:,} events", header, lines, note)
    notes = [f"Not asked: {names}: {why}." for names, why in NOT_ASKED.items()]
    return Shown(tables=[table], figures=figures, notes=notes)


WORKLOAD = Workload("nexmark", "Nexmark", "joins and aggregates with windows over auctions and bids", cases, show)
