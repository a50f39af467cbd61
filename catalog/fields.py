"""Reading located trees: the parts of mappings and what they should be, collecting every mistake on the way."""

from __future__ import annotations

import math
from collections.abc import Iterable

from penstock.catalog.nodes import Node
from penstock.grammar.durations import parse_duration
from penstock.grammar.errors import PenstockError, did_you_mean


class Fields:
    """Reads parts of trees; what is wrong is in `errors`."""

    def __init__(self) -> None:
        self.errors: list[PenstockError] = []

    def named(self, node: Node | None, expected: str) -> Iterable[tuple[str, Node]]:
        """The parts of a mapping by name."""
        return () if node is None else self.mapping(node, expected).items()

    def mapping(self, node: Node, expected: str, known: tuple[str, ...] | None = None) -> dict[str, Node]:
        """The parts of a mapping; with fixed keys, an empty one counts as left out."""
        if node.kind == "nothing":
            return {}
        if node.kind != "mapping":
            self.wrong_kind(node, expected)
            return {}
        entries = node.entries(self.errors)
        if known is None:
            return entries
        for name, child in entries.items():
            if name not in known:
                self.fail(
                    child,
                    f"unknown key '{name}'",
                    hint=did_you_mean(name, known),
                    label="unknown-key",
                    on_key=True,
                )
        return {name: child for name, child in entries.items() if name in known and child.kind != "nothing"}

    def text(self, node: Node | None, expected: str, hint: str | None = None) -> str | None:
        """The text of a part; None, and an error, if it is none."""
        if node is None:
            return None
        if node.kind == "text" and node.text.strip():
            return node.text
        if node.kind in ("number", "boolean"):
            hint = hint or "Put it in quotes if it is meant as a text."
        self.wrong_kind(node, expected, hint)
        return None

    def duration(self, node: Node | None) -> int | None:
        """A duration in microseconds; None, and an error, if it is none."""
        if node is None:
            return None
        if node.kind not in ("text", "number"):
            self.wrong_kind(node, "a duration such as 5 min")
            return None
        try:
            return parse_duration(node.text)
        except PenstockError as error:
            self.locate(node, error)
            return None

    def number(self, node: Node | None, expected: str) -> float | None:
        """A number; None, and an error, if it is none."""
        if node is None:
            return None
        value = node.value
        if node.kind == "number" and isinstance(value, int | float) and math.isfinite(value):
            return value
        self.wrong_kind(node, expected)
        return None

    def whole(self, node: Node | None, expected: str) -> int | None:
        """A whole number; None, and an error, if it is none."""
        value = self.number(node, expected)
        if value is None or node is None:
            return None
        if value != int(value):
            self.wrong_kind(node, f"{expected}, a whole number")
            return None
        return int(value)

    def wrong_kind(self, node: Node, expected: str, hint: str | None = None) -> None:
        """Add the error that a part is something else than what is expected."""
        message = f"expected {expected}, found {node.describe()}"
        self.fail(node, message, hint=hint, label="wrong-kind")

    def locate(self, node: Node, error: PenstockError) -> None:
        """Add an error that has no place yet, at a part."""
        for single in error.errors:
            self.fail(node, single.message, hint=single.hint, label=single.label)

    def fail(self, node: Node, message: str, *, hint: str | None, label: str | None, on_key: bool = False) -> None:
        """Add an error at a part, or at its key."""
        self.errors.append(node.place.error(message, hint=hint, label=label, on_key=on_key))
