"""The demonstration, from its first line to its last."""

from __future__ import annotations

import shlex
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from penstock.demo.feed import Feed
from penstock.demo.savings import Measured, Replay
from penstock.demo.scenario import Act, Scenario, prepare, scenario
from penstock.demo.view import View, clock
from penstock.interruption import Interruption
from penstock.session import Session
from penstock.starter import program_name

if TYPE_CHECKING:
    from penstock.runtime.session import SparkSession

_TITLE = "bold cyan"


def run_demo(
    folder: Path, *, plain: bool = False, played: Scenario | None = None, spark: SparkSession | None = None
) -> None:
    """Write a project into a folder, run it while its data comes, change its queries, and say what sharing saved."""
    played = played or scenario()
    prepare(folder, played)
    view = View(plain=plain)
    view.say(f"A data centre with {played.center.racks:,} racks. Its sensors report temperature, humidity and load.")
    view.say(f"What is asked of them, in {folder / 'queries'}:")
    for file in sorted((folder / "queries").glob("*.cql")):
        view.say(f"  {file.stem:<9} {_question(file)}")
    view.say("Starting Spark …")
    with Session(folder, spark=spark) as session:
        session.spark  # noqa: B018  it must be there before Ctrl-C is taken over
        _run_live(session, played, folder, view)
        measured = [_replay(folder, sharing, session.spark, view) for sharing in ("slice", "none")]
    typer.echo(saved(measured[1], measured[0]))
    typer.echo(_what_next(folder, played))


def _question(file: Path) -> str:
    """What a query's first line says about it."""
    return file.read_text(encoding="utf-8").splitlines()[0].removeprefix("-- ")


def _run_live(session: Session, played: Scenario, folder: Path, view: View) -> None:
    """Run while the readings come, and change the queries meanwhile."""
    view.say(f"The readings come now, a minute of them in {60 / played.tick * played.pause:g} seconds.", _TITLE)
    view.follow(session)
    feed = Feed(played, folder / "data")
    with Interruption(session.request_stop, view.say) as interruption:
        with view, feed:
            session.start()
            alarms = session.query("alarm").stream(view.alarms)
            for act in played.acts:
                if _take(session, played, act.second, interruption):
                    _change(session, act, folder, view)
            _take(session, played, played.live, interruption)
            session.stop()
            alarms.wait()
        if interruption.came:
            raise KeyboardInterrupt
    feed.write_the_rest()


def _take(session: Session, played: Scenario, second: int, interruption: Interruption) -> bool:
    """Wait until all streams have been taken up to a second; whether that came before the end of the run."""
    until = (played.center.start + timedelta(seconds=second - played.center.period)).timestamp() * 1e6

    def is_taken() -> bool:
        streams = session.state()[0].streams.values()
        return bool(streams) and all(stream.high is not None and stream.high >= until for stream in streams)

    with session.readers.news:
        session.readers.news.wait_for(lambda: is_taken() or interruption.came or not session.is_running)
    return session.is_running and not interruption.came


def _change(session: Session, act: Act, folder: Path, view: View) -> None:
    """Carry out an act, as somebody would who edits the project's files."""
    act.carry_out(folder)
    view.say(f"{act.title}: {act.file(Path())}", _TITLE)
    if act.text is not None:
        view.say(f"  {_question(act.file(folder))}")
    assert session.project is not None
    session.change(session.project.program())
    if act.text is not None:
        view.say(f"  {act.query} is complete from {clock(session.query(act.query).complete_from)}")


def _replay(folder: Path, sharing: str, spark: SparkSession, view: View) -> Measured:
    """The same data once more, in one strategy."""
    how = "without sharing" if sharing == "none" else "as one shared plan"
    view.say(f"The same queries over all of the data once more, {how} …", _TITLE)
    with tempfile.TemporaryDirectory() as state:
        replay = Replay(folder, sharing, spark, state)
        with Interruption(replay.session.request_stop, view.say) as interruption:
            measured = replay.run()
    if interruption.came:
        raise KeyboardInterrupt
    return measured


def saved(alone: Measured, shared: Measured) -> str:
    """What sharing saved, as a table, and how that was measured."""
    columns = ("", "rows kept", "time of steps", "processor time", "results")
    rows = [
        columns,
        ("each query alone", *_figures(alone)),
        ("one shared plan", *_figures(shared)),
        (
            "sharing saves",
            _part(alone.state_rows, shared.state_rows),
            _part(alone.seconds, shared.seconds),
            _part(alone.cpu, shared.cpu),
            "",
        ),
    ]
    lines = ["  ".join([row[0].ljust(16), *(cell.rjust(14) for cell in row[1:])]).rstrip() for row in rows]
    return "\n".join(
        [
            "",
            f"What sharing saved, measured: the same queries over the same {shared.rows:,} readings, both ways.",
            *lines,
            "Rows kept: when all has been taken. Processor time: of Spark and Python, on all cores.",
        ]
    )


def _figures(measured: Measured) -> tuple[str, ...]:
    return (
        f"{measured.state_rows:,}",
        f"{measured.seconds:.1f} s",
        f"{measured.cpu:.1f} s",
        f"{measured.results:,}",
    )


def _part(alone: float, shared: float) -> str:
    return f"{1 - shared / alone:.0%}"


def _what_next(folder: Path, played: Scenario) -> str:
    """What to do with the folder."""
    project = shlex.quote(str(folder))
    commands = {
        f"run {project} --once": "take them",
        f"results owners {project}": "what came out of a query",
        f"explain {project} -f html -o plan.html": "the plan that the queries share, as a picture",
        f"repl {project}": "ask questions, change queries",
    }
    width = max(map(len, commands)) + 2
    lines = [f"  {program_name()} {command.ljust(width)}{what}" for command, what in commands.items()]
    more = f"{played.later} more seconds of readings wait in it"
    return "\n".join(["", f"The project in {folder} is yours to play with; {more}.", *lines])
