"""Rows as tables and as files for other programs."""

from __future__ import annotations

import io

import pytest

from penstock.tables import write_rows

NAMES = ("place", "degrees", "note")
ROWS = [(1, 31.5, "a|b"), (22, None, "[red]x")]


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("json", '{"place": 1, "degrees": 31.5, "note": "a|b"}\n{"place": 22, "degrees": null, "note": "[red]x"}\n'),
        ("csv", "place,degrees,note\r\n1,31.5,a|b\r\n22,,[red]x\r\n"),
        ("markdown", "| place | degrees | note |\n|---|---|---|\n| 1 | 31.5 | a\\|b |\n| 22 |  | [red]x |\n"),
    ],
)
def test_formats(format: str, expected: str) -> None:
    out = io.StringIO()
    write_rows(NAMES, ROWS, format, out)
    assert out.getvalue() == expected


def test_a_table_takes_text_as_it_is() -> None:
    out = io.StringIO()
    write_rows(NAMES, ROWS, "table", out)
    assert "[red]x" in out.getvalue() and "31.5" in out.getvalue()


def test_no_rows() -> None:
    out = io.StringIO()
    write_rows(NAMES, [], "csv", out)
    assert out.getvalue() == "place,degrees,note\r\n"
