"""Constant folding and the normal form of conditions.

Every rewriting here keeps the value of an expression for all rows, NULL included: a condition that is NULL may
stand below a NOT. sqlglot's own `simplify` does not promise that (it makes `x = 1 AND x = 2` FALSE, also where x
is NULL), so it is not used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from operator import add, eq, ge, gt, le, lt, mul, ne, sub

from sqlglot import exp

from penstock.compiler.scalar.parens import bare, parenthesised
from penstock.compiler.scalar.value import Scalar, data_type, scalar_of, type_name, typed, write

Value = int | float | str | bool | None

_COMPARE: dict[type[exp.Expr], Callable[[Value, Value], bool]] = {
    exp.EQ: eq, exp.NEQ: ne, exp.LT: lt, exp.LTE: le, exp.GT: gt, exp.GTE: ge,  # type: ignore[dict-item]
}  # fmt: skip
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ, exp.NEQ: exp.NEQ, exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE,
    exp.NullSafeEQ: exp.NullSafeEQ, exp.NullSafeNEQ: exp.NullSafeNEQ,
}  # fmt: skip
_OPPOSITE: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.NEQ, exp.NEQ: exp.EQ, exp.LT: exp.GTE, exp.LTE: exp.GT, exp.GT: exp.LTE, exp.GTE: exp.LT,
    exp.NullSafeEQ: exp.NullSafeNEQ, exp.NullSafeNEQ: exp.NullSafeEQ,
}  # fmt: skip
_ARITHMETIC: dict[type[exp.Expr], Callable[[float, float], float]] = {exp.Add: add, exp.Sub: sub, exp.Mul: mul}
_BITS = {"int": 31, "bigint": 63}
_CONSTANT = re.compile(r"'(?:[^'\\]|\\.)*'|\b\d[\w.]*")


class _Unknown:
    """Stands for the value of what is not a constant."""


UNKNOWN_VALUE = _Unknown()


def folded(scalar: Scalar) -> Scalar:
    """The scalar in normal form, its constants computed."""
    if scalar.is_column or is_plain(scalar.tree):
        return scalar
    tree = _fold(bare(scalar.tree))
    tree._type = scalar.tree.type  # what it was: a folded NULL stays a boolean
    after = scalar_of(parenthesised(tree))
    return after if after.sql == scalar.sql else folded(after)  # what one rewriting leaves may be another's case


def conjuncts(scalar: Scalar) -> tuple[Scalar, ...]:
    """The conditions that must all hold for this one to hold; none when it always does."""
    if isinstance(scalar.tree, exp.And):
        return tuple(scalar_of(part.copy().unnest()) for part in scalar.tree.flatten())
    return () if is_true(scalar) else (scalar,)


def narrowed(scalars: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Conditions that must all hold, without the bounds that others of them make superfluous."""
    parts = {scalar.sql: scalar for scalar in scalars}
    loose = _loose_bounds(exp.And, {sql: scalar.tree for sql, scalar in parts.items()}) if len(parts) > 1 else ()
    return tuple(scalar for sql, scalar in parts.items() if sql not in loose)


def is_true(scalar: Scalar) -> bool:
    """Whether it is the constant TRUE."""
    return constant_of(scalar.tree) is True


def constant_of(tree: exp.Expr) -> Value | _Unknown:
    """The value of a literal; UNKNOWN_VALUE for everything else."""
    match tree:
        case exp.Boolean():
            return bool(tree.this)
        case exp.Null():
            return None
        case exp.Literal():
            return str(tree.this) if tree.is_string else _number(tree)
        case exp.Neg(this=exp.Literal() as literal) if not literal.is_string:
            return -_number(literal)
    return UNKNOWN_VALUE


def _number(literal: exp.Literal) -> int | float:
    text = literal.this
    return int(text) if text.isdigit() else float(text.rstrip("D"))


def is_plain(tree: exp.Expr) -> bool:
    """Whether it is a column compared with a literal, which is most conditions and in normal form."""
    return type(tree) in _MIRRORED and isinstance(tree.this, exp.Column) and isinstance(tree.expression, exp.Literal)


