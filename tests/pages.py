"""Pages whose examples are run. The comment before a block says what it is; a block is a table or in a fence."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

TABLE = r"((?:\|.*\n)+)"
FENCED = r"```\w+\n((?:(?!```).*\n)*)```\n"
BLOCK = re.compile(rf"^<!-- (\w+)(?: (\S+))? -->\n(?:{TABLE}|{FENCED})", re.M)


def check_page(path: Path, carried_out: Callable[[str, str, str], str]) -> None:
    """Every block is what comes out; PENSTOCK_UPDATE_GOLDEN=1 writes what comes out into the page.

    `carried_out` gets what a block is, the word after that, and the block; it gives what the block should be.
    """
    text = path.read_text(encoding="utf-8")

    def run(match: re.Match[str]) -> str:
        what, name, table, fenced = match.groups("")
        begin, end = (place - match.start() for place in match.span(3 if table else 4))
        return match[0][:begin] + carried_out(what, name, table or fenced) + match[0][end:]

    found = BLOCK.sub(run, text)
    if os.environ.get("PENSTOCK_UPDATE_GOLDEN") == "1":
        path.write_text(found, encoding="utf-8")
    else:
        assert found == text
