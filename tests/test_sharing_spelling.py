"""Sets of queries that differ in spelling only share alike: the same templates, joins and chains."""

from __future__ import annotations

import random

import pytest

import penstock
from penstock.catalog import load_catalog
from penstock.compiler.estimate import Estimates
from penstock.compiler.optimize import optimize
from penstock.compiler.rules import Context
from penstock.compiler.settings import Settings
from penstock.compiler.shared import SharedPlan
from penstock.tests.workloads import CATALOG, Question, Values, question, spelled, values

CONTEXT = Context(Settings(), Estimates(load_catalog(CATALOG)))


def _plan(texts: dict[str, str]) -> SharedPlan:
    return optimize(penstock.compile(texts, catalog=CATALOG).logical.values(), CONTEXT).plan


def _as_sets(plan: SharedPlan) -> tuple[object, ...]:
    templates = {(template.shape, frozenset(template.members)) for template in plan.templates}
    return templates, set(plan.joins), set(plan.chains)


# A query, and the same query spelled otherwise.
SAME = [
    ("SELECT a.v FROM Heat a, Damp b WHERE a.k = b.k WINDOW 1 min",
     "SELECT y.v FROM Damp x, Heat y WHERE x.k = y.k WINDOW 1 min"),
    ("SELECT a.v FROM Heat a, Damp b WHERE a.k = b.k AND a.v > 3 WINDOW 1 min",
     "select A.v from HEAT as A join damp B on (3 < a.v) and ((B.k) = A.k) window 60 sec"),
    ("SELECT a.v FROM Heat a, Damp b WHERE a.v < b.v WINDOW 1 min",
     "SELECT b.v FROM Damp a, Heat b WHERE a.v > b.v WINDOW 1 min"),
    ("SELECT a.v FROM Heat a, Damp b WHERE a.v < b.v OR a.n = b.n WINDOW 1 min",
     "SELECT b.v FROM Damp a, Heat b WHERE b.n = a.n OR NOT b.v >= a.v WINDOW 1 min"),
    ("SELECT a.v FROM Heat a, Heat b WHERE a.k = b.k AND a.n > b.n WINDOW 1 min",
     "SELECT b.v FROM Heat a, Heat b WHERE a.k = b.k AND b.n > a.n WINDOW 1 min"),
    ("SELECT COUNT(*) AS n FROM Heat a, Heat b WHERE a.k = b.k AND a.n > 3 WINDOW 1 min",
     "SELECT COUNT(*) AS n FROM Heat a, Heat b WHERE a.k = b.k AND b.n > 3 WINDOW 1 min"),
    ("SELECT a.v FROM Heat a WHERE a.v BETWEEN 1 AND 5", "SELECT v FROM Heat WHERE v <= 5 AND v >= 1"),
    ("SELECT a.v FROM Heat a, Damp b, Load c WHERE a.k = b.k AND b.n = c.n WINDOW 1 min",
     "SELECT c.v FROM Load a JOIN Damp b ON a.n = b.n JOIN Heat c ON c.k = b.k WINDOW 1 min"),
    ("SELECT a.v FROM Heat a, Damp b, Heat c WHERE a.k = b.k AND b.k = c.k WINDOW 1 min",
     "SELECT c.v FROM Heat a, Damp b, Heat c WHERE a.k = b.k AND a.k = c.k WINDOW 1 min"),
    ("SELECT k, s, COUNT(*) AS c, MAX(v) AS m FROM Heat GROUP BY k, s HAVING MIN(v) < MAX(v) WINDOW 1 min",
     "SELECT k, s, COUNT(*) AS c, MAX(v) AS m FROM Heat GROUP BY s, k HAVING MAX(v) > MIN(v) WINDOW 1 min"),
    ("SELECT MAX(v) AS m, MIN(v) < MAX(v) AS c FROM Heat GROUP BY k WINDOW 1 min",
     "SELECT MAX(v) AS m, MAX(v) > MIN(v) AS c FROM Heat GROUP BY k WINDOW 1 min"),
    ("SELECT MAX(v + 2) AS m, MIN(v) AS n FROM Heat WINDOW 1 min",
     "SELECT MAX(v + (1 + 1)) AS m, MIN(v) AS n FROM Heat HAVING MAX(v + 2) IS NULL OR TRUE WINDOW 1 min"),
    ("SELECT DISTINCT a.k, a.s FROM Heat a WINDOW 1 min", "SELECT k, s FROM Heat GROUP BY s, k WINDOW 1 min"),
    ("SELECT a.v FROM Heat a, Racks r WHERE a.k = r.k AND r.s = 'x' WINDOW 1 min",
     "SELECT h.v FROM Racks q, Heat h WHERE 'x' = q.s AND q.k = h.k WINDOW 1 min"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_are_one_template(one: str, other: str) -> None:
    together = _plan({"one": one, "other": other})
    assert [len(template.members) for template in together.templates] == [2]
    first, second = together.templates[0].members
    assert (first.windows, first.constants) == (second.windows, second.constants)
    assert _as_sets(_plan({"q": one})) == _as_sets(_plan({"q": other}))


# Queries that differ in constants and windows only.
ALIKE = [
    ("SELECT a.v FROM Heat a WHERE a.v > 3", "SELECT a.v FROM Heat a WHERE 3.5 < a.v"),
    ("SELECT a.v FROM Load a WHERE a.k > 3", "SELECT a.v FROM Load a WHERE a.k > 3000000000"),
    ("SELECT a.v FROM Heat a, Damp b WHERE a.k = b.k WINDOW 1 min",
     "SELECT a.v FROM Damp b [RANGE 1 ms], Heat a [RANGE 1 h] WHERE a.k = b.k"),
    ("SELECT v FROM Heat WHERE v > 3 AND v > 2", "SELECT v FROM Heat WHERE NOT (v <= 5 OR v <= 7)"),
    ("SELECT v FROM Heat WHERE v > 3 AND v <> 9", "SELECT v FROM Heat WHERE v > 9 AND v <> 3"),
    ("SELECT v FROM Heat WHERE v = 3 OR n = 9", "SELECT v FROM Heat WHERE n = 3 OR v = 9"),
    ("SELECT COUNT(*) AS c FROM Heat a, Heat b WHERE a.k = b.k AND a.n > 3 AND b.n > 5 AND b.v < 1 WINDOW 1 min",
     "SELECT COUNT(*) AS c FROM Heat a, Heat b WHERE a.k = b.k AND a.n > 5 AND b.n > 3 AND b.v < 1 WINDOW 1 min"),
    ("SELECT COUNT(*) AS c FROM Heat a [RANGE 1 min], Heat b [RANGE 5 min] WHERE a.k = b.n",
     "SELECT COUNT(*) AS c FROM Heat a [RANGE 5 min], Heat b [RANGE 1 min] WHERE a.k = b.n"),
    ("SELECT v FROM Heat WHERE (k > 5 AND v < 1) OR (k > 7 AND n < 1)",
     "SELECT v FROM Heat WHERE (k > 7 AND v < 1) OR (k > 5 AND n < 1)"),
    ("SELECT k, COUNT(*) AS c FROM Heat GROUP BY k HAVING COUNT(*) > 3 WINDOW 1 min",
     "SELECT k, COUNT(*) AS c FROM Heat GROUP BY k HAVING COUNT(*) > 4 WINDOW 2 min"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_other_constants_and_windows_are_one_template(one: str, other: str) -> None:
    together = _plan({"one": one, "other": other})
    assert [len(template.members) for template in together.templates] == [2]


# Queries that must not be one template.
DIFFERENT = [
    ("SELECT v FROM Heat WHERE v > 3", "SELECT v FROM Heat WHERE v >= 3"),
    ("SELECT v FROM Heat WHERE n < 5", "SELECT v FROM Heat WHERE n < 5.5"),
    ("SELECT v FROM Heat", "SELECT v AS V FROM Heat"),
    ("SELECT COUNT(*) AS c FROM Heat WINDOW 1 min", "SELECT COUNT(*) AS c FROM Heat WINDOW 1 min SLIDE 2 sec"),
    ("SELECT a.v FROM Heat a, Damp b WHERE a.k = b.k WINDOW 1 min",
     "SELECT a.v FROM Heat a, Damp b WHERE a.k = b.k WINDOW 10 ROWS"),
    ("SELECT a.v FROM Heat a, Heat b WHERE a.k = b.k AND a.n > 3 WINDOW 1 min",
     "SELECT a.v FROM Heat a, Heat b WHERE a.k = b.k AND b.n > 3 WINDOW 1 min"),
    ("SELECT v FROM Heat WHERE s LIKE 'a%'", "SELECT v FROM Heat WHERE s LIKE 'b%'"),
    ("SELECT v FROM Heat", "INSERT INTO json 'out' SELECT v FROM Heat"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_questions_are_other_templates(one: str, other: str) -> None:
    assert len(_plan({"one": one, "other": other}).templates) == 2


def _asked(rng: random.Random) -> list[tuple[str, Question, Values]]:
    questions = [question(rng) for _ in range(rng.randint(1, 3))]
    chosen = [asked for asked in questions for _ in range(rng.randint(1, 3))]
    return [(f"q{number}", asked, values(asked, rng)) for number, asked in enumerate(chosen)]


@pytest.mark.parametrize("seed", range(200))
def test_random_sets_in_two_spellings(seed: int) -> None:
    rng = random.Random(seed)
    asked = _asked(rng)
    one = {name: spelled(what, given, rng) for name, what, given in asked}
    rng.shuffle(asked)
    other = {name: spelled(what, given, rng) for name, what, given in asked}
    assert _as_sets(_plan(one)) == _as_sets(_plan(other)), f"{one}\n{other}"
