"""How windows, slices, selections and constants are said in plans."""

from __future__ import annotations

from datetime import date, datetime

from penstock.compiler.scalar import PARAMETERS, Constant, Scalar
from penstock.compiler.shared import Chain, Member, Wanted
from penstock.compiler.tally import Tally
from penstock.grammar.durations import format_duration

MOST = 4
"""Of a long list no more than this many are named."""


def number(value: float) -> str:
    """A figure with at most four digits that matter."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def listed(items: list[str], *, what: str = "more", most: int = MOST) -> str:
    """Items with commas; of many, the first ones and how many more there are."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[: most - 1])} and {len(items) - most + 1:,} {what}"


def literal(value: Constant) -> str:
    """A constant as SQL says it."""
    if isinstance(value, bool) or value is None:
        return str(value).upper() if value is not None else "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, date | datetime):
        return f"'{value}'"
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


def with_constants(conditions: tuple[Scalar, ...], constants: tuple[Constant, ...]) -> str:
    """Conditions with the constants in place of the parameters."""
    text = " and ".join(f"({c})" if " OR " in c.sql else c.sql for c in conditions)
    for position in range(len(constants), 0, -1):  # c10 before c1
        text = text.replace(f"{PARAMETERS}.c{position}", literal(constants[position - 1]))
    return text


def age(chain: Chain, boundary: int) -> str:
    """A boundary of a chain."""
    return f"{boundary} row{'s' * (boundary != 1)}" if chain.rows else format_duration(boundary) if boundary else "0"


def ages(chain: Chain, start: int, end: int) -> str:
    """The ages of the rows of a slice."""
    return f"[0, {age(chain, end)})" if chain.partitioned else f"[{age(chain, start)}, {age(chain, end)})"


def which_rows(chain: Chain, start: int, end: int) -> str:
    """Which rows of these ages are in a slice."""
    return f"rows that reach just {age(chain, end)}" if chain.partitioned else who_enters(chain, start)


def who_enters(chain: Chain, start: int) -> str:
    """Which rows are in a slice: the disjunction of the selections of all who reach it."""
    found = [(wanted, [constants for constants, reach in wanted.rows if reach > start]) for wanted in chain.wanted]
    if any(reaching and not wanted.conditions and not wanted.facts for wanted, reaching in found):
        return "every row"
    count = sum(len(reaching) for _, reaching in found)
    if count > MOST:
        shapes = sum(bool(reaching) for _, reaching in found)
        return f"rows that meet one of {count:,} selections of {shapes} shape{'s' * (shapes > 1)}"
    alternatives: list[str] = []
    for wanted, reaching in found:
        facts = [f"a valid row in {fact.relation}" for fact in wanted.facts]
        for constants in reaching:
            own = [with_constants(wanted.conditions, constants)] if wanted.conditions else []
            alternatives.append(" and ".join([*own, *facts]))
    return "rows with " + " or ".join(f"({text})" if len(alternatives) > 1 else text for text in alternatives)


def conditions_of(wanted: Wanted) -> str:
    """The conditions of a selection with its parameters."""
    return " and ".join(map(str, wanted.conditions)) or "every row"


def member_text(member: Member) -> str:
    """A query's windows and constants."""
    windows = [str(window) for window in member.windows if window is not None]
    shown = [windows[0]] if windows and len(set(windows)) == 1 else windows
    constants = [f"c{i} = {literal(value)}" for i, value in enumerate(member.constants, 1)]
    return f"{member.query} ({'; '.join([', '.join(shown), *constants] if shown else constants)})".replace(" ()", "")


def tally_text(tally: Tally) -> str:
    """What partial aggregates add up."""
    computed = ", ".join(named.expr.sql for named in tally.shape.aggregates) or "distinct rows"
    groups = ", ".join(named.expr.sql for named in tally.shape.groups) or "everything"
    return f"{computed} by {groups}, in spans of {format_duration(tally.grain)}"
