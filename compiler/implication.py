"""Whether one selection implies another, so that who has the rows of one has those of the other.

A row meets a condition when that is TRUE, not NULL. What is said here is proven, never guessed: of a selection that
is not understood only what is said in the same words follows. A condition is read once as ANDs and ORs of tests.
What an order tells holds in any total order, and Spark's are: NaN equals itself and is larger than all other doubles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain, combinations, product

from penstock.compiler.scalar import PARAMETERS, ColumnRef, Constant, Scalar, literal_of, outline, replaced
from penstock.compiler.types import kind_of

_MOST_CASES = 64
"""A condition with more alternatives than this is not taken apart when it is what is known."""
_MOST_READ = 20_000
"""How many conditions are remembered as read."""
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_PYTHON: dict[str, type] = {
    "int": int, "bigint": int, "double": float, "string": str, "timestamp": datetime, "date": date
}  # fmt: skip
_LISTED = {"=": "IN", "<=>": "IN", "<>": "NOT IN"}
_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "IN": "NOT IN", "NOT IN": "IN"}


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions over one stream's columns and parameters `_query.c1`, …, their types, and a query's constants."""

    conditions: tuple[Scalar, ...]
    parameters: tuple[str, ...] = ()
    constants: tuple[Constant, ...] = ()


def implies(narrow: Selection, wide: Selection) -> bool:
    """Whether every row that meets `narrow` is proven to meet `wide`."""
    if not wide.conditions:
        return True
    forms = [_form(condition) for condition in narrow.conditions]
    known = _Known(narrow)
    for form in forms:
        if form.cases is not None and len(form.cases) < 2:
            known.learn(form.cases)
    if known.impossible():
        return True
    return all(_follows(forms, known, _form(condition), wide) for condition in wide.conditions)


@dataclass(frozen=True, slots=True)
class _Test:
    """A part of a condition that is not taken apart.

    The operator is >, >=, <, <=, IN or NOT IN (which are also = and <>), IS NULL, NOT IS NULL, or empty. What the
    subject is compared with is a parameter, or the values of a type that stand in the condition. `present` says that
    the test is never TRUE where the subject is NULL.
    """

    operator: str
    subject: str
    subject_type: str
    text: str
    numbers: tuple[int, ...]
    type: str = ""
    values: tuple[Constant, ...] = ()
    present: bool = False


@dataclass(frozen=True, slots=True)
class _Junction:
    """Tests, all or any of which must hold."""

    every: bool
    parts: tuple[_Formula, ...]


_Formula = _Test | _Junction
_Case = tuple[_Test, ...]
_Fact = tuple[str, object]
"""A test's operator and its constant, or constants for IN and NOT IN."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A condition as read: as a whole, taken apart, and the cases in one of which it holds, unless they are many."""

    whole: _Test
    formula: _Formula
    cases: tuple[_Case, ...] | None
    subjects: frozenset[str]


class _Known:
    """What is known of a row that meets a selection, or a case of it."""

    __slots__ = ("facts", "never", "nulls", "said", "selection")

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.facts: dict[tuple[str, str], list[_Fact]] = {}
        self.nulls: set[str] = set()
        self.said: list[_Test] = []
        self.never = False

    def with_case(self, case: _Case) -> _Known:
        """What is known in a case."""
        known = _Known(self.selection)
        known.facts = {key: list(facts) for key, facts in self.facts.items()}
        known.nulls, known.said = set(self.nulls), list(self.said)
        known.learn((case,))
        return known

    def learn(self, cases: tuple[_Case, ...]) -> None:
        """Take in the only case there is; without one nothing can be so."""
        self.never = self.never or not cases
        for test in chain.from_iterable(cases):
            self.said.append(test)
            if test.operator == "IS NULL":
                self.nulls.add(test.subject)
            elif (found := _fact(test, self.selection)) is not None:
                type_, fact = found
                self.facts.setdefault((test.subject, type_), []).append(fact)
            elif test.present:
                self.facts.setdefault((test.subject, ""), [])

    def impossible(self) -> bool:
        """Whether no row is so; equalities are narrowed to what the rest allows."""
        if self.never or (self.nulls and any(subject in self.nulls for subject, _ in self.facts)):
            return True
        for facts in self.facts.values():
            if len(facts) > 1:
                told = [fact for fact in facts if fact[0] != "NOT IN"]
                if any(_shows(one, (_OPPOSITE[other[0]], other[1])) for one, other in combinations(told, 2)):
                    return True
                points = _points(facts)
                if points is not None:
                    facts.append(("IN", points))
                    if not points:
                        return True
        return False

    def shows(self, formula: _Formula, selection: Selection) -> bool:
        """Whether a formula over a selection's constants holds."""
        if isinstance(formula, _Junction):
            every = all if formula.every else any
            return every(self.shows(part, selection) for part in formula.parts)
        if formula.operator == "IS NULL":
            missing = any(selection.constants[number - 1] is None for number in formula.numbers)
            return formula.subject in self.nulls and not missing
        if formula.operator == "NOT IS NULL":
            return any(subject == formula.subject for subject, _ in self.facts)
        found = _fact(formula, selection)
        if found is None:
            return any(_alike(test, self.selection, formula, selection) for test in self.said)
        type_, wanted = found
        return any(_shows(fact, wanted) for fact in self.facts.get((formula.subject, type_), ()))


