"""YAML files and dicts as one tree whose every part knows its place.

Parts are looked into only when asked for, so that a file which refers to itself does no harm.
"""

from __future__ import annotations

import datetime
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePath
from typing import Literal

import yaml

from penstock.catalog.parts import option_text
from penstock.catalog.syntax import syntax_error
from penstock.grammar.errors import PenstockError
from penstock.grammar.source import Source, Span

Kind = Literal["mapping", "list", "text", "number", "boolean", "nothing", "other"]
Scalar = str | int | float | bool | None

# The C reader is several times faster; neither builds anything but plain nodes.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
# Wider than YAML 1.1, for which 1e6 is a text.
_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Place:
    """Where a part stands: its key path and, in a file, the spans of its key and value."""

    path: tuple[str | int, ...] = ()
    source: Source | None = None
    key: Span | None = None
    span: Span | None = None

    def __str__(self) -> str:
        text = ""
        for step in self.path:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text

    def error(
        self, message: str, *, hint: str | None = None, label: str | None = None, on_key: bool = False
    ) -> PenstockError:
        """An error here, with the key path in front of the message."""
        return PenstockError(
            f"{self}: {message}" if self.path else message,
            span=(self.key or self.span) if on_key else self.span,
            source=self.source,
            hint=hint,
            label=label,
        )


class Node(ABC):
    """A part of the tree: a mapping, a list or a single value.

    `text` is a single value as it was written, `value` what it stands for.
    """

    place: Place
    kind: Kind
    value: Scalar = None
    text: str = ""

    @abstractmethod
    def entries(self, errors: list[PenstockError]) -> dict[str, Node]:
        """The parts of a mapping by key, adding what is wrong with the keys to the errors."""

    @abstractmethod
    def items(self) -> list[Node]:
        """The parts of a list."""

    def describe(self) -> str:
        """What this is, to follow the word 'found'."""
        match self.kind:
            case "mapping" | "list":
                return f"a {self.kind}"
            case "nothing":
                return "nothing"
            case "text":
                return f"the text '{self.text}'"
            case "number":
                return f"the number {self.text}"
        return self.text


class YamlNode(Node):
    """A part of a YAML file."""

    def __init__(self, raw: yaml.Node, place: Place) -> None:
        span = _span(raw)
        if isinstance(raw, yaml.ScalarNode) and span.start == span.end:
            span = place.key or span  # an empty value shows as its key
        self.raw = raw
        self.place = Place(place.path, place.source, place.key, span)
        self.kind = "other"
        tag = raw.tag.removeprefix(_TAG)
        if isinstance(raw, yaml.MappingNode) and tag == "map":
            self.kind = "mapping"
        elif isinstance(raw, yaml.SequenceNode) and tag == "seq":
            self.kind = "list"
        elif isinstance(raw, yaml.ScalarNode) and raw.tag.startswith(_TAG):
            self._scalar(tag, raw)
        else:
            self.text = f"a value with the tag {raw.tag}"

    def _scalar(self, tag: str, raw: yaml.ScalarNode) -> None:
        self.text = str(raw.value)
        if tag == "null":
            self.kind = "nothing"
        elif tag == "bool":
            self.kind, self.value = "boolean", self.text.lower() in ("true", "yes", "on")
        elif not raw.style and _NUMBER.fullmatch(self.text):
            self.text = self.text.replace("_", "")
            self.kind, self.value = "number", _number(self.text)
        else:
            self.kind, self.value = "text", self.text

    def entries(self, errors: list[PenstockError]) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for key, value in self.raw.value:
            if key.tag == _MERGE:
                if not all(isinstance(base, yaml.MappingNode) for base in _bases(value)):
                    node = self._inside("<<", key, value)
                    errors.append(
                        node.place.error(
                            f"expected a mapping to merge, found {node.describe()}",
                            hint="Refer to a mapping with an anchor: <<: *name",
                            label="wrong-kind",
                        )
                    )
                continue
            if not isinstance(key, yaml.ScalarNode):
                place = Place(self.place.path, self.place.source, None, _span(key))
                errors.append(
                    place.error(
                        f"expected a text as key, found {YamlNode(key, place).describe()}",
                        hint="Put it in quotes.",
                        label="wrong-kind",
                    )
                )
                continue
            name = str(key.value)
            node = self._inside(name, key, value)
            if name in found and node.kind == "nothing" and name.endswith((")", ">")):
                continue  # the end of a type that a comma has cut in two: its beginning is reported
            if name in found:
                first = found[name].place
                line = self.place.source.position(first.key.start)[0] if self.place.source and first.key else 0
                errors.append(
                    node.place.error(
                        f"the key '{name}' is given twice",
                        hint=f"It is first given on line {line}. Leave one out.",
                        label="duplicate-key",
                        on_key=True,
                    )
                )
            else:
                found[name] = node
        for key, value in _merged(self.raw, []):
            found.setdefault(str(key.value), self._inside(str(key.value), key, value))
        return found

    def items(self) -> list[Node]:
        return [self._inside(index, None, value) for index, value in enumerate(self.raw.value)]

    def _inside(self, step: str | int, key: yaml.Node | None, value: yaml.Node) -> YamlNode:
        place = Place((*self.place.path, step), self.place.source, _span(key) if key else None)
        return YamlNode(value, place)


