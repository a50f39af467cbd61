"""The Python interface as people use it: what is public, the page about it, and sessions of Spark that users bring."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import penstock
from penstock import PenstockError, Session
from penstock.runtime.session import SparkSession, fitting, spark_session

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "python.md"
PUBLIC = [name for name in penstock.__all__ if not name.startswith("_")]


# What is public


def test_what_is_public() -> None:
    """Nothing more, nothing less: what the package has beside it are its modules."""
    own = {name for name, value in vars(penstock).items() if not inspect.ismodule(value) and not name.startswith("__")}
    assert own == set(PUBLIC)
    assert "__version__" in penstock.__all__


@pytest.mark.parametrize("name", PUBLIC)
def test_it_is_documented(name: str) -> None:
    value = getattr(penstock, name)
    members = (
        [value, *(it for key, it in vars(value).items() if not key.startswith("_"))]
        if isinstance(value, type)
        else [value]
    )
    for member in members:
        plain = member.fget if isinstance(member, property) else getattr(member, "func", member)
        if inspect.isroutine(plain) or isinstance(plain, type):
            assert inspect.getdoc(member) or inspect.getdoc(plain), (name, member)
    assert (
        f"`{name}`" in PAGE.read_text("utf-8")
        or f"`penstock.{name}`" in PAGE.read_text("utf-8")
        or name == "PenstockErrors"
    )


def test_the_import_is_light() -> None:
    """Neither Spark nor what only some commands need."""
    heavy = ("pyspark", "py4j", "pyarrow", "pandas", "numpy", "rich", "typer", "prompt_toolkit")
    code = f"import penstock, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_example(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It prints what the page says; PENSTOCK_UPDATE_GOLDEN=1 writes that into the page."""
    text = PAGE.read_text("utf-8")
    blocks = r"(<!-- run -->\n```python\n(.*?)^```\n\n<!-- prints -->\n```text\n)(.*?)(^```$)"
    found = re.search(blocks, text, re.M | re.S)
    assert found is not None
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(found[2], {})
    printed = "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines()) + "\n"
    if os.environ.get("PENSTOCK_UPDATE_GOLDEN") == "1":
        PAGE.write_text(text.replace(found[0], f"{found[1]}{printed}{found[4]}"), "utf-8")
    else:
        assert printed == found[3]


# Sessions of Spark that users bring

ODD = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.columnNameOfCorruptRecord": "K",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.adaptive.enabled": "true",
}
QUERY = r"""
SELECT a.K, a.v / (a.V - a.v) AS nothing, CAST(a.s AS INT) AS number, '${version}' AS text, b.s AS other, a.ts
FROM Heat a, heat B WHERE A.k = b.K AND a.TS >= TIMESTAMP '2026-01-01 00:00:00' AND b.s LIKE '%\_%'
WINDOW 1 min
"""
COUNT = "SELECT K, COUNT(*) AS n, AVG(v) AS v FROM heat GROUP BY k WINDOW 1 min SLIDE 30 s"


ROWS = """K,V,S,Ts
1,2,x_y,2026-01-01 00:00:00
1,3,7,2026-01-01 00:00:20
1,4,x_8,2025-12-31 20:00:00
1,what,9,2026-01-01 00:00:30
"""


def outcome(spark: SparkSession, folder: Path) -> list[list[Any]]:
    """What some queries give whose meaning a session's settings could change."""
    (folder / "heat").mkdir(parents=True)
    (folder / "heat" / "0.csv").write_text(ROWS)
    source = {"format": "csv", "path": str(folder / "heat"), "options": {"header": True}}
    schema = {"k": "int", "v": "double", "s": "string", "ts": "timestamp"}
    with Session(
        catalog={"streams": {"Heat": {"schema": schema, "source": source}}}, state=folder / "state", spark=spark
    ) as session:
        handles = [session.register("q", QUERY), session.register("n", COUNT)]
        session.run(drain=True)
        assert [handle.results().sparkSession for handle in handles] == [spark, spark]
        return [sorted(map(str, handle.results().toArrow().to_pylist())) for handle in handles]


def test_a_session_with_other_settings(spark: SparkSession, tmp_path: Path) -> None:
    """The answers are the same, and the session is as it was."""
    mine = spark.newSession()
    for key, value in ODD.items():
        mine.conf.set(key, value)
    mine.range(3).createOrReplaceTempView("mine")
    before, active = mine.conf.getAll, SparkSession.getActiveSession()
    odd = outcome(mine, tmp_path / "odd")
    assert mine.conf.getAll == before
    assert SparkSession.getActiveSession() is active
    assert [table.name for table in mine.catalog.listTables()] == ["mine"]
    assert mine.sql("SELECT COUNT(*) FROM mine").collect()[0][0] == 3
    assert odd == outcome(spark, tmp_path / "plain")
    assert len(odd[0]) == 2 and len(odd[1]) >= 3


def test_sessions_that_are_refused(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    naive = spark.newSession()
    naive.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    stopped = object.__new__(SparkSession)
    stopped._sc = SimpleNamespace(_jsc=None)
    connected = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    for session, said in (
        (naive, "a timestamp has no time zone"),
        (stopped, "the Spark session has been stopped"),
        (connected, "cannot run on a pyspark.sql.connect.session.SparkSession"),
    ):
        with pytest.raises(PenstockError, match=said) as caught:
            Session(catalog={}, state=tmp_path / "state", spark=session)
        assert caught.value.hint
    assert not (tmp_path / "state").exists()


def test_a_session_that_fits_is_taken_as_it_is(spark: SparkSession) -> None:
    assert fitting(spark) is spark
    assert spark_session() is spark


def test_spark_leaves_no_folder_where_it_is_called(spark: SparkSession) -> None:
    folder = Path(str(spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:"))
    assert folder.parent == Path(tempfile.gettempdir())


def test_a_session_that_was_stopped_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = object.__new__(SparkSession)
    stopped._sc = SimpleNamespace(_jsc=None)
    monkeypatch.setattr(SparkSession, "active", lambda: stopped)
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(PenstockError, match="there is no Java in it"):
        spark_session()
