"""A project: its definitions, its sources, and what runs have left in its state folder."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.api import compiled
from penstock.doctor.finding import Finding, ok, refused, warning
from penstock.doctor.folders import check_folder
from penstock.doctor.sources import check_source
from penstock.grammar.errors import PenstockError
from penstock.project import Project
from penstock.runtime.lock import Lock
from penstock.session import Session


def check_project(project: Project) -> Iterator[Finding]:
    """Everything that is the project's own."""
    try:
        queries = compiled(project.program())
        yield ok("project", f"{project.root} is right: {len(queries)} queries")
    except PenstockError as error:
        yield refused("project", error)
        return
    for entry in queries.catalog.entries:
        yield check_source(entry, project.root)
    yield from _check_state(project)


def _check_state(project: Project) -> Iterator[Finding]:
    if project.remote is not None:
        yield ok("state folder", f"{project.remote}, which is not looked at")
        return
    yield check_folder("state folder", project.state, "Name another one with  state:  in penstock.yml.")
    try:
        with Session(project.root) as session:
            state = session.state()[0]
        yield ok("state", f"{state.step} steps so far" if state.step else "no run so far")
    except PenstockError as error:
        yield refused("state", error)
    lock = Lock(project.state)
    holder = lock.last_holder()
    if lock.is_held():
        yield warning("runs", f"{holder} is at work on it", "Stop that run before you begin another one.")
    elif holder is not None:
        yield warning(
            "runs", f"{holder}, has ended in the middle of a run", "Nothing is lost: the next one goes on after it."
        )
    else:
        yield ok("runs", "none goes on, none was broken off")
