"""How fast queries compile: a small project, many queries at once, and one more beside thousands."""

from __future__ import annotations

from penstock.bench.core import Case, Found, Setting, Shown, Table, Workload, median_and_spread

CODE = "penstock.bench.systems.compiling"


def counts(setting: Setting) -> tuple[int, int]:
    """How many queries are compiled, and how many are planned."""
    return setting.pick((1_000, 10_000), (1_000, 10_000), (20, 20))


def cases(setting: Setting) -> list[Case]:
    """Without Spark, in a process of their own."""
    compiled, planned = counts(setting)
    jobs = {"check": ("check", 0), "compile": ("compile_many", compiled), "plan": ("plan_many", planned)}
    return [
        Case(name, "penstock", {"queries": queries}, call=f"{CODE}:{call}", warm={}, worker="compiler")
        for name, (call, queries) in jobs.items()
    ]


def show(setting: Setting, found: Found) -> Shown:
    """Seconds of each."""
    compiled, planned = counts(setting)
    lines = [
        ("penstock check, ten files, its start included", median_and_spread(found.get("check"), digits=2)),
        (f"penstock.compile, {compiled:,} queries of four kinds", median_and_spread(found.get("compile"), digits=2)),
        (f"{planned:,} queries of ten templates to one plan", median_and_spread(found.get("plan"), digits=2)),
        ("one more beside them, planned and compared", median_and_spread(found.get("plan"), "more", 4)),
    ]
    figures = {name: found.median(name) for name in ("check", "compile", "plan")} | {
        "more": found.median("plan", "more")
    }
    return Shown(tables=[Table("compile", "How fast queries compile", ("", "seconds"), lines)], figures=figures)


WORKLOAD = Workload("compile", "Compiling", "how fast queries are checked, compiled and planned", cases, show)
