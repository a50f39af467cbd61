"""Streams and what is kept of them: chains, with their slices to scale by age."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.catalog import Stream
from penstock.compiler.estimate import RATE, selection_text
from penstock.compiler.explain.words import age, ages, conditions_of, number, which_rows, who_enters
from penstock.compiler.physical import KeepChain
from penstock.compiler.shared import Chain
from penstock.compiler.strategies import rows_of_ages, slice_rows
from penstock.compiler.survival import is_range
from penstock.picture.markup import Html, count, element, figure, percent
from penstock.picture.picture import Picture
from penstock.picture.scale import Scale

SHOWN = 4
"""Of a stream so many chains are drawn; the rest is summed up."""
_OPEN = 6
"""The slices of a chain are listed at once if there are no more."""
_MOST = 40
"""Of a chain with more slices than this, neighbours are drawn as one."""


@dataclass(frozen=True)
class Piece:
    """One slice, or neighbours that are too slim to be told apart."""

    chain: Chain
    slices: tuple[tuple[int, int], ...]
    predicted: float
    """How many rows the cost model predicts."""
    part: float
    """How much that is of all the rows of its ages."""
    measured: tuple[int, int] | None
    """How many rows and chunks there were."""

    @property
    def start(self) -> int:
        """The least age."""
        return self.slices[0][0]

    @property
    def end(self) -> int:
        """The greatest age."""
        return self.slices[-1][1]

    @property
    def ages(self) -> str:
        """The ages in words."""
        several = f" ({count(len(self.slices), 'slice')})" if len(self.slices) > 1 else ""
        return ages(self.chain, self.start, self.end) + several

    @property
    def which(self) -> str:
        """Which rows of these ages are kept."""
        if self.chain.partitioned and len(self.slices) > 1:
            return f"rows that reach {age(self.chain, self.slices[0][1])} to {age(self.chain, self.end)}"
        return which_rows(self.chain, self.start, self.end)


class Chains:
    """The chains of a picture."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture

    def section(self, *, lists: bool = True) -> Html:
        """All the streams; with lists of their slices if there is room for them."""
        streams = [self._stream(name, keepers, lists) for name, keepers in self._picture.chains.items()]
        return element("div", [axis(scale) for scale in self._picture.scales], streams, class_="streams")

    def _stream(self, name: str, keepers: list[KeepChain], lists: bool) -> Html:
        columns = ", ".join(sorted({column for keeper in keepers for column in keeper.chain.columns}))
        dot = element("i", class_="dot")
        head = element("h3", dot, name, " ", element("small", " · ".join([columns, *self._facts(name)])))
        shown = keepers if len(keepers) <= SHOWN + 1 else keepers[:SHOWN]
        drawn = [self._chain(keeper, lists) for keeper in shown]
        hue = self._picture.hues[name]
        return element("div", head, drawn, self._rest(keepers[len(shown) :]), class_=f"stream s{hue}", data_stream=name)

    def _facts(self, name: str) -> Iterator[str]:
        """What is known of how much comes."""
        picture, entry = self._picture, self._picture.known.catalog.find(name)
        measured = picture.known.measured.rates.get(name)
        if not isinstance(entry, Stream):
            yield "the results of a query"
            if measured is None:
                yield f"{number(picture.estimates.rate(name))} rows/s predicted"
        elif entry.statistics.rate is not None:
            yield f"{number(entry.statistics.rate)} rows/s by the catalog"
        elif measured is None:
            yield f"{number(RATE)} rows/s assumed"
        if measured is not None:
            yield f"{number(measured)} rows/s measured"
        row = picture.run.streams.get(name) if picture.run is not None else None
        if row is not None:
            yield f"{row['rows']:,} rows read" + (f" up to {row['up to']}" if row["up to"] else "")
            yield from (f"{row[what]:,} {what}" for what in ("late", "unreadable") if row[what])

    def _rest(self, keepers: list[KeepChain]) -> Html | None:
        """Chains that are not drawn, in a line."""
        if not keepers:
            return None
        pieces = [piece for keeper in keepers for piece in self._pieces(keeper)]
        label = f"{count(len(keepers), 'more chain')}, each for one query alone"
        scale = self._picture.scale(rows=keepers[0].chain.rows)
        return line(label, "", self._total(pieces), scale=scale, class_="chain rest")

    def _chain(self, keeper: KeepChain, lists: bool) -> Html:
        chain = keeper.chain
        scale = self._picture.scale(rows=chain.rows)
        scope = f"for {chain.scope} alone " if chain.scope else "last rows " if chain.rows else ""
        if not chain.slices:
            nothing = element("div", f"{who_enters(chain, -1)}; none is kept", class_="nothing")
            return line(scope, nothing, "", scale=scale, class_="chain")
        pieces = self._pieces(keeper)
        bars = element(
            "div",
            [self._bar(keeper, piece, scale) for piece in pieces],
            class_="bars stacked" if chain.partitioned else "bars",
        )
        words = count(len(chain.slices), "part" if chain.partitioned else "slice")
        drawn = line(element("span", scope, words), bars, self._total(pieces), scale=scale, class_="chain")
        return element("div", drawn, self._list(chain, pieces) if lists else None, data_chain=keeper.id)

    def _pieces(self, keeper: KeepChain) -> list[Piece]:
        chain = keeper.chain
        scale = self._picture.scale(rows=chain.rows)
        groups: list[list[tuple[int, int]]] = []
        for ends in chain.slices:
            slim = groups and scale.place(groups[-1][-1][1]) - scale.place(groups[-1][0][0]) < 1 / _MOST
            if slim and len(chain.slices) > _MOST:
                groups[-1].append(ends)
            else:
                groups.append([ends])
        return [self._piece(keeper, tuple(group)) for group in groups]

    def _piece(self, keeper: KeepChain, slices: tuple[tuple[int, int], ...]) -> Piece:
        chain, estimates, run = keeper.chain, self._picture.estimates, self._picture.run
        rows = sum(slice_rows(chain, *ends, estimates) for ends in slices)
        start = 0 if chain.partitioned else slices[0][0]
        part = rows / rows_of_ages(chain, start, slices[-1][1], estimates)
        found = [run.slices.get((keeper.id, *ends), (0, 0)) for ends in slices] if run is not None else None
        measured = None if found is None else (sum(own for own, _ in found), sum(chunks for _, chunks in found))
        return Piece(chain, slices, rows, part, measured)

    def _bar(self, keeper: KeepChain, piece: Piece, scale: Scale) -> Html:
        first = 0 if piece.chain.partitioned else piece.start
        left, width = scale.place(first), scale.place(piece.end) - scale.place(first)
        words = f"{piece.ages}: {piece.which}\n{number(piece.predicted)} rows predicted"
        if piece.measured is not None:
            words += f"\n{piece.measured[0]:,} rows in {count(piece.measured[1], 'chunk')} measured"
        label = None if piece.chain.partitioned else element("span", age(piece.chain, piece.end))
        return element(
            "div",
            label,
            class_="slice",
            style=f"left:{percent(left)};width:{percent(width)};--part:{percent(0.15 + 0.85 * piece.part)}",
            title=words,
            data_from=piece.start,
            data_to=piece.end,
            data_in=keeper.id,
        )

    def _total(self, pieces: list[Piece]) -> Html:
        """The rows of all slices."""
        found = [piece.measured for piece in pieces if piece.measured is not None]
        rows, chunks = sum(own for own, _ in found), sum(chunks for _, chunks in found)
        measured = element("b", f"{rows:,} in {count(chunks, 'chunk')}", class_="measured") if found else None
        predicted = element("span", f"{number(sum(piece.predicted for piece in pieces))} rows")
        return element("span", predicted, " ", measured)

    def _list(self, chain: Chain, pieces: list[Piece]) -> Html:
        """Every slice with the selection in front of it, and what these selections accept."""
        heads = ["age", "which rows", "part", "predicted"]
        heads += ["measured", "chunks"] if self._picture.run is not None else []
        rows = []
        for piece in pieces:
            cells = [piece.ages, piece.which, f"{100 * piece.part:.3g} %", number(piece.predicted)]
            cells += [f"{figure:,}" for figure in piece.measured or ()]
            rows.append(element("tr", [element("td", cell) for cell in cells]))
        table = element("table", element("tr", [element("th", head) for head in heads]), rows, class_="slices")
        summary = element("summary", "selections in front of the slices")
        is_open = "" if len(pieces) <= _OPEN and not chain.scope else None
        return element("details", summary, table, list(self._selections(chain)), open=is_open)

    def _selections(self, chain: Chain) -> Iterator[Html]:
        """How many rows each selection accepts."""
        estimates = self._picture.estimates
        for wanted in chain.wanted[:_OPEN]:
            if not wanted.conditions:
                continue
            part = f"{100 * estimates.selectivity(chain.stream, wanted.conditions):.3g} %"
            known = (chain.stream, selection_text(wanted.conditions)) in estimates.measured.selectivities
            told = element("b", f"{part} measured", class_="measured") if known else f"{part} assumed"
            which = "the widest" if all(map(is_range, wanted.conditions)) else "each"
            sets = f" for {which} of {len(wanted.rows):,} sets of constants" if len(wanted.rows) > 1 else ""
            yield element("p", element("code", conditions_of(wanted)), " accepts ", told, sets, class_="accepts")