def _follows(forms: list[_Form], known: _Known, wanted: _Form, wide: Selection) -> bool:
    """Whether a condition follows from what is known, from the same one, or from every case of one."""
    if known.shows(wanted.formula, wide):
        return True
    for form in forms:
        if _alike(form.whole, known.selection, wanted.whole, wide):
            return True
        if form.cases is not None and len(form.cases) > 1 and not form.subjects.isdisjoint(wanted.subjects):
            cases = map(known.with_case, form.cases)
            if all(case.impossible() or case.shows(wanted.formula, wide) for case in cases):
                return True
    return False


def _alike(one: _Test, own: Selection, other: _Test, theirs: Selection) -> bool:
    """Whether two tests are the same words with the same constants."""
    return one.text == other.text and all(
        own.parameters[a - 1] == theirs.parameters[b - 1] and _same(own.constants[a - 1], theirs.constants[b - 1])
        for a, b in zip(one.numbers, other.numbers, strict=True)
    )


def _same(one: Constant, other: Constant) -> bool:
    return type(one) is type(other) and (one == other or (one != one and other != other))


def _fact(test: _Test, selection: Selection) -> tuple[str, _Fact] | None:
    """The type in which a test compares, and what it says; None if no order is known for it."""
    operator = test.operator
    if operator not in _OPPOSITE:
        return None
    if test.values:
        type_, values = test.type, test.values
    else:
        number = test.numbers[0] - 1
        type_, values = selection.parameters[number], (selection.constants[number],)
    for value in values:
        if type(value) is not _PYTHON.get(type_) or value != value or not _exact(test.subject_type, type_, value):
            return None
    if operator in ("IN", "NOT IN"):
        return type_, (operator, frozenset(values))
    (value,) = values
    if test.subject_type in _WHOLE and isinstance(value, int) and operator in (">", "<"):  # n > 4 is n >= 5
        return type_, (">=", value + 1) if operator == ">" else ("<=", value - 1)
    return type_, (operator, value)


def _exact(subject: str, type_: str, value: Constant) -> bool:
    """Whether Spark compares the two without rounding the constant, and with all constants of the type alike."""
    if subject == type_:
        return not isinstance(value, datetime) or value.tzinfo is None
    if type_ == "double":
        return kind_of(subject) == "number"
    if isinstance(value, int):
        if subject == "float":
            return abs(value) <= 2**24
        if subject.startswith("decimal("):
            return int(subject[len("decimal(") :].split(",")[0]) <= 18  # with those of any bigint at most 38 digits
        return subject in _WHOLE
    return False


def _shows(fact: _Fact, wanted: _Fact) -> bool:
    """Whether one fact about a value implies another about the same value."""
    operator, have = fact
    asked, need = wanted
    if operator == "IN":
        return all(_meets(value, wanted) for value in have)  # type: ignore[attr-defined]
    if asked == "IN":
        return False
    if asked == "NOT IN":
        if operator == "NOT IN":
            return need <= have  # type: ignore[operator, no-any-return]
        return not any(_meets(value, fact) for value in need)  # type: ignore[attr-defined]
    if operator[0] != asked[0]:
        return False
    return _meets(have, wanted) or (have == need and operator == asked)


