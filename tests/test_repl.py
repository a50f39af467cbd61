"""The REPL without Spark: entries, commands, completion, colours, what is shown, and the prompt itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from penstock.grammar.errors import PenstockError
from penstock.grammar.parser import left_open, statement_end, what_may_follow
from penstock.grammar.source import Source
from penstock.names import Names
from penstock.outcome import Outcome
from penstock.place import Batch, Place
from penstock.repl import terminal
from penstock.repl.commands import COMMANDS, find_command
from penstock.repl.complete import StatementCompleter, suggestions
from penstock.repl.console import Console
from penstock.repl.entries import entries, is_whole
from penstock.repl.highlight import StatementLexer, highlighted
from penstock.repl.repl import Repl
from penstock.tests.test_kept import project  # noqa: F401  a fixture

# Entries


def cut(text: str) -> list[tuple[str, bool]]:
    found = entries(text.splitlines(keepends=True), "f")
    return [(entry.source.text.strip(), entry.is_command) for entry in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" ;; -- nothing ;\n/* nor ; here */", []),
        ("SHOW QUERIES", [("SHOW QUERIES", False)]),
        ("a;b ; c", [("a;", False), ("b ;", False), ("c", False)]),
        (".mode csv\nSHOW\nQUERIES;\n.run", [(".mode csv", True), ("SHOW\nQUERIES;", False), (".run", True)]),
        ("-- first\n.mode csv\n", [(".mode csv", True)]),
        ("SELECT a\n.b FROM T;", [("SELECT a\n.b FROM T;", False)]),
        ("SELECT ';', \"a;b\" -- ;\n FROM T;", [("SELECT ';', \"a;b\" -- ;\n FROM T;", False)]),
        (
            "DROP QUERY a; TAIL hot; SHOW STATE;",
            [("DROP QUERY a;", False), ("TAIL hot;", True), ("SHOW STATE;", False)],
        ),
        ("tail hot\nSHOW STATE", [("tail hot", True), ("SHOW STATE", False)]),
        (".read a;b.cql\n", [(".read a;b.cql", True)]),
        ("tailor;", [("tailor;", False)]),
        ("SELECT 'open\n;", [("SELECT 'open\n;", False)]),
    ],
)
def test_entries(text: str, expected: list[tuple[str, bool]]) -> None:
    assert cut(text) == expected


def test_entries_come_as_soon_as_they_are_there_and_know_their_place() -> None:
    read: list[str] = []

    def lines() -> Iterator[str]:
        for line in ("SHOW STATE; SHOW\n", "  QUERIES; .run\n", "x\n"):
            read.append(line)
            yield line

    found = entries(lines(), "f")
    places = []
    for _ in range(3):
        entry = next(found)
        start = len(entry.source.text) - len(entry.source.text.lstrip())
        places.append((entry.source.position(start), len(read)))
    assert places == [((1, 1), 1), ((1, 13), 2), ((2, 12), 2)]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", True),
        ("SHOW QUERIES", False),
        ("SHOW QUERIES;", True),
        ("SHOW QUERIES; -- done", True),
        ("SHOW QUERIES; SHOW", False),
        ("SELECT 'a;", False),
        ("SELECT 'a;';", True),
        ('SELECT "a FROM T;', True),
        ("/* a;", False),
        (".help", True),
        ("TAIL hot", True),
        ("SHOW STATE; TAIL hot", True),
        ("exit", True),
        ("SHOW STATE; help ", True),
        ("helpful", False),
        ("SELECT a FROM\nhelp", False),
    ],
)
def test_what_is_whole(text: str, whole: bool) -> None:
    assert is_whole(text) is whole


def test_where_statements_end() -> None:
    assert statement_end("a ';' ; b") == 7 and statement_end("a -- ;") is None
    assert [left_open(text) for text in ("'a", "/* '", "a", '"a', "`a\n", "'it''s'")] == ["'", "/*", "", '"', "`", ""]


def test_what_may_follow() -> None:
    assert what_may_follow("DROP ").words == {"QUERY", "STREAM", "RELATION"}
    assert what_may_follow("SELECT a FROM ").name and not what_may_follow("SELECT a FROM ").words
    assert what_may_follow("SELECT a FROM T WINDOW ").number
    assert what_may_follow("FROM FROM ") is None


# Commands


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        (".help", ".help", ""),
        ("  .HELP ;", ".help", ""),
        ("help;", ".help", ""),
        ("Exit", ".quit", ""),
        (".mode json", ".mode", "json"),
        (".mode", ".mode", ""),
        ("tail hot;", "TAIL", "hot"),
        (".read  my file.cql ", ".read", "my file.cql"),
        (".results hot 5", ".results", "hot 5"),
    ],
)
def test_find_a_command(text: str, name: str, argument: str) -> None:
    command, found = find_command(Source("<repl>", text))
    assert (command.name, found) == (name, argument)


@pytest.mark.parametrize(
    ("text", "under", "hint"),
    [
        (".hlep", ".hlep", "Did you mean .help?"),
        (".", ".", "There are .help"),
        (".mode xml", "xml", "Write  .mode [table|json|csv|markdown]"),
        (".timing maybe", "maybe", "Write  .timing [on|off]"),
        (".quit now", "now", "Write  .quit"),
        ("TAIL", "TAIL", "Write  TAIL QUERY"),
        (".read", ".read", "Write  .read FILE"),
    ],
)
def test_a_wrong_command(text: str, under: str, hint: str) -> None:
    with pytest.raises(PenstockError) as caught:
        find_command(Source("<repl>", text))
    error = caught.value
    assert error.span is not None and text[error.span.start : error.span.end] == under
    assert hint in (error.hint or "") and error.label


class Pretended:
    """A place that carries nothing out."""

    name = "test"
    root = Path()
    steps = None
    other_process = None

    def __init__(self) -> None:
        self.done: list[str] = []
        self.refused = PenstockError("refused", hint="Do not.")

    def execute(self, source: Source) -> Outcome:
        text = source.text.strip(" \n;")
        if "wrong" in text:
            raise self.refused
        if "interrupted" in text:
            raise KeyboardInterrupt
        if "broken" in text:
            raise ZeroDivisionError("oops")
        self.done.append(text)
        rows = {"SHOW STATE": [{"stream": "Heat", "rows": 1}, {"stream": "Wet", "query": "q", "rows": 2}]}
        return Outcome(rows.get(text, []), "" if text.startswith("SHOW") else "done")

    def tail(self, query: str) -> Iterator[Batch]:
        self.done.append(f"tail {query}")
        yield Batch(["_ts", "v"], [])
        yield Batch(["_ts", "v"], [["12:00", 1.5], ["12:01", None]])
        yield Batch(["_ts", "v"], [["12:02", 1234567.0]], "the run has ended")

    def select(self, source: Source) -> Iterator[Batch]:
        self.done.append(source.text.strip())
        yield Batch(["_ts"], [["12:00"]])

    def results(self, query: str, limit: int) -> Iterator[Batch]:
        yield Batch(["v"], [])
        yield Batch(["v"], [[number] for number in range(limit)])

    def names(self) -> Names:
        return NAMES

    def start(self) -> None:
        self.done.append("start")

    def stop(self) -> bool:
        self.done.append("stop")
        return "start" in self.done

    def look_after_the_run(self) -> None:
        pass


@pytest.fixture
def place() -> Pretended:
    return Pretended()


@pytest.fixture
def repl(place: Pretended) -> Repl:
    made: Any = place
    return Repl(made, Console("table"))


def do(repl: Repl, text: str) -> None:
    repl.do_all(entries(text.splitlines(keepends=True), "<repl>"))


def test_what_is_shown(repl: Repl, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows on stdout, sentences on stderr."""
    do(repl, ".mode csv\nSHOW STATE; SHOW STREAMS; SET a = 1;")
    out, err = capsys.readouterr()
    assert out == "stream,rows,query\r\nHeat,1,\r\nWet,2,q\r\n"
    assert err == "rows are shown as csv\nnothing\ndone\n"
    do(repl, ".mode json\n.results hot 2\nTAIL hot")
    out, err = capsys.readouterr()
    assert [json.loads(line) for line in out.splitlines()] == [
        {"v": 0}, {"v": 1}, {"_ts": "12:00", "v": 1.5}, {"_ts": "12:01", "v": None}, {"_ts": "12:02", "v": 1234567.0},
    ]  # fmt: skip
    assert err.endswith("the run has ended\n")
    do(repl, ".mode markdown\nSHOW STATE;")
    assert capsys.readouterr().out.startswith("| stream | rows | query |\n|---|---|---|\n| Heat | 1 |  |\n")
    do(repl, ".mode table\nTAIL hot;")
    assert capsys.readouterr().out == "_ts    v\n─────  ───\n12:00  1.5\n12:01\n12:02  1.23457e+06\n"
    do(repl, ".help")
    out = capsys.readouterr().out
    assert all(command.name in out for command in COMMANDS.values())