def axis(scale: Scale) -> Html:
    """The line of ages above chains, or above windows of rows."""
    ticks = [element("span", words, style=f"left:{percent(place)}") for place, words in scale.ticks()]
    label = element("span", "rows since" if scale.rows else "age of rows", " ", element("small", scale.name))
    return line(label, element("div", ticks, class_="ticks"), "", scale=scale, class_="axis")


def line(label: str, middle: Html | str | list[Html], right: str, *, scale: Scale, class_: str) -> Html:
    """A line of the chart: what it is, what is drawn to scale, and a figure."""
    return element(
        "div",
        element("div", label, class_="label"),
        element("div", middle, class_=f"lane {'counts' if scale.rows else 'ages'}"),
        element("div", right, class_="figure"),
        class_=f"line {class_}",
    )


def grid(picture: Picture) -> str:
    """The lines of both scales, as a style for all that is drawn to them."""
    return f"--ages:{_stripes(picture.ages)};--counts:{_stripes(picture.counts)}"


def _stripes(scale: Scale) -> str:
    stops = [figure(place * 100) for place, _ in scale.ticks() if place > 0]
    parts = [
        f"transparent calc({stop}% - 1px),var(--line) calc({stop}% - 1px),var(--line) {stop}%,transparent {stop}%"
        for stop in stops
    ]
    return f"linear-gradient(to right,{','.join(parts or ['transparent', 'transparent'])})"
