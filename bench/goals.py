"""What is to be reached, and whether it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Goal:
    """A bound for a figure of a workload (`Shown.figures`), which `at_least` or `at_most` is a number for."""

    about: str
    text: str
    workload: str
    figure: str
    at_least: float | None = None
    at_most: float | None = None

    def reached(self, figures: Mapping[str, Mapping[str, Any]]) -> float | None:
        """The figure, if it was measured; `figures` are those of all workloads."""
        value = figures.get(self.workload, {}).get(self.figure)
        return None if value is None else float(value)

    def is_met(self, value: float) -> bool:
        """Whether a figure is good enough."""
        low, high = self.at_least, self.at_most
        return (low is None or value >= low) and (high is None or value <= high)


GOALS = (
    Goal("N = 1, 60 s window", "at least 8x Spark's own join in rows/s", "windows", "spark", at_least=8),
    Goal("N = 1, 60 s window", "at least 3x Flink in rows/s", "windows", "flink", at_least=3),
    Goal("N = 1, 60 s window", "at least 2x Pathway in rows/s", "windows", "pathway", at_least=2),
    Goal("N = 10", "at least 60x N Spark joins", "queries", "spark 10", at_least=60),
    Goal("N = 10", "at least 20x Flink", "queries", "flink 10", at_least=20),
    Goal("N = 100", "within 1.4x of the time of N = 1", "queries", "time 100", at_most=1.4),
    Goal("N = 100", "at least 150x Flink, extrapolated from N = 10", "queries", "flink 100", at_least=150),
    Goal("N = 10,000, ten templates", "within 3x of the time of N = 1", "queries", "time 10000", at_most=3),
    Goal("small steps, N = 10", "median at most half of Spark's own with one query", "latency", "step 10", at_most=0.5),
    Goal(
        "State-Slice table 3",
        "the measured state equals the model within 5 % in all 27",
        "state_slice",
        "worst deviation",
        at_most=0.05,
    ),
    Goal("N = 1, 60 s window", "at most 10x the time of DuckDB's one-shot join", "windows", "duckdb", at_most=10),
    Goal("penstock check, ten files", "at most 1 s", "compile", "check", at_most=1),
    Goal("1,000 queries compiled", "at most 5 s", "compile", "compile", at_most=5),
    Goal("10,000 queries planned", "at most 10 s", "compile", "plan", at_most=10),
    Goal("one more query beside 10,000", "at most 0.05 s", "compile", "more", at_most=0.05),
)