def _meets(value: object, fact: _Fact) -> bool:
    """Whether a fact is so for a value."""
    operator, bound = fact
    match operator:
        case ">":
            return value > bound  # type: ignore[operator, no-any-return]
        case ">=":
            return value >= bound  # type: ignore[operator, no-any-return]
        case "<":
            return value < bound  # type: ignore[operator, no-any-return]
        case "<=":
            return value <= bound  # type: ignore[operator, no-any-return]
    return (value in bound) is (operator == "IN")  # type: ignore[operator]


def _points(facts: list[_Fact]) -> frozenset[object] | None:
    """The values that are left, if they are few enough to be known one by one."""
    listed = [have for operator, have in facts if operator == "IN"]
    bounds = {operator: have for operator, have in facts if operator in (">=", "<=")}
    if not listed and len(bounds) == 2 and bounds[">="] == bounds["<="]:
        listed = [(bounds[">="],)]
    if not listed:
        return None
    return frozenset(value for value in listed[0] if all(_meets(value, fact) for fact in facts))  # type: ignore


_read: dict[int, tuple[Scalar, _Form]] = {}


def _form(condition: Scalar) -> _Form:
    """The condition as read, once for each object: columns of other types may have the same text."""
    found = _read.get(id(condition))
    if found is None:
        if len(_read) >= _MOST_READ:
            _read.clear()
        found = _read[id(condition)] = (condition, _parsed(condition))  # kept, so that no other gets its id
    return found[1]


def _parsed(condition: Scalar) -> _Form:
    formula = _formula(condition)
    return _Form(_opaque(condition), formula, _cases(formula), frozenset(_subjects(formula)))


def _formula(condition: Scalar) -> _Formula:
    operator, operands = outline(condition)
    if operator in ("TRUE", "FALSE"):
        return _Junction(operator == "TRUE", ())
    if operator in ("AND", "OR"):
        return _Junction(operator == "AND", tuple(map(_formula, operands)))
    if operator == "IS TRUE":
        return _formula(operands[0])
    if operator == "IS DISTINCT FROM":
        other = _test(condition, "<>", operands)
        null = replace(other, operator="IS NULL", present=False)
        return _Junction(False, (null, other)) if other.operator else _opaque(condition)
    return _test(condition, operator, operands)


def _test(condition: Scalar, operator: str, operands: tuple[Scalar, ...]) -> _Test:
    """The test that a condition is: an operator, what is tested, and one parameter or constants of one type."""
    words = _opaque(condition)
    if not operands or any(ref.input == PARAMETERS for ref in operands[0].columns):
        return words
    subject, *others = operands
    own = replace(words, subject=subject.sql, subject_type=subject.type, present=operator not in ("<=>", "IS NULL"))
    operator = _LISTED.get(operator, operator)
    if not others or (len(others) == 1 and others[0].is_column and words.numbers):
        return replace(own, operator=operator)
    found = [literal_of(other, subject.type) for other in others]
    known = [constant for constant in found if constant is not None]
    types = {type_ for type_, _ in known}
    if len(known) < len(found) or len(types) != 1:
        return own
    return replace(own, operator=operator, type=types.pop(), values=tuple(value for _, value in known))


def _opaque(condition: Scalar) -> _Test:
    """The condition as words: its text with the parameters counted from 1, and the numbers they had."""
    numbers = tuple(sorted(int(ref.name[1:]) for ref in condition.columns if ref.input == PARAMETERS))
    own = {ColumnRef(PARAMETERS, f"c{old}"): ColumnRef(PARAMETERS, f"c{new}") for new, old in enumerate(numbers, 1)}
    text = replaced(condition, own).sql
    return _Test("", text, "", text, numbers)


def _cases(formula: _Formula) -> tuple[_Case, ...] | None:
    """What the formula says, as alternatives that each are tests that all hold; None if they are too many."""
    if isinstance(formula, _Test):
        return ((formula,),)
    parts = [_cases(part) for part in formula.parts]
    count = 1 if formula.every else 0
    for part in parts:
        if part is None:
            return None
        count = count * len(part) if formula.every else count + len(part)
    if count > _MOST_CASES:
        return None
    known = [part for part in parts if part is not None]
    if not formula.every:
        return tuple(chain.from_iterable(known))
    return tuple(tuple(chain.from_iterable(cases)) for cases in product(*known))


def _subjects(formula: _Formula) -> Iterable[str]:
    if isinstance(formula, _Test):
        yield formula.subject
        return
    for part in formula.parts:
        yield from _subjects(part)
