"""Scalars with other names or without their constants: what makes two of them alike."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from sqlglot import exp

from penstock.compiler.scalar.fold import Value, constant_of, is_plain
from penstock.compiler.scalar.parens import parenthesised
from penstock.compiler.scalar.value import ColumnRef, Scalar, column, column_tree, scalar_of, type_name, typed
from penstock.compiler.types import kind_of

PARAMETERS = "_query"
"""The input whose columns c1, c2, … are the constants of a query."""

Constant = Value | datetime | date
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_OUTLINED = {**_OPERATORS, exp.NullSafeEQ: "<=>", exp.NullSafeNEQ: "IS DISTINCT FROM"}
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)


def renamed(scalar: Scalar, names: Mapping[str, str]) -> Scalar:
    """The scalar with its inputs called otherwise."""
    return replaced(scalar, {ref: ColumnRef(names.get(ref.input, ref.input), ref.name) for ref in scalar.columns})


def replaced(scalar: Scalar, columns: Mapping[ColumnRef, ColumnRef]) -> Scalar:
    """The scalar with other columns, of the same types, in place of its own."""
    if all(columns.get(ref, ref) == ref for ref in scalar.columns):
        return scalar
    if scalar.is_column:
        (ref,) = scalar.columns
        return column(columns[ref], scalar.type)
    if is_plain(scalar.tree):
        (ref,) = scalar.columns
        this = column_tree(columns[ref], type_name(scalar.tree.this))
        return scalar_of(typed(type(scalar.tree)(this=this, expression=scalar.tree.expression.copy()), "boolean"))
    tree = scalar.tree.copy()
    for node in list(tree.find_all(exp.Column)):
        ref = ColumnRef(node.table, node.name)
        node.replace(column_tree(columns.get(ref, ref), type_name(node)))
    return scalar_of(tree)


def equal(left: Scalar, right: Scalar) -> Scalar:
    """The condition that both are equal and not null."""
    first, second = sorted((left, right), key=str)
    tree = exp.EQ(this=first.tree.copy(), expression=second.tree.copy())
    return scalar_of(parenthesised(typed(tree, "boolean")))


def comparison_of(scalar: Scalar) -> tuple[str, Scalar | None]:
    """The operator and the left side of a comparison with a constant; an empty operator if it is none."""
    operator = _OPERATORS.get(type(scalar.tree), "")
    if not operator or any(ref.input != PARAMETERS for ref in scalar_of(scalar.tree.expression.copy()).columns):
        return "", None
    return operator, _side(scalar.tree.this)


def equality(scalar: Scalar) -> tuple[Scalar, Scalar] | None:
    """Both sides, if it says that expressions over two different inputs are equal."""
    if not isinstance(scalar.tree, exp.EQ):
        return None
    left, right = _side(scalar.tree.this), _side(scalar.tree.expression)
    single = len(left.inputs) == len(right.inputs) == 1
    return (left, right) if single and left.inputs != right.inputs else None


def outline(scalar: Scalar) -> tuple[str, tuple[Scalar, ...]]:
    """The operator on top of a condition and its operands; an empty operator if it is best taken as a whole."""
    tree = scalar.tree
    negated = isinstance(tree, exp.Not)
    inner = tree.this.unnest() if negated else tree
    match inner:
        case exp.In() if not inner.args.get("query"):
            operator, operands = "IN", [inner.this, *inner.expressions]
        case exp.Is(expression=exp.Null()):
            operator, operands = "IS NULL", [inner.this]
        case _ if negated:
            return "", ()
        case exp.Is(expression=exp.Boolean(this=True)):
            operator, operands = "IS TRUE", [inner.this]
        case exp.And() | exp.Or():
            operator, operands = "AND" if isinstance(inner, exp.And) else "OR", list(inner.flatten())
        case exp.Boolean() | exp.Null():
            operator, operands = "TRUE" if constant_of(inner) is True else "FALSE", []
        case _ if type(inner) in _OUTLINED:
            operator, operands = _OUTLINED[type(inner)], [inner.this, inner.expression]
        case _:
            return "", ()
    return f"NOT {operator}" if negated else operator, tuple(map(_side, operands))


def literal_of(scalar: Scalar, beside: str) -> tuple[str, Constant] | None:
    """The type and the value that a constant has beside something of a type; None if it is no such constant."""
    return _constant(scalar.tree, beside)


def _side(tree: exp.Expr) -> Scalar:
    return scalar_of(tree if isinstance(tree, exp.Column) else tree.copy().unnest())


def parametrised(scalar: Scalar) -> tuple[Scalar, tuple[tuple[str, Constant], ...]]:
    """The scalar with the constants it compares with replaced by parameters c1, c2, …; and their types and values.

    A whole number beside a double is a double, so that `> 30` and `> 30.5` are alike. Constants elsewhere
    (patterns, arguments of functions) are part of the shape: Spark treats them specially.
    """
    if is_plain(scalar.tree):
        constant = _constant(scalar.tree.expression, type_name(scalar.tree.this))
        assert constant is not None
        operator: Any = type(scalar.tree)
        return _plain_shape(_side(scalar.tree.this), operator, constant[0]), (constant,)
    tree = scalar.tree.copy()
    found: list[tuple[str, Constant]] = []
    for comparison in list(tree.find_all(*_COMPARED)):
        for side, other in ((comparison.expression, comparison.this), (comparison.this, comparison.expression)):
            constant = _constant(side, type_name(other))
            if constant is not None and _constant(other, "") is None:
                name = f"c{1 + len(found)}"
                side.replace(column_tree(ColumnRef(PARAMETERS, name), constant[0]))
                found.append(constant)
                break
    return (scalar_of(tree), tuple(found)) if found else (scalar, ())


@lru_cache(maxsize=10_000)
def _plain_shape(compared: Scalar, operator: Any, type_: str) -> Scalar:
    parameter = column_tree(ColumnRef(PARAMETERS, "c1"), type_)
    return scalar_of(typed(operator(this=compared.tree.copy(), expression=parameter), "boolean"))


def renumbered(scalar: Scalar, offset: int) -> Scalar:
    """The scalar with its parameters counted on by `offset`."""
    types = tuple(type_name(node) for node in scalar.tree.find_all(exp.Column))
    return _renumbered(scalar, offset, types)


@lru_cache(maxsize=10_000)
def _renumbered(scalar: Scalar, offset: int, types: tuple[str, ...]) -> Scalar:
    """As above; columns of other types may have the same text."""
    own = [ref for ref in scalar.columns if ref.input == PARAMETERS]
    return replaced(scalar, {ref: ColumnRef(PARAMETERS, f"c{int(ref.name[1:]) + offset}") for ref in own})


def _constant(tree: exp.Expr, beside: str) -> tuple[str, Constant] | None:
    """The type and the value of a constant that can be a parameter."""
    tree = tree.unnest()  # a negative number is in parentheses
    type_ = type_name(tree)
    if isinstance(tree, exp.Cast) and type_ in ("timestamp", "date") and isinstance(tree.this, exp.Literal):
        moment = datetime.fromisoformat(tree.this.this) if type_ == "timestamp" else date.fromisoformat(tree.this.this)
        return type_, moment
    value = constant_of(tree)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if beside == "double" and kind_of(type_) == "number":
        return "double", float(value)
    if beside == "bigint" and type_ == "int":
        return "bigint", value
    return type_, value
