"""Golden files for every rule: queries, and the plan after that rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.api import compiled
from penstock.catalog import load_catalog
from penstock.compiler.estimate import Estimates
from penstock.compiler.program import Script, read_program
from penstock.compiler.rules import RULES, Context
from penstock.compiler.settings import Settings
from penstock.compiler.shared import SharedPlan
from penstock.grammar.source import Source
from penstock.tests.golden import check_golden, read_input
from penstock.tests.plan_text import plan_text
from penstock.tests.workloads import CATALOG

GOLDEN = Path(__file__).parent / "golden" / "rules"
KNOWN = load_catalog(CATALOG)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/*.txt")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_plan_after_a_rule(path: Path) -> None:
    program = read_program([Script("q", Source(path.name, read_input(path)))], KNOWN, Settings())
    context = Context(program.settings, Estimates(program.catalog))
    plan = SharedPlan(tuple(compiled(program).logical.values()))
    for rule in RULES:
        plan = rule(plan, context)
        if rule.__name__ == path.parent.name:
            break
    check_golden(path, plan_text(plan))


def test_every_rule_has_cases() -> None:
    assert {folder.name for folder in GOLDEN.iterdir()} == {rule.__name__ for rule in RULES}
    assert all(len(list((GOLDEN / rule.__name__).glob("*.txt"))) >= 3 for rule in RULES)
