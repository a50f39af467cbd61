"""Whether systems that were asked the same have given the same answers."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.bench.core import Measured, Round

JUDGE = "duckdb"
"""Whoever differs from it is wrong; without it nobody knows who is."""


def judge(measured: Iterable[Measured]) -> None:
    """Make void what has other answers than the others of its kind, or than itself in another round."""
    groups: dict[str, list[Measured]] = {}
    for one in measured:
        if one.case.compared and one.answers:
            groups.setdefault(one.case.answers or one.case.name, []).append(one)
    for group in groups.values():
        _judge_group(group)


def _judge_group(group: list[Measured]) -> None:
    for one in group:
        first, *others = one.answers
        for other in others:
            if found := difference(first, other):
                one.void = f"its own rounds differ: {found}"
    judges = [one for one in group if one.case.system == JUDGE and not one.void]
    reference = judges[0] if judges else group[0]
    for one in group:
        found = difference(one.answers[0], reference.answers[0])
        if found and not one.void:
            one.void = f"{found} by {reference.case.name}"
    if not judges and any(one.void for one in group):
        reference.void = reference.void or "others that were asked the same differ, and nobody can judge"


def difference(one: Round, other: Round) -> str:
    """In what way two answers differ; empty if they do not."""
    results, expected = one["results"], other["results"]
    if isinstance(results, dict) and isinstance(expected, dict):
        both = results.keys() & expected.keys()
        if not both:
            return "they tell of different queries"
        wrong = [name for name in sorted(both) if results[name] != expected[name]]
        if wrong:
            name = wrong[0]
            more = f" ({len(wrong)} queries differ)" if len(wrong) > 1 else ""
            return f"{results[name]:,} results of {name}, {expected[name]:,}{more}"
    elif total(results) != total(expected):
        return f"{total(results):,} results, {total(expected):,}"
    sums = one.get("checksum"), other.get("checksum")
    if None not in sums and sums[0] != sums[1]:
        return f"checksum {sums[0]}, {sums[1]}"
    return ""


def total(results: int | dict[str, int]) -> int:
    """The results of all queries."""
    return sum(results.values()) if isinstance(results, dict) else results