class PlainNode(Node):
    """A part of a dict."""

    def __init__(self, raw: object, place: Place) -> None:
        self.raw = raw
        self.place = place
        self.kind = "other"
        self.text = f"a value of type {type(raw).__name__}"
        if isinstance(raw, Mapping):
            self.kind = "mapping"
        elif isinstance(raw, list | tuple):
            self.kind = "list"
        elif raw is None:
            self.kind = "nothing"
        elif isinstance(raw, bool):
            self.kind, self.value, self.text = "boolean", raw, option_text(raw)
        elif isinstance(raw, int | float | Decimal):
            self.kind, self.text = "number", str(raw)
            self.value = float(raw) if isinstance(raw, Decimal) else raw
        elif isinstance(raw, str | PurePath | datetime.date):
            self.kind, self.text = "text", str(raw)
            self.value = self.text

    def entries(self, errors: list[PenstockError]) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for key, value in self.raw.items() if isinstance(self.raw, Mapping) else ():
            node = PlainNode(value, Place((*self.place.path, str(key))))
            if isinstance(key, str):
                found[key] = node
            else:
                errors.append(
                    node.place.error(
                        f"expected a text as key, found {key!r}", hint="Put it in quotes.", label="wrong-kind"
                    )
                )
        return found

    def items(self) -> list[Node]:
        values: Iterable[object] = self.raw if isinstance(self.raw, list | tuple) else ()
        return [PlainNode(value, Place((*self.place.path, index))) for index, value in enumerate(values)]


def read_yaml(source: Source) -> Node:
    """The tree of a YAML text; an error with the place if it is none."""
    try:
        root = yaml.compose(source.text, _LOADER)
    except yaml.YAMLError as error:
        raise syntax_error(error, source) from None
    except RecursionError:
        raise PenstockError("the file is nested too deeply", source=source, label="yaml-syntax") from None
    if root is None:
        return PlainNode(None, Place((), source))
    return YamlNode(root, Place((), source))


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _span(node: yaml.Node) -> Span:
    return Span(node.start_mark.index, node.end_mark.index)


def _merged(node: yaml.Node, seen: list[yaml.Node]) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    """The pairs that the `<<` keys of a mapping bring in, the strongest first."""
    pairs: list[tuple[yaml.ScalarNode, yaml.Node]] = []
    for key, value in node.value:
        if key.tag != _MERGE:
            continue
        for base in _bases(value):
            if isinstance(base, yaml.MappingNode) and base not in seen:
                own = [pair for pair in base.value if pair[0].tag != _MERGE]
                pairs += [pair for pair in own if isinstance(pair[0], yaml.ScalarNode)]
                pairs += _merged(base, [*seen, base])
    return pairs


def _bases(value: yaml.Node) -> list[yaml.Node]:
    return list(value.value) if isinstance(value, yaml.SequenceNode) else [value]
