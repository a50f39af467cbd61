"""From the located tree to the model, collecting every mistake on the way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from penstock.catalog.fields import Fields
from penstock.catalog.model import CatalogError, Column, Origin, Relation, SourceSpec, Statistics, Stream
from penstock.catalog.nodes import Node
from penstock.catalog.parts import option_text
from penstock.catalog.types import KNOWN
from penstock.grammar.errors import PenstockError

CATALOG_KEYS = ("streams", "relations")
STREAM_KEYS = ("source", "schema", "timestamp", "lateness", "retain", "idle_timeout", "statistics")
RELATION_KEYS = ("source", "schema", "valid", "statistics")
SOURCE_KEYS = ("format", "path", "options")

# Mappings whose keys are the user's: a mistake in a name is shown at the key.
_NAMED_BY_USER = ("schema", "distinct", "options")
_QUOTED_TYPE = "Inside {…} a comma ends the value: put the type in quotes, as in 'decimal(10,2)'."

T = TypeVar("T")


class Reader(Fields):
    """Reads trees into streams and relations; what is wrong is in `errors`."""

    def __init__(self) -> None:
        super().__init__()
        self.streams: list[Stream] = []
        self.relations: list[Relation] = []

    def read(self, root: Node) -> None:
        """Add what one file, or one dict, defines."""
        keys = self.mapping(root, "a mapping with the keys streams and relations", CATALOG_KEYS)
        for name, node in self.named(keys.get("streams"), "a mapping of name to stream"):
            self._add(self.streams, partial(self._stream, name, node))
        for name, node in self.named(keys.get("relations"), "a mapping of name to relation"):
            self._add(self.relations, partial(self._relation, name, node))

    def _add(self, entries: list[T], read: Callable[[], T | None]) -> None:
        before = len(self.errors)
        entry = read()
        if entry is not None and len(self.errors) == before:
            entries.append(entry)

    def _stream(self, name: str, node: Node) -> Stream | None:
        keys = self.mapping(node, "a mapping that describes a stream", STREAM_KEYS)
        columns, stand_in = self._schema(node, keys)
        timestamp = self.text(keys.get("timestamp"), "the name of a column")
        lateness = self.duration(keys.get("lateness"))
        retain = self.duration(keys.get("retain"))
        idle_timeout = self.duration(keys.get("idle_timeout"))
        source = self._source(keys.get("source"))
        statistics = self._statistics(keys.get("statistics"), ("rate", "distinct"))
        if columns is None or ("timestamp" in keys and timestamp is None):
            return None
        return self._build(
            node,
            lambda: Stream(
                name,
                columns,
                timestamp or stand_in,
                lateness or 0,
                retain or 0,
                idle_timeout,
                source,
                statistics,
                _origin(node),
            ),
        )

    def _relation(self, name: str, node: Node) -> Relation | None:
        keys = self.mapping(node, "a mapping that describes a relation", RELATION_KEYS)
        columns, _ = self._schema(node, keys)
        source = self._source(keys.get("source"))
        valid = self._valid(keys.get("valid"))
        statistics = self._statistics(keys.get("statistics"), ("rows", "distinct"))
        if columns is None:
            return None
        return self._build(node, lambda: Relation(name, columns, source, valid, statistics, _origin(node)))

    def _schema(self, entry: Node, keys: dict[str, Node]) -> tuple[tuple[Column, ...] | None, str]:
        """The columns, or None if they are not known well enough to check the rest against them.

        A column whose type is wrong counts as a timestamp from here on, lest the use of its name
        be reported as well; the second value is the name of one such column.
        """
        node = keys.get("schema")
        if node is None:
            if entry.kind in ("mapping", "nothing"):
                self.fail(
                    entry,
                    "the key schema is missing",
                    hint="Name the columns and their types: schema: {id: int, ts: timestamp}",
                    label="missing-key",
                    on_key=True,
                )
            return None, ""
        expected = "a mapping of column to type"
        if node.kind != "mapping":
            self.wrong_kind(node, expected)
            return None, ""
        columns: list[Column | None] = []
        stand_in, cut = "", False
        for name, child in self.named(node, expected):
            if cut and child.kind == "nothing":
                continue  # the rest of the type before, which a comma has cut in two
            before = len(self.errors)
            text = self.text(child, "a type such as int", KNOWN) or ""
            cut = text.count("(") > text.count(")") or text.count("<") > text.count(">")
            column = self._column(name, text, child, cut)
            if len(self.errors) > before:
                stand_in = name
            columns.append(column)
        known = tuple(column for column in columns if column is not None)
        return (known if len(known) == len(columns) else None), stand_in

    def _column(self, name: str, type_: str, node: Node, cut: bool) -> Column | None:
        """The column, as a timestamp if its type is wrong; None if its name is."""
        column = self._build(node, lambda: Column(name, "timestamp"))
        if column is None or not type_:
            return column
        try:
            return Column(name, type_)
        except PenstockError as error:
            if cut and node.place.source is not None:
                error.hint = _QUOTED_TYPE
            self.locate(node, error)
            return column

    def _source(self, node: Node | None) -> SourceSpec | None:
        if node is None:
            return None
        keys = self.mapping(node, "a mapping with the keys format, path and options", SOURCE_KEYS)
        format_ = self.text(keys.get("format"), "the name of a format")
        path = self.text(keys.get("path"), "a path")
        options = self._options(keys.get("options"))
        if "format" not in keys and node.kind == "mapping":
            self.fail(
                node,
                "the key format is missing",
                hint="Name a Spark source, such as format: parquet",
                label="missing-key",
                on_key=True,
            )
        if format_ is None or ("path" in keys and path is None):
            return None
        return self._build(node, lambda: SourceSpec(format_, path, options))

    def _options(self, node: Node | None) -> tuple[tuple[str, str], ...]:
        options = []
        for name, child in self.named(node, "a mapping of option to value"):
            if child.kind in ("text", "number", "boolean"):
                text = option_text(child.value) if child.kind == "boolean" else child.text
                options.append((name, text))
            else:
                self.wrong_kind(child, "a text, a number, true or false", "Write '' for an empty text.")
        return tuple(options)

    def _statistics(self, node: Node | None, allowed: tuple[str, ...]) -> Statistics:
        if node is None:
            return Statistics()
        keys = self.mapping(node, f"a mapping with the keys {' and '.join(allowed)}", allowed)
        rate = self.number(keys.get("rate"), "the number of rows per second")
        rows = self.whole(keys.get("rows"), "the number of rows")
        distinct = []
        for name, child in self.named(keys.get("distinct"), "a mapping of column to number"):
            count = self.whole(child, "the number of distinct values")
            distinct.append((name, 1 if count is None else count))
        statistics = self._build(node, lambda: Statistics(rate, rows, tuple(distinct)))
        # What is wrong is reported already; the names of the columns can still be checked.
        return statistics or Statistics(distinct=tuple({name.lower(): (name, 1) for name, _ in distinct}.values()))

    def _valid(self, node: Node | None) -> tuple[str, str] | None:
        if node is None:
            return None
        items = node.items() if node.kind == "list" else []
        if len(items) != 2:
            found = f"a list of {len(items)}" if node.kind == "list" else node.describe()
            self.fail(
                node,
                f"expected a list of two columns, found {found}",
                hint="Name since when a row holds, and until when: valid: [since, until]",
                label="wrong-kind",
            )
            return None
        begin, end = (self.text(item, "the name of a column") for item in items)
        return None if begin is None or end is None else (begin, end)

    def _build(self, node: Node, build: Callable[[], T]) -> T | None:
        try:
            return build()
        except PenstockError as error:
            self.locate(node, error)
            return None

    def locate(self, node: Node, error: PenstockError) -> None:
        """Add an error of the model, at the place in the tree that it speaks of."""
        for single in error.errors:
            target, on_key = node, isinstance(single, CatalogError)
            for step in single.at if isinstance(single, CatalogError) else ():
                child = _child(target, step)
                if child is None:
                    break
                target, on_key = child, target.place.path[-1] in _NAMED_BY_USER
            self.fail(target, single.message, hint=single.hint, label=single.label, on_key=on_key)


def _child(node: Node, step: str | int) -> Node | None:
    if isinstance(step, str) and node.kind == "mapping":
        return node.entries([]).get(step)
    if isinstance(step, int) and node.kind == "list":
        return next(iter(node.items()[step : step + 1]), None)
    return None


def _origin(node: Node) -> Origin | None:
    place = node.place
    return Origin(place.source, place.key) if place.source and place.key else None
