"""What `penstock doctor` finds, and what it says to do; without Spark, but for the one check that starts it."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
import typer

from penstock.catalog import load_catalog
from penstock.commands.doctor import doctor
from penstock.doctor import Finding, folders, machine, spark
from penstock.doctor.examine import examine
from penstock.doctor.project import check_project
from penstock.doctor.sources import check_source
from penstock.grammar.errors import PenstockError
from penstock.project import find_project
from penstock.runtime.lock import Lock
from penstock.runtime.session import SparkSession
from penstock.starter import make_project

GB = 2**30


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make_project(tmp_path / "project")
    return tmp_path / "project"


def about(found: Finding, status: str, *said: str) -> None:
    """How a check ended, and what it says; whatever is not right says what to do."""
    assert found.status == status, found
    assert all(text in f"{found.found} | {found.advice}" for text in said), found
    assert (found.advice == "") == (status == "ok")


# The machine


@pytest.mark.parametrize(
    ("asked", "total", "available", "status", "said"),
    [
        ("2g", 8 * GB, 4 * GB, "ok", "2.0 of 8.0 GB, of which 4.0 are free"),
        ("1500m", 8 * GB, 4 * GB, "ok", "1.5 of 8.0 GB"),
        ("1048576k", 8 * GB, 4 * GB, "ok", "1.0 of 8.0 GB"),
        ("2g", 8 * GB, 1 * GB, "warning", "Close other programs"),
        ("9g", 8 * GB, 8 * GB, "failed", "less 1 GB"),
        ("100m", 8 * GB, 8 * GB, "failed", "1g or more"),
        ("much", 8 * GB, 8 * GB, "failed", "'much' is not a size"),
    ],
)
def test_memory(asked: str, total: int, available: int, status: str, said: str) -> None:
    about(machine.check_memory(asked, total, available), status, said)


def test_the_memory_of_this_machine() -> None:
    total, free = machine.memory()
    assert 0 < free <= total


def test_cores() -> None:
    about(machine.check_cores(4, 4), "ok", "4")
    about(machine.check_cores(1, 1), "warning", "two or more")
    about(machine.check_cores(2, 8), "warning", "spark.master: local[2]")
    assert machine.usable_cores() >= 1


def test_an_address_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    about(machine.check_address(), "ok", "127.0.0.1")
    monkeypatch.setenv("SPARK_LOCAL_IP", "192.0.2.1")  # an address for documentation: no machine has it
    about(machine.check_address(), "warning", "not an address of this machine", "SPARK_LOCAL_IP=127.0.0.1")
    monkeypatch.delenv("SPARK_LOCAL_IP")

    def unknown(_: str) -> str:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "gethostname", lambda: "nobody")
    monkeypatch.setattr(socket, "gethostbyname", unknown)
    about(machine.check_address(), "warning", "the name nobody has no address", "/etc/hosts")


def test_variables_that_lead_to_another_spark() -> None:
    about(machine.check_environment({"HOME": "/", "SPARK_HOME": ""}), "ok")
    about(machine.check_environment({"SPARK_HOME": "/opt"}), "warning", "SPARK_HOME=/opt", "unset SPARK_HOME")


# Folders


def test_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not be there: then the one above it counts."""
    about(folders.check_folder("temp", tmp_path / "new" / "newer", "another"), "ok", "GB free")
    assert list(tmp_path.iterdir()) == []
    for free, status in ((50 * 2**20, "failed"), (GB // 2, "warning")):
        usage = shutil._ntuple_diskusage(100 * GB, 0, free)
        monkeypatch.setattr(shutil, "disk_usage", lambda _, usage=usage: usage)
        about(folders.check_folder("temp", tmp_path, "another"), status, "Make room")


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    about(folders.check_folder("state", tmp_path / "file", "another"), "failed", "cannot be written to", "another")


def test_where_spark_keeps_what_it_cannot_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    about(folders.check_temp({"spark.local.dir": f"{tmp_path},/elsewhere"}), "ok", f"{tmp_path}, ")
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "own"))
    about(folders.check_temp({"spark.local.dir": "/elsewhere"}), "ok", f"{tmp_path / 'own'}, ")


# Java and Spark


