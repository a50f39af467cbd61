"""Joins, the partial aggregates over them, and the queries that read them; what each of them costs."""

from __future__ import annotations

from penstock.compiler.explain.cost import predicted
from penstock.compiler.explain.words import number, tally_text
from penstock.compiler.logical import Plan, StreamScan
from penstock.compiler.shared import SharedJoin, inputs_of
from penstock.compiler.tally import Tally
from penstock.picture.flow import Flow
from penstock.picture.markup import Html, count, element, joined, percent
from penstock.picture.picture import Part, Picture
from penstock.picture.queries import Queries, asked

_PARTS = 12
"""More joins, and kinds of queries of a join, than this are summed up in a table."""


class Joins:
    """The joins of a picture, and what single streams are asked for."""

    def __init__(self, picture: Picture, flow: Flow) -> None:
        self._picture = picture
        self._queries = Queries(picture, flow)

    def section(self) -> list[Html]:
        """A card for each; those that fewest queries read are summed up."""
        parts = self._picture.parts
        shown = parts if len(parts) <= _PARTS + 1 else parts[:_PARTS]
        return [*(self._part(part) for part in shown), *self._rest(parts[len(shown) :])]

    def _rest(self, parts: list[Part]) -> list[Html]:
        if not parts:
            return []
        rows = [[joined(*_inputs(part)), f"{part.queries:,}", self._work(part.joins)] for part in parts]
        title = element("h3", f"{count(len(parts), 'more join')} with {sum(part.queries for part in parts):,} queries")
        table = _table(["", "queries", "comparisons/s"], rows)
        return [element("article", title, element("details", element("summary", "which"), table), class_="part")]

    def _part(self, part: Part) -> Html:
        times = count(len(part.joins), "join") + ", one for each query" if len(part.joins) > 1 else None
        head = element("h3", self._chips(part), element("small", *_on(part)), " ", element("small", times))
        shown = part.asking if len(part.asking) <= _PARTS + 1 else part.asking[:_PARTS]
        rest = part.asking[len(shown) :]
        body: list[Html] = [*self._head(part), *self._tallies(part.tallies), *map(self._queries.of, shown)]
        if rest:
            rows = [[joined(*asked(asking)), f"{len(asking.members):,}"] for asking in rest]
            summary = element("summary", f"{count(len(rest), 'more kind')} of queries")
            body.append(
                element("section", element("details", summary, _table(["", "queries"], rows)), class_="template")
            )
        return element("article", head, body, class_="part")

    def _chips(self, part: Part) -> list[Html]:
        found = []
        for scan in inputs_of(_source(part)):
            stream = scan.stream if isinstance(scan, StreamScan) else None
            hue = "" if stream is None else f" s{self._picture.hues[stream]}"
            name = scan.alias if stream in (None, scan.alias) else f"{stream} {scan.alias}"
            found.append(element("span", name, class_=f"chip{hue}"))
        return found

    def _head(self, part: Part) -> list[Html]:
        """How new rows find their partners, and what that costs under each strategy."""
        if not part.joins:
            return []
        orders = [element("li", " → ".join(order)) for order in part.joins[0].orders]
        how = element("details", element("summary", "how new rows look for the others"), element("ul", orders))
        return [self._costs(part.joins), how]

    def _costs(self, joins: tuple[SharedJoin, ...]) -> Html:
        predictions = self._picture.predictions(joins)
        most = max((own.rows or 0.0 for own in predictions), default=0.0) or 1.0
        rows, work = [], ""
        for own in predictions:
            chosen = own.strategy == self._picture.settings.sharing
            bar = element("i", style=f"width:{percent((own.rows or 0.0) / most)}")
            name = element("b", own.strategy, " (in force)") if chosen else own.strategy
            if chosen and own.comparisons is not None:
                work = f"; in force: {number(own.comparisons)} comparisons/s"
            rows.append([name, predicted(own.rows), predicted(own.comparisons), bar])
        summary = element("summary", f"predicted cost under each strategy{work}")
        return element("details", summary, _table(["strategy", "rows kept", "comparisons/s", ""], rows))

    def _work(self, joins: tuple[SharedJoin, ...]) -> str:
        chosen = (own for own in self._picture.predictions(joins) if own.strategy == self._picture.settings.sharing)
        return predicted(next((own.comparisons for own in chosen), 0.0))

    def _tallies(self, tallies: tuple[Tally, ...]) -> list[Html]:
        """What is added up; of many that are not alike the last ones together."""
        alike: dict[str, list[Tally]] = {}
        for tally in tallies:
            alike.setdefault(tally_text(tally), []).append(tally)
        shown = list(alike.items())
        rest = shown[_PARTS:] if len(shown) > _PARTS + 1 else []
        found = [self._tally(element("code", text), own) for text, own in shown[: len(shown) - len(rest)]]
        more = [tally for _, own in rest for tally in own]
        return [*found, self._tally(f"of {len(rest):,} more kinds", more)] if rest else found

    def _tally(self, words: str, tallies: list[Tally]) -> Html:
        picture = self._picture
        predicted_rows = sum(picture.tallies[tally].kept for tally in tallies)
        kept = [picture.kept[tally] for tally in tallies if tally in picture.kept]
        measured = element("b", f"{sum(kept):,} measured", class_="measured") if kept else None
        times = f" ×{len(tallies):,}" if len(tallies) > 1 else ""
        predicted_words = f"{times} kept: {number(predicted_rows)} predicted "
        return element("p", "Partial aggregates ", words, predicted_words, measured, class_="tally")


def _source(part: Part) -> Plan:
    return part.joins[0].source if part.joins else part.asking[0].shape.source


def _inputs(part: Part) -> list[str]:
    names = " ⋈ ".join(scan.alias for scan in inputs_of(_source(part)))
    return [names, *_on(part)]


def _on(part: Part) -> list[str]:
    """What a join is by."""
    if not part.joins:
        return []
    return [" on ", element("code", " and ".join(map(str, part.joins[0].source.keys)) or "every combination")]


def _table(heads: list[str], rows: list[list[str]]) -> Html:
    cells = (element("tr", [element("td", cell) for cell in row]) for row in rows)
    return element("table", element("tr", [element("th", head) for head in heads]), cells, class_="figures")