def test_commands_do_what_they_say(repl: Repl, place: Pretended, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PenstockError, match="no run was begun here"):
        do(repl, ".stop")
    do(repl, '.run\n.stop\nSELECT a FROM T;\nTAIL "my query";')
    assert place.done == ["stop", "start", "stop", "SELECT a FROM T;", "tail my query"]
    do(repl, ".timing on\nSHOW STATE;\n.timing")
    err = capsys.readouterr().err
    assert "timing is on\n" in err and " s\n" in err and err.endswith("timing is off\n")
    with pytest.raises(PenstockError, match="'many' is not a number of rows"):
        do(repl, ".results hot many")


def test_the_first_mistake_ends_it(repl: Repl, place: Pretended) -> None:
    with pytest.raises(PenstockError):
        do(repl, "SET a = 1; SET wrong = 2; SET b = 3;")
    assert place.done == ["SET a = 1"]


def test_read_a_file(repl: Repl, place: Pretended, tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner file.cql", tmp_path / "outer.cql"
    inner.write_text("SET b = 2;")
    outer.write_text(f"SET a = 1;\n.read '{inner}'\nSET c = 3")
    do(repl, f".read {outer}")
    assert place.done == ["SET a = 1", "SET b = 2", "SET c = 3"]
    inner.write_text(f".read {outer}")
    with pytest.raises(PenstockError, match="reads itself"):
        do(repl, f".read {outer}")
    with pytest.raises(PenstockError, match="cannot read"):
        do(repl, ".read nosuch")


# Completion

NAMES = Names(
    {"Heat": ["place", "degrees", "ts"], "Wet": ["place", "damp", "ts"]},
    {"Racks": ["place", "Owner", "my column"]},
    {"hot": ["place", "degrees"], "my query": ["x"]},
    ["sharing", "objective"],
)


def texts(before: str, after: str = "", root: Path = Path()) -> set[str]:
    return {found.text for found in suggestions(before, after, NAMES, root)}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", {"SELECT", "CREATE", "SHOW"}),
        ("sel", {"select"}),
        ("SHOW STATE; dr", {"drop"}),
        ("DROP ", {"QUERY", "STREAM", "RELATION"}),
        ("DROP QUERY ", {"hot", '"my query"', "IF"}),
        ("DROP STREAM ", {"Heat", "Wet", "IF"}),
        ("SHOW S", {"STREAMS", "SLICES", "STATE", "SETTINGS"}),
        ("describe ", {"Heat", "Wet", "Racks", "hot", '"my query"'}),
        ("SET sharing = ", {"none", "'pull-up'", "'push-down'", "slice", "TRUE", "FALSE"}),
        ("SET ob", {"objective"}),
        ("SELECT * FROM h", {"Heat", "hot"}),
        ("SELECT * FROM Heat A JOIN ", {"Heat", "Wet", "Racks", "hot", '"my query"'}),
        ("SELECT * FROM Heat A, Wet B WHERE B.", {"place", "damp", "ts"}),
        ("SELECT * FROM Heat A, Wet B WHERE A.de", {"degrees"}),
        ("SELECT * FROM Racks WHERE racks.", {"place", "Owner", '"my column"'}),
        ("SELECT lev", {"levenshtein("}),
        ("SELECT COUNT(*) FROM Heat WINDOW 1 m", {"ms", "min"}),
        ("EXPLAIN ph", {"physical"}),
        ("INSERT INTO pa", {"parquet"}),
        ("CREATE STREAM s (a INT, ts TIMESTAMP) FROM j", {"json"}),
        ("SELECT 'any ", set()),
        ("SELECT a -- FROM ", set()),
        (".m", {".mode"}),
        (".mode ", {"table", "json", "csv", "markdown"}),
        (".timing o", {"on", "off"}),
        ("TAIL h", {"hot"}),
        (".results ", {"hot", '"my query"'}),
        (".nosuch ", set()),
    ],
)
def test_completion(before: str, expected: set[str]) -> None:
    found = texts(before)
    assert found >= expected if before == "" else found == expected


