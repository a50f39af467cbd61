"""The names that a session knows, for those who write statements."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.session import Session

Columns = dict[str, list[str]]
"""The columns of each, by name."""


@dataclass(frozen=True)
class Names:
    """Streams, relations and queries with their columns, and settings."""

    streams: Columns = field(default_factory=dict)
    relations: Columns = field(default_factory=dict)
    queries: Columns = field(default_factory=dict)
    settings: list[str] = field(default_factory=list)

    def to_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @staticmethod
    def of(data: dict[str, Any]) -> Names:
        """From JSON."""
        return Names(**data)

    @property
    def inputs(self) -> Columns:
        """What a query may read from."""
        queries = {name: ["_ts", *columns] for name, columns in self.queries.items()}
        return {**self.streams, **self.relations, **queries}


def names_of(session: Session) -> Names:
    """The names that a session knows now."""
    catalog = session.program.catalog
    return Names(
        {stream.name: [column.name for column in stream.columns] for stream in catalog.streams},
        {relation.name: [column.name for column in relation.columns] for relation in catalog.relations},
        {name: [ref.name for ref in query.logical.schema] for name, query in session.compiled.items()},
        list(session.program.settings.shown()),
    )
