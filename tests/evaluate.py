"""Scalar expressions, evaluated row by row in plain Python: slow and obviously right.

As Spark has it with ANSI off: NULL is None, conditions have three values, what cannot be computed is NULL. Times and
intervals are whole microseconds.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime

from sqlglot import exp

Value = int | float | str | bool | None
Environment = Mapping[tuple[str, str], Value]
"""The values of columns, by input and name."""

SECOND = 1_000_000


def evaluate(tree: exp.Expr, row: Environment) -> Value:
    """The value of an expression for a row."""
    return _EVALUATE[type(tree)](tree, row)


def micros(moment: datetime | date) -> int:
    """A time as microseconds since the epoch."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def _literal(tree: exp.Expr, row: Environment) -> Value:
    if tree.is_string:
        return str(tree.this)
    return int(tree.this) if tree.this.isdigit() else float(tree.this.rstrip("D"))


def _both(compute: Callable[[Value, Value], Value]) -> Callable[[exp.Expr, Environment], Value]:
    """An operator that is NULL when one of its sides is."""

    def apply(tree: exp.Expr, row: Environment) -> Value:
        left, right = evaluate(tree.this, row), evaluate(tree.expression, row)
        return None if left is None or right is None else _as_typed(tree, compute(left, right))

    return apply


def _one(compute: Callable[[Value], Value]) -> Callable[[exp.Expr, Environment], Value]:
    def apply(tree: exp.Expr, row: Environment) -> Value:
        value = evaluate(tree.this, row)
        return None if value is None else compute(value)

    return apply


_BITS = {exp.DType.INT: 32, exp.DType.BIGINT: 64}


def _as_typed(tree: exp.Expr, value: Value) -> Value:
    """A whole number that is too large starts again at the other end; a double is a double."""
    kind = tree.type.this if tree.type is not None else None
    if kind == exp.DType.DOUBLE and value is not None:
        return float(value)
    if kind in _BITS and isinstance(value, int):
        half = 2 ** (_BITS[kind] - 1)
        return (value + half) % (2 * half) - half
    return value


def _divided(left: Value, right: Value) -> Value:
    return None if right == 0 else left / right


def _remainder(left: Value, right: Value) -> Value:
    if right == 0:
        return None
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _and(tree: exp.Expr, row: Environment) -> Value:
    values = (evaluate(tree.this, row), evaluate(tree.expression, row))
    return False if False in values else None if None in values else True


def _or(tree: exp.Expr, row: Environment) -> Value:
    values = (evaluate(tree.this, row), evaluate(tree.expression, row))
    return True if True in values else None if None in values else False


def _equal(left: Value, right: Value) -> Value:
    return None if left is None or right is None else left == right


def _between(tree: exp.Expr, row: Environment) -> Value:
    low = exp.GTE(this=tree.this.copy(), expression=tree.args["low"].copy())
    high = exp.LTE(this=tree.this.copy(), expression=tree.args["high"].copy())
    return evaluate(exp.And(this=low, expression=high), row)


def _in(tree: exp.Expr, row: Environment) -> Value:
    value = evaluate(tree.this, row)
    found = [_equal(value, evaluate(item, row)) for item in tree.expressions]
    return True if True in found else None if None in found else False


def _is(tree: exp.Expr, row: Environment) -> Value:
    return evaluate(tree.this, row) is evaluate(tree.expression, row)


