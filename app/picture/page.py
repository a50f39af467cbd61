"""The picture as a page of its own, and as a cell of a notebook."""

from __future__ import annotations

from functools import cache
from importlib import resources

from penstock.picture.chains import Chains, grid
from penstock.picture.flow import Flow
from penstock.picture.joins import Joins
from penstock.picture.markup import Html, count, element
from penstock.picture.overview import figures, steps, summary
from penstock.picture.picture import Asking, Picture
from penstock.picture.queries import Queries

_ALONE = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What a browser is told to load: nothing."""


def page(picture: Picture) -> str:
    """A page that needs nothing from elsewhere: the shared plan, what it is predicted to cost, what was measured."""
    flow = Flow(picture)
    body = element(
        "main",
        element("header", element("h1", picture.title), summary(picture)),
        figures(picture),
        element("h2", "How rows flow"),
        flow.draw(),
        element("h2", "What is kept of each stream"),
        _legend(picture),
        Chains(picture).section(),
        element("h2", "What queries ask for"),
        Joins(picture, flow).section(),
        steps(picture),
        class_="penstock",
        style=grid(picture),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_ALONE),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{picture.title} – Penstock"),
        element("style", _asset("page.css"), _asset("picture.css")),
    )
    script = element("script", _asset("highlight.js"))
    return f"<!DOCTYPE html>\n{element('html', head, element('body', body, script), lang='en')}"


def cell(picture: Picture) -> str:
    """The picture without its lists, for a notebook."""
    flow = Flow(picture)
    queries = element("summary", count(picture.queries, "query", "queries"))
    return element(
        "div",
        element("style", _asset("picture.css")),
        element("p", element("b", picture.title), " ", summary(picture)),
        flow.draw(),
        Chains(picture).section(lists=False),
        element("details", queries, Joins(picture, flow).section()),
        class_="penstock cell",
        style=grid(picture),
    )


def query_cell(picture: Picture, name: str, more: str) -> str:
    """One query, for a notebook; of one that is not in the picture, what there is to say."""
    template = picture.shared.members.get(name)
    own = tuple(member for member in template.members if member.query == name) if template is not None else ()
    return element(
        "div",
        element("style", _asset("picture.css")),
        element("p", element("b", name), " ", element("span", more, class_="summary")),
        Queries(picture, Flow(picture)).of(Asking(template.shape, own)) if template is not None else None,
        class_="penstock cell",
        style=grid(picture),
    )


def _legend(picture: Picture) -> Html:
    words = "Each bar is a slice of a chain, the newest rows on the left; the paler it is, the fewer of the rows of "
    words += "its age any query wants. Figures are predicted"
    words += ", bold ones measured: a chunk is counted where its newest row is." if picture.run is not None else "."
    return element("p", words, class_="legend")


@cache
def _asset(name: str) -> Html:
    """A style or a script that is part of the page."""
    return Html(resources.files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8"))