def _fold(tree: exp.Expr) -> exp.Expr:
    """The tree in normal form, children first. The tree has no parentheses, before or after."""
    for key, value in list(tree.args.items()):
        if isinstance(value, exp.Expr):
            tree.set(key, _fold(value))
        elif isinstance(value, list):
            tree.set(key, [_fold(item) if isinstance(item, exp.Expr) else item for item in value])
    rewrite = _REWRITES.get(type(tree))
    return rewrite(tree) if rewrite is not None else tree


def _arithmetic(tree: exp.Expr) -> exp.Expr:
    left, right = constant_of(tree.this), constant_of(tree.expression)
    if None in (left, right):
        return _null(tree)
    if isinstance(left, int | float) and isinstance(right, int | float):
        result = _ARITHMETIC[type(tree)](left, right)
        return _literal(result, type_name(tree)) or tree
    return tree


def _comparison(tree: exp.Expr) -> exp.Expr:
    left, right = constant_of(tree.this), constant_of(tree.expression)
    null_safe = isinstance(tree, exp.NullSafeEQ | exp.NullSafeNEQ)
    if None in (left, right) and not null_safe:
        return _null(tree)
    if not isinstance(left, _Unknown) and not isinstance(right, _Unknown):
        return tree if null_safe or _family(left) != _family(right) else _boolean(_COMPARE[type(tree)](left, right))
    mirrored = _MIRRORED[type(tree)]
    if _side_order(tree.expression, mirrored) < _side_order(tree.this, type(tree)):
        return typed(mirrored(this=tree.expression, expression=tree.this), "boolean")
    return tree


def _side_order(first: exp.Expr, kind: type[exp.Expr]) -> tuple[bool, str, bool]:
    """Where a comparison stands that has this on its left: constants go right, the rest is in order of its text."""
    return _is_constant(first), _text(first), kind in (exp.GT, exp.GTE)


def _between(tree: exp.Expr) -> exp.Expr:
    operand, low, high = tree.this, tree.args["low"], tree.args["high"]
    above = _comparison(typed(exp.GTE(this=operand, expression=low), "boolean"))
    below = _comparison(typed(exp.LTE(this=operand.copy(), expression=high), "boolean"))
    return _junction(typed(exp.And(this=above, expression=below), "boolean"))


def _in(tree: exp.Expr) -> exp.Expr:
    items = {_text(item): item for item in tree.expressions}
    if len(items) == 1:
        return _comparison(typed(exp.EQ(this=tree.this, expression=tree.expressions[0]), "boolean"))
    tree.set("expressions", [items[text] for text in sorted(items)])
    return tree


def _not(tree: exp.Expr) -> exp.Expr:
    inner = tree.this
    value = constant_of(inner)
    if isinstance(value, bool):
        return _boolean(not value)
    if value is None:
        return _null(tree)
    if isinstance(inner, exp.Not):
        return _child(inner)
    opposite = _OPPOSITE.get(type(inner))
    if opposite is not None:
        return _comparison(typed(opposite(this=inner.this, expression=inner.expression), "boolean"))
    if isinstance(inner, exp.Connector):
        kind = exp.Or if isinstance(inner, exp.And) else exp.And
        parts = [_not(typed(exp.Not(this=part.copy()), "boolean")) for part in inner.flatten()]
        return _junction(_joined(kind, parts))
    return tree


def _is(tree: exp.Expr) -> exp.Expr:
    value = constant_of(tree.this)
    if isinstance(value, _Unknown):
        return tree
    wanted = constant_of(tree.expression)
    return _boolean(value is wanted)


def _neg(tree: exp.Expr) -> exp.Expr:
    if isinstance(tree.this, exp.Neg):
        return _child(tree.this)
    return _null(tree) if isinstance(tree.this, exp.Null) else tree


def _junction(tree: exp.Expr) -> exp.Expr:
    """AND and OR: flat, each operand once, in the order of their text, bounds on one column narrowed to one."""
    kind = type(tree)
    neutral = kind is exp.And
    parts: dict[str, exp.Expr] = {}
    for part in tree.flatten():
        value = constant_of(part)
        if value is (not neutral):
            return _boolean(not neutral)
        if value is not neutral:
            parts[_text(part)] = part
    if not parts:
        return _boolean(neutral)
    loose = _loose_bounds(kind, parts)
    kept = [parts[text] for text in sorted(parts, key=_order) if text not in loose]
    common = _common(kind, kept)
    return common if common is not None else _joined(kind, kept)


