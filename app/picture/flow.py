"""How rows flow: streams into joins, joins into queries, queries into their sinks, drawn as a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from penstock.compiler.explain.shared import what
from penstock.compiler.explain.words import age, tally_text
from penstock.compiler.physical import (
    AggregateWindows,
    Ingest,
    KeepChain,
    Operator,
    Probe,
    Route,
    Write,
    shape_text,
    signature_text,
)
from penstock.compiler.shared import Shape, inputs_of
from penstock.picture.markup import Html, count, element, figure
from penstock.picture.picture import Picture

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 176, 46, 36, 12, 10
MOST_NODES = 12
"""In a column of more nodes than this, those that read the same are one; of these, the rest is one."""
_KINDS = ("chain", "join", "tally", "route", "sink")
_NAMES = {"chain": "read and kept", "join": "joined", "tally": "added up", "route": "asked for", "sink": "written"}
_MANY = {
    "chain": "chains",
    "relation": "relations",
    "join": "joins",
    "tally": "aggregates",
    "route": "queries",
    "sink": "sinks",
}
Key = tuple[str, ...]
Column = tuple[int, int]
"""How many other queries lie before it, and the place of its kind."""


@dataclass
class Node:
    """One operator, or all that are alike but for the query that has them for itself."""

    key: Key
    kind: str
    title: str
    more: str
    hue: int | None = None
    count: int = 0
    sources: set[Key] = field(default_factory=set)
    column: Column = (0, 0)
    x: int = 0
    row: float = 0.0

    @property
    def y(self) -> float:
        """Its upper edge."""
        return (1 + self.row) * (_HEIGHT + _DOWN) - _HEIGHT / 2


class Flow:
    """The nodes of a plan, placed."""

    def __init__(self, picture: Picture) -> None:
        self._hues = picture.hues
        self._kept = {(name, rows): _kept(own, rows) for name, own in picture.chains.items() for rows in (False, True)}
        self._nodes: dict[Key, Node] = {}
        self._folded: dict[Key, Key] = {}
        self._add_all(picture.physical.operators)
        self._set_columns()
        self._fold()
        self._place()
        self._names = {key: f"n{number}" for number, key in enumerate(self._nodes)}

    # Which nodes there are

    def _add_all(self, operators: Iterable[Operator]) -> None:
        """Make nodes; a stream and what is kept of it are one, and so are the results that others read."""
        keys: dict[str, Key] = {}
        asked: dict[str, Key] = {}
        derived: list[tuple[Key, str]] = []
        for operator in operators:
            if isinstance(operator, Ingest):
                continue
            made = self._node(operator)
            keys[operator.id] = made.key
            node = self._nodes.setdefault(made.key, made)
            node.count += len(operator.members) if isinstance(operator, Route) else 1
            node.sources |= {keys[source] for source in operator.inputs if source in keys}
            if isinstance(operator, KeepChain):
                derived.append((node.key, operator.chain.stream))
            if isinstance(operator, Probe):
                node.sources |= {self._relation(scan.relation) for scan in operator.relations}
            if isinstance(operator, Route):
                asked.update((member.query, node.key) for member in operator.members)
                node.title = operator.members[0].query if node.count == 1 else f"{node.count:,} queries"
        for key, stream in derived:
            if stream in asked:
                self._nodes[key].sources.add(asked[stream])

    def _relation(self, name: str) -> Key:
        return self._nodes.setdefault(("relation", name), Node(("relation", name), "relation", name, "relation")).key

    def _node(self, operator: Operator) -> Node:
        match operator:
            case KeepChain():
                chain = operator.chain
                key = ("chain", chain.stream, str(chain.rows))
                return Node(key, "chain", chain.stream, self._kept[chain.stream, chain.rows], self._hues[chain.stream])
            case Probe():
                keys = " and ".join(map(str, operator.join.source.keys)) or "every combination"
                inputs = " ⋈ ".join(scan.alias for scan in inputs_of(operator.join.source))
                return Node(("join", *signature_text(operator.join.source)), "join", inputs, keys)
            case AggregateWindows():
                tally = replace(operator.tally, shape=replace(operator.tally.shape, scope=""))
                computed, _, by = tally_text(tally).partition(" by ")
                return Node(("tally", *shape_text(tally.shape), str(tally.grain)), "tally", computed, f"by {by}")
            case Route():
                return Node(_route(operator.shape), "route", "", what(operator.shape))
            case Write():
                return Node(("sink", operator.target), "sink", operator.target, "where results go")
        raise TypeError(operator)

    # Where they are

    def _set_columns(self) -> None:
        """A column for each kind; what reads the results of queries begins again to the right of them."""
        known: dict[Key, int] = {}

        def level(key: Key) -> int:
            if key not in known:
                node = self._nodes[key]
                begins = int(node.kind == "chain")
                known[key] = max((level(source) + begins for source in node.sources), default=0)
            return known[key]

        for node in self._nodes.values():
            node.column = (level(node.key), _KINDS.index("chain" if node.kind == "relation" else node.kind))
        last = max((node.column[0] for node in self._nodes.values()), default=0)
        for node in self._nodes.values():
            if node.kind == "sink":
                node.column = (last, node.column[1])
            elif node.kind == "relation":
                readers = [other.column[0] for other in self._nodes.values() if node.key in other.sources]
                node.column = (min(readers), node.column[1])

    def _columns(self) -> dict[Column, list[Node]]:
        found: dict[Column, list[Node]] = {}
        for node in sorted(self._nodes.values(), key=lambda node: node.column):
            found.setdefault(node.column, []).append(node)
        return found

    def _fold(self) -> None:
        """Put nodes of long columns together: those that read the same, and then the last ones."""
        for column, nodes in self._columns().items():
            if len(nodes) > MOST_NODES:
                alike: dict[tuple[Key, ...], list[Node]] = {}
                for node in nodes:
                    alike.setdefault((("kind", node.kind), *sorted(node.sources)), []).append(node)
                for number, group in enumerate(alike.values()):
                    self._join(group, ("alike", str(column), str(number)))
        for column, nodes in self._columns().items():
            if len(nodes) > MOST_NODES:
                self._join(nodes[MOST_NODES - 1 :], ("rest", str(column)))

    def _join(self, nodes: list[Node], key: Key) -> None:
        """Put one node in place of several."""
        if len(nodes) == 1:
            return
        one = replace(nodes[0], key=key, count=sum(node.count for node in nodes), sources=set(), hue=None)
        one.sources = {source for node in nodes for source in node.sources}
        one.title = f"{one.count:,} {_MANY[one.kind]}"
        one.more = f"{len(nodes):,} kinds" if key[0] == "alike" else "the rest"
        for node in nodes:
            del self._nodes[node.key]
        gone = {node.key for node in nodes}
        self._folded |= {old: key for old, new in self._folded.items() if new in gone} | dict.fromkeys(gone, key)
        self._nodes[key] = one
        for node in self._nodes.values():
            node.sources = {key if source in gone else source for source in node.sources}

    def _place(self) -> None:
        """Nodes are as high as what they read, and what reads them, on average; columns are one beside the other."""
        columns = self._columns()
        readers: dict[Key, list[Node]] = {key: [] for key in self._nodes}
        for node in self._nodes.values():
            for source in node.sources:
                readers[source].append(node)
        for _ in range(4):
            for nodes in columns.values():
                _sort(nodes, lambda node: [self._nodes[key] for key in node.sources])
            for nodes in reversed(columns.values()):
                _sort(nodes, lambda node: readers[node.key])
        self._tallest = max(map(len, columns.values()), default=0)
        for number, nodes in enumerate(columns.values()):
            first = (self._tallest - len(nodes)) / 2
            for row, node in enumerate(nodes):
                node.x, node.row = _MARGIN + number * (_WIDTH + _ACROSS), first + row

    # What is said of them

    def names_above(self, shape: Shape) -> list[str]:
        """The names of all the nodes that the queries of a shape need, and of those that they give to."""
        key = _route(shape)
        end = self._folded.get(key, key)
        found, open_ = {end}, [end]
        while open_:
            fresh = self._nodes[open_.pop()].sources - found
            open_ += fresh
            found |= fresh
        found |= {node.key for node in self._nodes.values() if node.kind == "sink" and end in node.sources}
        return [name for key, name in self._names.items() if key in found]

    def draw(self) -> Html:
        """The graph as a drawing."""
        columns = self._columns()
        width = 2 * _MARGIN + len(columns) * (_WIDTH + _ACROSS) - _ACROSS
        height = (1 + self._tallest) * (_HEIGHT + _DOWN) - _HEIGHT / 2
        heads = [
            element("b", _NAMES[_KINDS[column[1]]], class_="head", style=f"left:{nodes[0].x}px")
            for column, nodes in columns.items()
        ]
        lines = [
            self._line(self._nodes[key], node)
            for node in self._nodes.values()
            for key in sorted(node.sources, key=lambda key: (self._nodes[key].row, key))
        ]
        drawing = element("svg", lines, width=width, height=figure(height), aria_hidden="true")
        boxes = [self._box(node) for node in self._nodes.values()]
        size = f"width:{width}px;height:{figure(height)}px"
        return element("div", element("div", drawing, heads, boxes, class_="graph", style=size), class_="flow")

    def _line(self, source: Node, target: Node) -> Html:
        x1, y1 = source.x + _WIDTH, figure(source.y + _HEIGHT / 2)
        x2, y2 = target.x, figure(target.y + _HEIGHT / 2)
        middle = figure(min((x1 + x2) / 2, x1 + _ACROSS))
        bend = figure(max((x1 + x2) / 2, x2 - _ACROSS))
        path = f"M{x1} {y1}C{middle} {y1} {bend} {y2} {x2} {y2}"
        return element("path", d=path, data_from=self._names[source.key], data_to=self._names[target.key])

    def _box(self, node: Node) -> Html:
        times = f" ×{node.count:,}" if node.count > 1 and node.kind in ("chain", "join", "tally") else ""
        times = "" if node.key in self._folded.values() else times
        hue = "" if node.hue is None else f" s{node.hue}"
        return element(
            "div",
            element("b", node.title, times),
            element("small", node.more),
            class_=f"node {node.kind}{hue}",
            style=f"left:{node.x}px;top:{figure(node.y)}px;width:{_WIDTH}px;height:{_HEIGHT}px",
            title=f"{node.title}{times}\n{node.more}",
            data_node=self._names[node.key],
        )


def _kept(keepers: list[KeepChain], rows: bool) -> str:
    """What is kept of a stream, by age or by a number of rows."""
    chains = [keeper.chain for keeper in keepers if keeper.chain.rows == rows]
    longest = max(chains, key=lambda chain: chain.reach, default=None)
    if longest is None or not longest.reach:
        return "not kept"
    return f"{count(sum(len(chain.slices) for chain in chains), 'slice')}, {age(longest, longest.reach)}"


def _route(shape: Shape) -> Key:
    return ("route", *shape_text(replace(shape, scope="")))


def _sort(column: list[Node], neighbours: Callable[[Node], list[Node]]) -> None:
    wanted = {}
    for number, node in enumerate(column):
        rows = [other.row for other in neighbours(node)]
        wanted[node.key] = sum(rows) / len(rows) if rows else float(number)
    column.sort(key=lambda node: wanted[node.key])
    for number, node in enumerate(column):
        node.row = float(number)
