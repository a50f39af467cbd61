"""Until when the rows of a stream have a row of a relation that is valid at their time."""

from __future__ import annotations

from penstock.compiler.shared import Chain
from penstock.runtime.reach import over_columns, time_sql
from penstock.runtime.relations import Pinned

_NEVER = "CAST(-4611686018427387904 AS BIGINT)"


def with_facts(rows: str, chain: Chain, relations: Pinned) -> str:
    """Rows with a column for each fact of a chain: until when they have it."""
    time = time_sql(chain)
    for number, fact in enumerate(chain.facts):
        keys = [f"{over_columns(own, chain.stream)} = facts{number}._key{i}" for i, own in enumerate(fact.own)]
        valid = f"filter(facts{number}._spans, span -> span.begin <= {time} AND {time} < span.end)"
        until = f"COALESCE(array_max(transform({valid}, span -> span.end)), {_NEVER}) AS {fact.column}"
        joined = f"({rows}) AS rows LEFT JOIN {relations.spans(fact)} AS facts{number} ON {' AND '.join(keys)}"
        rows = f"SELECT /*+ BROADCAST(facts{number}) */ rows.*, {until} FROM {joined}"
    return rows