def test_completion_before_the_tables_are_named() -> None:
    found = texts("SELECT ", " FROM Wet w")
    assert {"damp", "w.", "count(", "DISTINCT"} <= found and "degrees" not in found
    assert texts("SELECT w.", " FROM Wet w") == {"place", "damp", "ts"}
    assert "degrees" in texts("SELECT ")  # of anything, while nothing is said


def test_completion_of_files(tmp_path: Path) -> None:
    (tmp_path / "data" / "heat").mkdir(parents=True)
    (tmp_path / "data" / "help.csv").touch()
    assert texts("INSERT INTO csv 'da", root=tmp_path) == {"data/"}
    assert texts("CREATE STREAM s (ts TIMESTAMP) FROM csv 'data/he", root=tmp_path) == {"heat/", "help.csv"}
    assert texts(f".read {tmp_path}/data/he") == {"heat/", "help.csv"}
    assert texts(".read /nosuch/he") == set()


def test_a_completion_takes_the_place_of_what_is_typed() -> None:
    completer = StatementCompleter(lambda: NAMES, Path())
    (found,) = completer.get_completions(Document("SELECT * FROM hea"), None)
    assert (found.text, found.start_position) == ("Heat", -3)


# Colours


def styles(text: str) -> dict[str, str]:
    pieces = highlighted(text)
    assert "".join(piece for _, piece in pieces) == text
    return {piece: style.removeprefix("class:") for style, piece in pieces if style}


