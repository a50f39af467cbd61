"""The catalog: the streams and relations that queries read, immutable and checked when built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from penstock.catalog.entries import Relation, Stream
from penstock.catalog.parts import CatalogError, Column, Origin, SourceSpec, Statistics
from penstock.grammar.errors import PenstockError, did_you_mean, raise_all

__all__ = [
    "Catalog",
    "CatalogError",
    "Column",
    "Origin",
    "Relation",
    "SourceSpec",
    "Statistics",
    "Stream",
]


@dataclass(frozen=True)
class Catalog:
    """Streams and relations by name, each sorted; names ignore case.

    `penstock.catalog.load_catalog` reads one; a folder, a file or a dict will do wherever a catalog is asked for.

    >>> catalog = penstock.catalog.load_catalog("sensors/catalog")
    >>> catalog.names, catalog.stream("temperature").lateness
    (('Humidity', 'Temperature'), 5000000)
    """

    streams: tuple[Stream, ...] = ()
    relations: tuple[Relation, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "streams", tuple(sorted(self.streams, key=_name)))
        object.__setattr__(self, "relations", tuple(sorted(self.relations, key=_name)))
        raise_all(_duplicates((*self.streams, *self.relations)))

    @property
    def entries(self) -> tuple[Stream | Relation, ...]:
        """Streams, then relations."""
        return (*self.streams, *self.relations)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of streams, then of relations."""
        return tuple(entry.name for entry in self.entries)

    @cached_property
    def _index(self) -> dict[str, Stream | Relation]:
        return {entry.name.lower(): entry for entry in self.entries}

    def find(self, name: str) -> Stream | Relation | None:
        """The stream or relation of that name, whatever its case."""
        return self._index.get(name.lower())

    def stream(self, name: str) -> Stream:
        """The stream of that name; an error if there is none."""
        entry = self.find(name)
        if isinstance(entry, Stream):
            return entry
        raise _unknown(name, "stream", entry, self.streams)

    def relation(self, name: str) -> Relation:
        """The relation of that name; an error if there is none."""
        entry = self.find(name)
        if isinstance(entry, Relation):
            return entry
        raise _unknown(name, "relation", entry, self.relations)

    def with_entry(self, entry: Stream | Relation) -> Catalog:
        """This catalog and one entry more, whose name must be new."""
        known = self.find(entry.name)
        if known is not None:
            raise_all(_duplicates((known, entry)))
        if isinstance(entry, Stream):
            return Catalog((*self.streams, entry), self.relations)
        return Catalog(self.streams, (*self.relations, entry))

    def without(self, name: str) -> Catalog:
        """This catalog and one entry less, which must be there."""
        entry = self.find(name)
        if entry is None:
            raise _unknown(name, "stream or relation", None, self.entries)
        return Catalog(
            tuple(stream for stream in self.streams if stream is not entry),
            tuple(relation for relation in self.relations if relation is not entry),
        )

    def merge(self, other: Catalog) -> Catalog:
        """Both catalogs in one; a name may be in one of them only."""
        return Catalog((*self.streams, *other.streams), (*self.relations, *other.relations))


def _name(entry: Stream | Relation) -> str:
    return entry.name.lower()


def _duplicates(entries: Iterable[Stream | Relation]) -> Iterator[PenstockError]:
    seen: dict[str, Stream | Relation] = {}
    for entry in entries:
        first = seen.get(_name(entry))
        seen.setdefault(_name(entry), entry)
        if first is not None:
            place = f" It is first defined at {first.origin}." if first.origin else ""
            error = CatalogError(
                f"{entry} is defined already, as the {first}"
                if (first.kind, first.name) != (entry.kind, entry.name)
                else f"{entry} is defined twice",
                hint=f"Rename one of them or leave it out.{place}",
                label="duplicate-name",
            )
            if entry.origin:
                error.source, error.span = entry.origin.source, entry.origin.span
            yield error


def _unknown(name: str, kind: str, entry: Stream | Relation | None, known: Iterable[Stream | Relation]) -> CatalogError:
    names = [candidate.name for candidate in known]
    return CatalogError(
        f"{entry.name} is a {entry.kind}, not a {kind}" if entry else f"there is no {kind} '{name}'",
        hint=did_you_mean(name, names) or f"The catalog has no {kind}.",
        label="unknown-name",
    )