def _like(tree: exp.Expr, row: Environment, escape: str = "\\") -> Value:
    text, pattern = evaluate(tree.this, row), evaluate(tree.expression, row)
    if text is None or pattern is None:
        return None
    parts = re.findall(rf"{re.escape(escape)}.|.", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    return re.fullmatch("".join(wild.get(part) or re.escape(part[-1]) for part in parts), text, re.DOTALL) is not None


def _case(tree: exp.Expr, row: Environment) -> Value:
    for branch in tree.args["ifs"]:
        condition = evaluate(branch.this, row)
        if tree.this is not None:
            condition = _equal(evaluate(tree.this, row), condition)
        if condition is True:
            return _as_typed(tree, evaluate(branch.args["true"], row))
    default = tree.args.get("default")
    return None if default is None else _as_typed(tree, evaluate(default, row))


def _if(tree: exp.Expr, row: Environment) -> Value:
    chosen = tree.args["true"] if evaluate(tree.this, row) is True else tree.args.get("false")
    return None if chosen is None else _as_typed(tree, evaluate(chosen, row))


def _coalesce(tree: exp.Expr, row: Environment) -> Value:
    values = (evaluate(part, row) for part in (tree.this, *tree.expressions))
    return _as_typed(tree, next((value for value in values if value is not None), None))


def _cast(tree: exp.Expr, row: Environment) -> Value:
    value, kind = evaluate(tree.this, row), tree.to.this
    if value is None:
        return None
    if kind == exp.DType.TEXT:
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, str) and kind not in (exp.DType.DOUBLE, *_BITS):
        return micros(datetime.fromisoformat(value))
    try:
        number = float(value) if kind == exp.DType.DOUBLE or isinstance(value, str) else value
    except ValueError:
        return None
    if kind == exp.DType.DOUBLE:
        return number
    most = 2 ** (_BITS[kind] - 1)
    return max(-most, min(most - 1, int(number)))


def _interval(tree: exp.Expr, row: Environment) -> Value:
    return round(float(tree.this.this) * SECOND)


_EVALUATE: dict[type[exp.Expr], Callable[[exp.Expr, Environment], Value]] = {
    exp.Column: lambda tree, row: row[tree.table, tree.name],
    exp.Literal: _literal,
    exp.Boolean: lambda tree, row: bool(tree.this),
    exp.Null: lambda tree, row: None,
    exp.Paren: lambda tree, row: evaluate(tree.this, row),
    exp.Add: _both(operator.add),
    exp.Sub: _both(operator.sub),
    exp.Mul: _both(operator.mul),
    exp.Div: _both(_divided),
    exp.Mod: _both(_remainder),
    exp.DPipe: _both(operator.add),
    exp.Neg: _one(operator.neg),
    exp.EQ: _both(operator.eq),
    exp.NEQ: _both(operator.ne),
    exp.LT: _both(operator.lt),
    exp.LTE: _both(operator.le),
    exp.GT: _both(operator.gt),
    exp.GTE: _both(operator.ge),
    exp.NullSafeEQ: lambda tree, row: evaluate(tree.this, row) == evaluate(tree.expression, row),
    exp.NullSafeNEQ: lambda tree, row: evaluate(tree.this, row) != evaluate(tree.expression, row),
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _one(operator.not_),
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.Like: _like,
    exp.Escape: lambda tree, row: _like(tree.this, row, str(tree.expression.this)),
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _coalesce,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Abs: _one(abs),
    exp.Upper: _one(str.upper),
    exp.Interval: _interval,
}


def aggregate(tree: exp.Expr, rows: list[Environment]) -> Value:
    """The value of COUNT, SUM, AVG, MIN or MAX over rows."""
    if isinstance(tree, exp.Count):
        if isinstance(tree.this, exp.Star):
            return len(rows)
        distinct = isinstance(tree.this, exp.Distinct)
        parts = tree.this.expressions if distinct else [tree.this, *tree.expressions]
        values = [tuple(evaluate(part, row) for part in parts) for row in rows]
        known = [value for value in values if None not in value]
        return len(set(known)) if distinct else len(known)
    numbers = [value for row in rows if (value := evaluate(tree.this, row)) is not None]
    if not numbers:
        return None
    if isinstance(tree, exp.Avg):
        return math.fsum(numbers) / len(numbers)
    if isinstance(tree, exp.Sum):
        return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)
    return {exp.Min: min, exp.Max: max}[type(tree)](numbers)