def java_that_says(folder: Path, text: str, code: int = 0) -> Path:
    """A program in the place of Java."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit {code}\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("text", "code", "status", "said"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 0, "ok", "17.0.15"),
        ('openjdk version "21" 2023-09-19', 0, "ok", "21, "),
        ('java version "1.8.0_402"', 0, "failed", "8.0_402"),
        ('openjdk version "11.0.2" 2019-01-15', 0, "failed", "Spark needs 17"),
        ("what?", 0, "failed", "does not say its version"),
        ("", 1, "failed", "does not run"),
    ],
)
def test_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int, status: str, said: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_that_says(tmp_path, text, code)))
    about(spark.check_java(), status, said)


def test_without_java(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything else is looked at all the same."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere/java")
    with pytest.raises(typer.Exit) as exit_:
        doctor(project, "json")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    status = {row["check"]: row["status"] for row in rows}
    assert exit_.value.exit_code == 1
    assert {check for check in status if status[check] == "failed"} == {"Java", "Spark starts"}
    assert status["stream Temperature"] == status["relation Racks"] == status["state folder"] == "ok"
    assert next(row["found"] for row in rows if row["check"] == "Spark starts") == "not tried: Java is not right"


def test_spark_starts(spark: SparkSession, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the one that is there, which goes on afterwards."""
    doctor(project, "table")
    out = capsys.readouterr().out
    assert "Spark starts" in out and "failed" not in out
    assert spark.range(3).count() == 3


def test_no_project_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere/java")
    assert {found.check for found in examine(None)}.isdisjoint({"project", "state folder"})
    with pytest.raises(PenstockError, match=r"there is no penstock\.yml"):
        doctor(tmp_path, "table")


# A project


def findings(project: Path) -> dict[str, Finding]:
    return {found.check: found for found in check_project(find_project(project))}


def test_a_project_that_is_right(project: Path) -> None:
    found = findings(project)
    assert {it.status for it in found.values()} == {"ok"}
    assert found["stream Load"].found == "data/load/00000.csv fits"
    assert not (project / ".penstock").exists()


def test_a_project_with_a_mistake(project: Path) -> None:
    (project / "queries" / "hot.cql").write_text("SELECT Valu, LocationI FROM Temperature")
    found = findings(project)
    assert list(found) == ["project"]
    about(found["project"], "failed", "unknown column 'Valu' (and 1 more)", "Did you mean Value?")


def test_a_run_that_was_broken_off(project: Path) -> None:
    """Its lock is left behind, and nobody has it."""
    lock = Lock(project / ".penstock")
    lock.acquire()
    about(findings(project)["runs"], "warning", f"process {os.getpid()} on ", "is at work", "Stop that run")
    text = (project / ".penstock" / "lock").read_text()
    lock.release()
    about(findings(project)["runs"], "ok")
    (project / ".penstock" / "lock").write_text(text)
    about(findings(project)["runs"], "warning", f"process {os.getpid()} on ", "in the middle of a run", "goes on")


def test_a_state_folder_elsewhere(project: Path) -> None:
    (project / "penstock.yml").write_text("state: s3a://bucket/state\n")
    found = findings(project)
    about(found["state folder"], "ok", "s3a://bucket/state")
    assert "runs" not in found


def test_a_state_that_is_damaged(project: Path) -> None:
    log = project / ".penstock" / "log"
    log.mkdir(parents=True)
    (log / "0000000001.done.json").write_text("[]")
    about(findings(project)["state"], "failed", "the state is damaged", "Put a copy")


# Sources


def source(folder: Path, format: str, path: str = "data", **options: Any) -> Finding:
    """What is found about a stream with three columns."""
    schema = {"k": "int", "v": "double", "ts": "timestamp"}
    stream = {"schema": schema, "source": {"format": format, "path": path, "options": options}}
    return check_source(load_catalog({"streams": {"Heat": stream}}).stream("Heat"), folder)


def text(folder: Path, content: str, name: str = "0.csv") -> Path:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / name).write_text(content)
    return folder


HEADER = {"header": True}


