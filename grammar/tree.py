"""The one tree protocol: immutable nodes with children, shared by syntax trees and plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Node:
    """Base of every frozen dataclass that is part of a tree.

    Children are the fields that are nodes or tuples of nodes, in the order of the fields.
    """

    __slots__ = ()

    @property
    def children(self) -> tuple[Node, ...]:
        """The direct children, left to right."""
        found: list[Node] = []
        for name in _compared_fields(type(self)):
            value = getattr(self, name)
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple):
                found += [item for item in value if isinstance(item, Node)]
        return tuple(found)

    def with_children(self, children: tuple[Node, ...]) -> Self:
        """This node with other children, as many and in the same places."""
        rest = iter(children)
        changed: dict[str, Any] = {}
        for name in _compared_fields(type(self)):
            value = getattr(self, name)
            if isinstance(value, Node):
                new: Any = next(rest)
            elif isinstance(value, tuple) and any(isinstance(item, Node) for item in value):
                new = tuple(next(rest) if isinstance(item, Node) else item for item in value)
            else:
                continue
            if new is not value:
                changed[name] = new
        return replace(self, **changed) if changed else self  # type: ignore[type-var]

    def transform(self, change: Callable[[Any], Any]) -> Any:
        """The tree with `change` applied to every node, children first."""
        old = self.children
        new = tuple(child.transform(change) for child in old)
        kept = all(before is after for before, after in zip(old, new, strict=True))
        return change(self if kept else self.with_children(new))

    def walk(self) -> Iterator[Node]:
        """Every node of the tree, parents first; iterative, so that depth does not matter."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def find_all(self, kind: type[T]) -> Iterator[T]:
        """Every node of a kind, parents first."""
        return (node for node in self.walk() if isinstance(node, kind))


_FIELDS: dict[type[Any], tuple[str, ...]] = {}


def _compared_fields(kind: type[Any]) -> tuple[str, ...]:
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(field.name for field in fields(kind) if field.compare)
    return names
