"""Queries, put together by what they ask for: their windows to scale, their constants, their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from penstock.compiler.explain.words import listed, literal, member_text, number, with_constants
from penstock.compiler.logical import StreamScan, Window
from penstock.compiler.output import results_a_second
from penstock.compiler.scalar import Constant
from penstock.compiler.shared import Member
from penstock.grammar.durations import format_duration
from penstock.picture.chains import SHOWN, line
from penstock.picture.flow import Flow
from penstock.picture.markup import Html, count, element, figure, joined, percent
from penstock.picture.picture import Asking, Picture
from penstock.picture.scale import Scale

MOST = 8
"""More queries than this are summed up."""
_LONG = 0.6
"""Of a line; in a bar that is longer its label is inside."""
_STEPS = 400
"""The windows of many queries are drawn as precisely as this."""


class Queries:
    """The queries of a picture."""

    def __init__(self, picture: Picture, flow: Flow) -> None:
        self._picture = picture
        self._flow = flow
        self._results: Mapping[str, int] = picture.run.results if picture.run is not None else {}
        self._scopes = {query: template.shape.scope for query, template in picture.shared.members.items()}
        self._chains: dict[tuple[str, str, bool], str] = {
            (keeper.chain.scope, keeper.chain.stream, keeper.chain.rows): keeper.id
            for keepers in picture.chains.values()
            for keeper in keepers[: SHOWN + 1]
        }

    def of(self, asking: Asking) -> Html:
        """What queries of one kind ask for, and who they are."""
        shape, members = asking.shape, asking.members
        many = len(members) > MOST
        sink = f"into {shape.sink}" if shape.sink else "into the results of the state folder"
        a_second = sum(results_a_second(shape, member, self._picture.estimates) for member in members)
        gives = element("code", ", ".join(map(str, shape.columns)))
        return element(
            "section",
            element("h4", count(len(members), "query", "queries"), " ", list(asked(asking))),
            element("p", "gives ", gives, f" {sink}, {number(a_second)} results/s predicted", class_="gives"),
            self._summed_up(asking) if many else [self._query(asking, member) for member in members],
            class_="template",
            data_nodes=" ".join(self._flow.names_above(shape)),
            data_reach=self._reach(asking, members),
        )

    def _query(self, asking: Asking, member: Member) -> Html:
        constants = ", ".join(f"c{place} = {literal(value)}" for place, value in enumerate(member.constants, 1))
        shown = constants if len(asking.members) > 1 else ""
        label = element("span", element("b", member.query), " ", element("small", shown) if shown else None)
        drawn = line(
            label,
            self._windows(asking, (member,)),
            self._counted([member]) or "",
            scale=self._scale(asking),
            class_="query",
        )
        text = self._picture.texts.get(member.query)
        said = drawn if text is None else element("details", element("summary", drawn), element("pre", text))
        return element("div", said, class_="asked", data_query=member.query, data_reach=self._reach(asking, (member,)))

    def _summed_up(self, asking: Asking) -> Html:
        """Many queries: how many have a window at least so long, the span of their constants, and their names."""
        members = asking.members
        scale = self._scale(asking)
        head = joined("windows", element("small", "height: queries with at least such a window"))
        chart = line(head, self._windows(asking, members), self._counted(members) or "", scale=scale, class_="query")
        each = zip(*(member.constants for member in members), strict=True)
        spans = [f"c{place} {_span(list(values))}" for place, values in enumerate(each, 1)]
        constants = element("p", "with ", element("code", "; ".join(spans)), class_="gives") if spans else None
        names = [
            element("li", member_text(member), " ", self._counted([member]), data_query=member.query)
            for member in members
        ]
        all_of_them = element("details", element("summary", f"all {len(members):,} queries"), element("ul", names))
        return joined(chart, constants, all_of_them)

    def _counted(self, members: Sequence[Member]) -> Html | None:
        """How many results there were."""
        found = [self._results[member.query] for member in members if member.query in self._results]
        return element("b", count(sum(found), "result"), class_="measured") if found else None

    def _scale(self, asking: Asking) -> Scale:
        return self._picture.scale(rows="rows" in asking.shape.units)

    def _reach(self, asking: Asking, members: tuple[Member, ...]) -> str:
        """How far down which of the chains that are drawn queries read."""
        found: dict[str, int] = {}
        for member in members:
            for position, scan in asking.shape.streams:
                window = member.windows[position]
                rows = window is not None and window.rows and asking.shape.keeps_state
                chain = self._chains.get((self._scopes[member.query], scan.stream, rows))
                if chain is not None and window is not None:
                    found[chain] = max(found.get(chain, 0), window.size)
        return " ".join(f"{chain}:{reach}" for chain, reach in sorted(found.items()))

    def _windows(self, asking: Asking, members: tuple[Member, ...]) -> list[Html]:
        """A line for the windows on each stream; one, if every query has the same on all of them."""
        scans = [(position, scan) for position, scan in enumerate(asking.shape.inputs) if isinstance(scan, StreamScan)]
        own = [
            (scan, found)
            for position, scan in scans
            if (found := [window for member in members if (window := member.windows[position]) is not None])
        ]
        if not own:
            return [element("div", "each row when it comes", class_="nothing")]
        draw = self._window if len(members) == 1 else self._areas
        if all(found == own[0][1] for _, found in own):
            return [draw("", "", own[0][1])]
        return [draw(f"{scan.alias} ", f" s{self._picture.hues[scan.stream]}", found) for scan, found in own]

    def _window(self, alias: str, hue: str, windows: list[Window]) -> Html:
        (window,) = windows
        width = self._picture.scale(rows=window.rows).place(window.size)
        inside = f"right:calc({percent(1 - width)} + .3rem)" if width > _LONG else None
        label = element("span", f"{alias}{window}", class_="inside" if inside else None, style=inside)
        return element("div", element("i", style=f"width:{percent(width)}"), label, class_=f"window{hue}")

    def _areas(self, alias: str, hue: str, windows: list[Window]) -> Html:
        """For every age, how many of the windows reach it."""
        scale = self._picture.scale(rows=windows[0].rows)
        sizes = sorted(window.size for window in windows)
        places: dict[int, int] = {}  # at a place, how many windows are no longer than that
        for so_far, size in enumerate(sizes, 1):
            places[round(scale.place(size) * _STEPS)] = so_far
        path, height = ["M0 100V0"], 0.0
        for place, so_far in places.items():
            path.append(f"H{place}")
            height = 100 * so_far / len(sizes)
            path.append(f"V{figure(height)}")
        area = element("path", d="".join(path) + "Z")
        drawing = element("svg", area, viewBox=f"0 0 {_STEPS} 100", preserveAspectRatio="none", aria_hidden="true")
        some = (sizes[0], sizes[len(sizes) // 2], sizes[-1])
        shortest, middle, longest = (str(Window(size, windows[0].rows)) for size in some)
        words = (
            f"{alias}{shortest}" if shortest == longest else f"{alias}{shortest} to {longest}, the middle one {middle}"
        )
        return element("div", drawing, element("span", words), class_=f"area{hue}")


def asked(asking: Asking) -> Iterator[Html]:
    """The conditions and what is computed; the constants of a single query are filled in."""
    shape = asking.shape
    alone = asking.members[0].constants if len(asking.members) == 1 else ()
    said = False
    for word, conditions in (("where", shape.conditions), ("having", shape.having)):
        if conditions:
            yield joined(f"{word} ", element("code", with_constants(conditions, alone)), " ")
            said = True
    if shape.slide is not None:
        computed = element("code", ", ".join(map(str, shape.aggregates)) or "distinct rows")
        by = element("code", ", ".join(map(str, shape.groups)) or "everything")
        yield joined("computing ", computed, " by ", by, f" every {format_duration(shape.slide)}")
    elif not said:
        yield joined("of all combinations" if len(shape.inputs) > 1 else "of all rows")


def _span(values: list[Constant]) -> str:
    """The constants of many queries in few words."""
    found = {literal(value): value for value in values}
    numbers = [value for value in found.values() if isinstance(value, int | float)]
    if len(numbers) == len(found) > 1:
        return f"from {literal(min(numbers))} to {literal(max(numbers))}"
    return listed(sorted(found))
