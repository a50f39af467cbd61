"""The example of docs/migration.md, run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.runtime.session import SparkSession

PAGE = Path(__file__).resolve().parent.parent / "docs" / "migration.md"


def test_example(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every block of Python prints what stands in the text after it."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 3 and sum(bool(shown) for _, shown in blocks) == 2
    names: dict[str, Any] = {}
    for code, shown in blocks:
        exec(code, names)
        assert capsys.readouterr().out == shown
