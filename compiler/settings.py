"""Settings that change how queries are compiled and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from penstock.grammar.durations import format_duration, parse_duration
from penstock.grammar.errors import PenstockError, did_you_mean

SHARING = ("none", "pull-up", "push-down", "slice")
OBJECTIVES = ("memory", "cpu", "auto")


@dataclass(frozen=True)
class Settings:
    """What `SET name = value`, `penstock.yml` and keyword arguments may change."""

    reevaluate: int = 1_000_000
    sharing: str = "slice"
    objective: str = "memory"
    prefilter: bool = True
    """Whether rows that no row of a relation is valid for are left out of the state of star-streaming joins."""

    def __post_init__(self) -> None:
        _one_of("sharing", self.sharing, SHARING)
        _one_of("objective", self.objective, OBJECTIVES)
        if self.reevaluate <= 0:
            raise PenstockError(
                "reevaluate must be longer than zero", hint="Give a duration such as 1 sec.", label="bad-setting"
            )

    def with_text(self, name: str, value: object) -> Settings:
        """The settings with one changed, given as text."""
        known = {field.name for field in fields(self)}
        key = name.lower().replace("-", "_")
        if key not in known:
            raise PenstockError(f"unknown setting '{name}'", hint=did_you_mean(name, known), label="unknown-setting")
        if key == "reevaluate":
            return replace(self, reevaluate=parse_duration(value))
        if key == "sharing":
            return replace(self, sharing=str(value).lower())
        if key == "prefilter":
            return replace(self, prefilter=_true_or_false(name, value))
        return replace(self, objective=str(value).lower())

    def with_all(self, values: Mapping[str, object]) -> Settings:
        """The settings with several changed, given as text."""
        changed = self
        for name, value in values.items():
            changed = changed.with_text(name, value)
        return changed

    def shown(self) -> dict[str, str]:
        """Every setting as text."""
        return {
            "reevaluate": format_duration(self.reevaluate),
            "sharing": self.sharing,
            "objective": self.objective,
            "prefilter": str(self.prefilter).lower(),
        }


def _true_or_false(name: str, value: object) -> bool:
    known = {"on": True, "true": True, "off": False, "false": False}
    text = str(value).lower()
    if text not in known:
        raise PenstockError(f"{name} cannot be '{value}'", hint="It is true or false.", label="bad-setting")
    return known[text]


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise PenstockError(
            f"{name} cannot be '{value}'",
            hint=f"{did_you_mean(value, known)} It is one of {', '.join(known)}.",
            label="bad-setting",
        )
