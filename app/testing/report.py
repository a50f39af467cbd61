"""What came of tests, for people and for other programs."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock.grammar.errors import render
from penstock.testing.compare import differing
from penstock.testing.model import Case, Difference, Outcome, Row
from penstock.testing.values import shown

FORMATS = ("text", "json", "junit")
_MOST = 20
"""So many rows of a difference are shown."""


def as_text(outcomes: Sequence[Outcome], console: Console, *, failed_only: bool = False) -> None:
    """File by file, a line for each test, and for one that failed how its results differ."""
    for file in dict.fromkeys(outcome.case.file for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.case.file == file]
        if all(outcome.is_fine for outcome in own) and failed_only:
            continue
        console.print(Text(file, style="bold"), soft_wrap=True)
        for outcome in own:
            if not outcome.is_fine or not failed_only:
                _line(outcome, console)


def _line(outcome: Outcome, console: Console) -> None:
    word = Text("  ok    ", style="green") if outcome.is_fine else Text("  FAIL  ", style="bold red")
    console.print(word + Text(outcome.case.name, style="" if outcome.is_fine else "bold"), soft_wrap=True)
    for part in _explained(outcome):
        console.print(part, soft_wrap=isinstance(part, Text))


def _explained(outcome: Outcome) -> Iterator[Text | Table]:
    """Why a test has failed."""
    if outcome.error is not None:
        yield _indented(render(outcome.error))
    if not outcome.difference:
        return
    case, found = outcome.case, outcome.difference
    said = [f"{case.query} gave {outcome.came}, {len(case.expected.rows)} expected"]
    said += [f"{number} {what}" for what, number in _numbers(found) if number]
    yield _indented(f"{case.file}:{case.line}: {'; '.join(said)}")
    lines = _lines(case, found)
    yield _table(case, lines[:_MOST])
    if len(lines) > _MOST:
        yield _indented(f"… and {len(lines) - _MOST} more")


def _numbers(found: Difference) -> list[tuple[str, int]]:
    return [
        ("missing", len(found.missing) + len(found.near)),
        ("unexpected", len(found.unexpected) + len(found.near)),
    ]


def _indented(text: str) -> Text:
    return Text("\n".join(f"        {line}" for line in text.splitlines()))


Line = tuple[str, Row, int, list[int]]
"""A sign, a row, how often, and the places of what is different in it from the line beside it."""


def _lines(case: Case, found: Difference) -> list[Line]:
    """Rows that are alike below each other, the others by their first column, which is the time."""
    types = [type_ for _, type_ in case.expected.columns]
    parts: list[list[Line]] = []
    for (row, other), times in Counter(found.near).items():
        places = differing(row, other, types, case.tolerance)
        parts.append([("-", row, times, places), ("+", other, times, places)])
    parts += [[("-", row, times, [])] for row, times in Counter(found.missing).items()]
    parts += [[("+", row, times, [])] for row, times in Counter(found.unexpected).items()]
    parts.sort(key=lambda part: str(part[0][1][:1]))
    return [line for part in parts for line in part]


_SIGNS = {"-": ("missing", "red"), "+": ("unexpected", "green")}


def _table(case: Case, lines: list[Line]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("       ")
    table.add_column("")
    names = [name for name, _ in case.expected.columns]
    for name in names:
        table.add_column(Text(name), overflow="fold")
    table.add_column("")
    for sign, row, times, places in lines:
        word, colour = _SIGNS[sign]
        cells = [
            Text(shown(value, case.day), style=f"bold {colour}" if place in places else colour)
            for place, value in enumerate(row)
        ]
        notes = [f"{times} times"] if times > 1 else []
        notes += [f"differs in {', '.join(names[place] for place in places)}"] if places and sign == "+" else []
        table.add_row("", Text(f"{sign} {word}", style=colour), *cells, Text("; ".join(notes), style="dim"))
    return table


def as_json(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """An object for every test, each on a line of its own."""
    for outcome in outcomes:
        case, found = outcome.case, outcome.difference
        yield json.dumps(
            {
                "test": case.name,
                "query": case.query,
                "file": case.file,
                "line": case.line,
                "outcome": "passed" if outcome.is_fine else "failed",
                "missing": [_as_object(case, row) for row in (*found.missing, *(row for row, _ in found.near))],
                "unexpected": [_as_object(case, row) for row in (*found.unexpected, *(row for _, row in found.near))],
                "error": None if outcome.error is None else render(outcome.error),
            },
            ensure_ascii=False,
        )


def _as_object(case: Case, row: Row) -> dict[str, object]:
    plain = (value if isinstance(value, int | float | None) else shown(value) for value in row)
    return dict(zip((name for name, _ in case.expected.columns), plain, strict=True))


def as_junit(outcomes: Sequence[Outcome]) -> str:
    """A report in the format of JUnit, which build servers read."""
    root = ElementTree.Element("testsuites")
    for file in dict.fromkeys(outcome.case.file for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.case.file == file]
        failed = sum(not outcome.is_fine for outcome in own)
        suite = ElementTree.SubElement(root, "testsuite", name=file, tests=str(len(own)), failures=str(failed))
        for outcome in own:
            seconds = f"{outcome.seconds:.3f}"
            test = ElementTree.SubElement(suite, "testcase", classname=file, name=outcome.case.name, time=seconds)
            if not outcome.is_fine:
                out = io.StringIO()
                plain = Console(file=out, width=200, color_system=None)
                for part in _explained(outcome):
                    plain.print(part)
                ElementTree.SubElement(test, "failure", message="results differ").text = out.getvalue()
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True)
