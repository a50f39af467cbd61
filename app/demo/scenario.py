"""What happens in the demonstration: which readings come when, and what is done meanwhile."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from penstock.grammar.errors import PenstockError
from penstock.project import FILE
from penstock.runtime.lock import Lock
from penstock.sensors import DataCenter, Failure, write_owners
from penstock.starter import refuse_used, template, write_template

_SCORCHING = """\
-- above 35 degrees, within a minute
SELECT A.LocationId, A.Value AS temperature, B.Value AS humidity
FROM Temperature A JOIN Humidity B ON A.LocationId = B.LocationId
WHERE A.Value > 35
WINDOW 1 min
"""


@dataclass(frozen=True)
class Act:
    """A change of the queries, made when all streams have been taken up to a second after their start."""

    second: int
    title: str
    query: str
    text: str | None
    """The new text of the query's file; None to delete it."""

    def file(self, folder: Path) -> Path:
        """The query's file in a project's folder."""
        return folder / "queries" / f"{self.query}.cql"

    def carry_out(self, folder: Path) -> None:
        """Change the file."""
        if self.text is None:
            self.file(folder).unlink()
        else:
            self.file(folder).write_text(self.text, encoding="utf-8")


@dataclass(frozen=True)
class Scenario:
    """The readings and the acts."""

    center: DataCenter
    acts: tuple[Act, ...]
    live: int
    """So many seconds are measured while it runs."""
    later: int
    """So many more seconds are there for the next run."""
    tick: int
    """So many seconds are in one file."""
    pause: float
    """So much time passes between two files."""


def scenario(seed: int = 1) -> Scenario:
    """The demonstration as it is shown."""
    failures = (Failure(2, 50, 240), Failure(11, 140, 350), Failure(17, 330, 520), Failure(5, 430, 600))
    return Scenario(
        DataCenter(racks=1000, aisle=50, period=10, failures=failures, moved=300, seed=seed),
        acts(),
        live=600,
        later=60,
        tick=10,
        pause=0.5,
    )


def acts(first: int = 200, second: int = 320, third: int = 440) -> tuple[Act, ...]:
    """A query comes, one changes and one goes, each at some second."""
    hot = template("demo")["queries/hot.cql"]
    longer = hot.replace("two minutes", "four minutes").replace("WINDOW 2 min", "WINDOW 4 min")
    return (
        Act(first, "A query is added", "scorching", _SCORCHING),
        Act(second, "A window becomes longer: hot looks back 4 minutes, not 2", "hot", longer),
        Act(third, "A query is dropped", "critical", None),
    )


def prepare(folder: Path, scenario: Scenario) -> None:
    """Write the project into a folder that is new, or that a demonstration has made and nobody has changed."""
    _clear(folder, scenario)
    write_template("demo", folder)
    write_owners(scenario.center, folder / "data")


def _clear(folder: Path, scenario: Scenario) -> None:
    """Remove what an earlier demonstration has made, but nobody's own work."""
    texts = template("demo")
    if not (folder / FILE).is_file() or (folder / FILE).read_bytes() != texts[FILE].encode():
        refuse_used(folder)
        return
    known = {folder / path: {text} for path, text in texts.items()}
    for act in scenario.acts:
        known.setdefault(act.file(folder), set()).add(act.text or "")
    made = [folder / name for name in ("data", ".penstock")]
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    for file in (file for file in files if not any(map(file.is_relative_to, made))):
        if file.read_bytes() not in {text.encode() for text in known.get(file, ())}:
            raise PenstockError(
                f"{file} is not as the demonstration has written it",
                hint="Name a folder that does not exist yet, and this one stays as it is.",
                label="folder-in-use",
            )
    with Lock(folder / ".penstock"):  # nobody runs in it
        for path in (*made, *(act.file(folder) for act in scenario.acts)):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