def _loose_bounds(kind: type[exp.Expr], parts: dict[str, exp.Expr]) -> set[str]:
    """The texts of bounds that say nothing beside another one.

    `x > 1 AND x > 5` is `x > 5`, and `x > 1 OR x > 5` is `x > 1`; both are NULL where x is.
    """
    best: dict[tuple[str, str, bool], tuple[tuple[float, bool], str]] = {}
    dropped: set[str] = set()
    for text, part in parts.items():
        if not isinstance(part, exp.LT | exp.LTE | exp.GT | exp.GTE):
            continue
        bound = constant_of(part.expression)
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            continue
        lower = isinstance(part, exp.GT | exp.GTE)
        strict = isinstance(part, exp.GT | exp.LT)
        tightness = (bound if lower else -bound, strict)
        if kind is exp.Or:
            tightness = (-tightness[0], not strict)
        key = (_text(part.this), type_name(part.expression), lower)
        known = best.get(key)
        if known is not None:
            dropped.add(text if tightness <= known[0] else known[1])
        if known is None or tightness > known[0]:
            best[key] = (tightness, text)
    return dropped


def _common(kind: type[exp.Expr], parts: list[exp.Expr]) -> exp.Expr | None:
    """`(a AND b) OR (a AND c)` as `a AND (b OR c)`, and the other way round; None if nothing is common."""
    other = exp.And if kind is exp.Or else exp.Or
    if len(parts) < 2 or not any(isinstance(part, other) for part in parts):
        return None
    sides = [{_text(p): p for p in (part.flatten() if isinstance(part, other) else [part])} for part in parts]
    shared = [text for text in sides[0] if all(text in side for side in sides[1:])]
    if not shared:
        return None
    rest = [[part for text, part in side.items() if text not in shared] for side in sides]
    factored = [sides[0][text].copy() for text in shared]
    if all(rest):
        factored.append(_junction(_joined(kind, [_joined(other, [p.copy() for p in side]) for side in rest])))
    return _junction(_joined(other, factored)) if len(factored) > 1 else factored[0]


def _joined(kind: type[exp.Expr], parts: list[exp.Expr]) -> exp.Expr:
    """The parts as a balanced tree, so that many of them do not nest deeply."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) + 1) // 2
    left, right = _joined(kind, parts[:half]), _joined(kind, parts[half:])
    return typed(kind(this=left, expression=right), "boolean")


def _text(tree: exp.Expr) -> str:
    return write(parenthesised(tree.copy()))


def _order(text: str) -> tuple[str, str]:
    """Constants count last, so that conditions that differ in them only are alike afterwards."""
    return _CONSTANT.sub("?", text), text


def _child(tree: exp.Expr) -> exp.Expr:
    child: exp.Expr = tree.this
    return child


def _is_constant(tree: exp.Expr) -> bool:
    return not any(True for _ in tree.find_all(exp.Column))


def _family(value: Value | _Unknown) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def _boolean(value: bool) -> exp.Expr:
    return typed(exp.Boolean(this=value), "boolean")


def _null(tree: exp.Expr) -> exp.Expr:
    null = exp.Null()
    null._type = tree.type
    return null


def _literal(value: float, type_: str) -> exp.Expr | None:
    """The literal of a computed number; None if it does not fit its type."""
    if type_ in _BITS and isinstance(value, int) and abs(value) < 2 ** _BITS[type_]:
        text = str(abs(value))
    elif type_ == "double" and math.isfinite(value):
        text = f"{abs(float(value))!r}"
        text = text if "e" in text else f"{text}D"
    else:
        return None
    tree = exp.Literal(this=text, is_string=False)
    tree._type = data_type(type_)
    return tree if math.copysign(1, value) > 0 else typed(exp.Neg(this=tree), type_)


_REWRITES: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    **dict.fromkeys(_MIRRORED, _comparison),
    exp.Between: _between,
    exp.In: _in,
    exp.Not: _not,
    exp.Is: _is,
    exp.Neg: _neg,
    exp.And: _junction,
    exp.Or: _junction,
}