@pytest.mark.parametrize(
    ("content", "options", "status", "said"),
    [
        ("k,v,ts\n1,2.5,2026-01-01\n", HEADER, "ok", "data/0.csv fits"),
        ("K,V,TS,more\n1,2.5,2026-01-01,x\n", HEADER, "ok", "fits"),
        ("k,v,ts\n", HEADER, "ok", "fits"),
        ("k,v,ts\n1,,2026-01-01\n", HEADER, "ok", "fits"),
        ("k;v;ts\n1;2.5;2026-01-01\n", {**HEADER, "sep": ";"}, "ok", "fits"),
        ("1,2.5,2026-01-01\n", {}, "ok", "fits"),
        ("k,w,ts\n1,2.5,2026-01-01\n", HEADER, "failed", "has no column v, but k, ts, w"),
        ("k;v;ts\n", HEADER, "failed", "has no column k, v, ts"),
        ("1,2.5\n", {}, "failed", "has no column ts"),
        ("k,v,ts\none,2.5,2026-01-01\n", HEADER, "warning", "k is one, not int"),
        ("", HEADER, "ok", "its columns are not looked at"),
    ],
)
def test_csv(tmp_path: Path, content: str, options: dict[str, Any], status: str, said: str) -> None:
    about(source(text(tmp_path, content), "csv", **options), status, said)


@pytest.mark.parametrize(
    ("content", "options", "status", "said"),
    [
        ('{"k": 1, "v": 2.5, "ts": "2026-01-01"}\n', {}, "ok", "fits"),
        ('{"k": null, "v": 2, "ts": "2026-01-01"}\n', {}, "ok", "fits"),
        ('{"k": 1, "ts": "2026-01-01"}\n', {}, "failed", "has no column v, but k, ts"),
        ('{"k": 1, "v": "high", "ts": "2026-01-01"}\n', {}, "warning", "v is high, not double"),
        ("{\n", {}, "failed", "the first file in data is not json"),
        ("[{\n}]", {"multiLine": True}, "ok", "not looked at"),
    ],
)
def test_json(tmp_path: Path, content: str, options: dict[str, Any], status: str, said: str) -> None:
    about(source(text(tmp_path, content, "0.json"), "json", **options), status, said)


def test_a_file_that_is_packed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with gzip.open(tmp_path / "data" / "0.csv.gz", "wt") as file:
        file.write("k,w,ts\n")
    about(source(tmp_path, "csv", header=True), "failed", "has no column v")


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_files_with_types(tmp_path: Path, format: str) -> None:
    def write(**columns: list[Any]) -> Finding:
        table = pa.table({**columns, "ts": pa.array([0], pa.timestamp("us"))})
        pq.write_table(table, file) if format == "parquet" else orc.write_table(table, str(file))
        return source(tmp_path, format)

    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "0"
    about(write(k=[1], v=[2.5]), "ok", "data/0 fits")
    about(write(k=[1]), "failed", "has no column v, but k, ts")
    about(write(k=["1"], v=[2.5]), "warning", "k is string, not int", "set aside")
    file.write_text("nothing of the kind")
    about(source(tmp_path, format), "failed", f"the first file in data is not {format}")


def test_where_a_source_is(tmp_path: Path) -> None:
    about(source(tmp_path, "csv"), "failed", "there is nothing at data")
    (tmp_path / "data").mkdir()
    text(tmp_path, "", "_spark_metadata")
    about(source(tmp_path, "csv"), "warning", "there is no file in data yet")
    text(tmp_path, "1,2,3\n")
    about(source(tmp_path, "csv", "data/0.csv"), "failed", "data/0.csv is a file")
    about(source(tmp_path, "csv", "da*"), "ok", "data/0.csv fits")
    about(source(tmp_path, "csv", str(tmp_path / "data")), "ok", "data/0.csv fits")
    about(source(tmp_path, "csv", "s3a://bucket/data"), "ok", "s3a://bucket/data, which is not looked at")


def test_sources_that_are_not_files(tmp_path: Path) -> None:
    catalog = load_catalog({"streams": {"Heat": {"schema": {"ts": "timestamp"}, "source": {"format": "rate"}}}})
    about(check_source(catalog.stream("Heat"), tmp_path), "ok", "read from rate")
    catalog = load_catalog({"streams": {"Heat": {"schema": {"ts": "timestamp"}}}})
    about(check_source(catalog.stream("Heat"), tmp_path), "failed", "has no source")


def test_a_source_that_nobody_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    text(tmp_path, "1,2,3\n")
    monkeypatch.setattr(Path, "open", refuse)
    about(source(tmp_path, "csv"), "failed", "0.csv: there is no right to it", "Check who may read")