def test_colours() -> None:
    assert styles("SELECT abs(A.v), 'it''s' AS \"x y\" FROM T -- why\nWHERE v > 1.5e3 /* open") == {
        "SELECT": "keyword", "abs": "function", "'it''s'": "text", "AS": "keyword", '"x y"': "name",
        "FROM": "keyword", "-- why": "comment", "WHERE": "keyword", "1.5e3": "number", "/* open": "comment",
    }  # fmt: skip
    assert styles("SELECT A.window, abs FROM T2") == {"SELECT": "keyword", "FROM": "keyword"}
    assert styles(".mode csv") == {".mode": "command"} and styles(".nosuch") == {}


def test_colours_over_lines() -> None:
    line = StatementLexer().lex_document(Document("SELECT /* a\nb */ x"))
    assert ("class:comment", "b */") in line(1) and line(2) == []


# The prompt


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PipeInput]:
    """What is typed comes from here."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def test_a_prompt(repl: Repl, place: Pretended, typed: PipeInput, tmp_path: Path, capfd: Any) -> None:
    """Lines up to the semicolon are one statement; mistakes, Ctrl-C and what breaks do not end it; Ctrl-D does."""
    typed.send_text("SHOW\rSTATE;\r")
    typed.send_text("SET wrong = 1;\r")
    typed.send_text("SET interrupted = 1;\r")
    typed.send_text("SET broken = 1;\r")
    typed.send_text("given up\x03")
    typed.send_text("SHOW STREAMS;\r")
    typed.send_text(".timing on\r\x04")
    terminal.talk(repl)
    assert place.done == ["SHOW\nSTATE", "SHOW STREAMS"]
    err = capfd.readouterr().err
    assert "error: refused" in err and "internal failure: ZeroDivisionError('oops')" in err
    history = (tmp_path / "home" / "penstock" / "history").read_text()
    assert "+SHOW\n+STATE;\n" in history and "+.timing on\n" in history


def test_quit(repl: Repl, typed: PipeInput) -> None:
    typed.send_text(".quit\r")
    terminal.talk(repl)


def test_no_place_for_the_history(repl: Repl, typed: PipeInput, tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    typed.send_text("\r.quit\r")
    terminal.talk(repl)


def test_names_of_a_project_that_is_broken_for_the_moment(
    project: Path,  # noqa: F811
    typed: PipeInput,
    capfd: Any,
) -> None:
    file = project / "queries" / "warm.cql"
    place = Place(project)
    file.write_text("SELECT nothing FROM Heat")
    typed.send_text("SHOW QUERIES;\r\x04")
    terminal.talk(Repl(place, Console("table")))
    assert "unknown column 'nothing'" in capfd.readouterr().err
