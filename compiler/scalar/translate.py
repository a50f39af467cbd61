"""Syntax trees as scalars: types checked on the way, written as Spark reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from math import isinf
from typing import Any

from sqlglot import exp

from penstock.catalog import parse_type
from penstock.compiler.functions import COMMON, PRINTED, REST, ROUNDED, Function
from penstock.compiler.scalar.patterns import check_like, check_patterns, check_regular
from penstock.compiler.scalar.value import (
    Scalar,
    data_type,
    inner_types,
    operand_of,
    scalar_of,
    type_name,
    typed,
    typed_like,
    with_type,
)
from penstock.compiler.types import (
    CONVERSIONS,
    UNKNOWN,
    arithmetic_type,
    castable,
    comparable,
    family,
    fits,
    kind_of,
)
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError


def translate(expr: ast.Expr, leaf: Callable[[ast.Expr], Scalar | None]) -> Scalar:
    """A syntax tree as a scalar; `leaf` gives the scalars of columns and of what else it knows."""
    known = leaf(expr)
    return known if known is not None else scalar_of(_Translator(leaf).convert(expr))


_COMPARISONS = {
    "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
    "<=>": exp.NullSafeEQ, "IS DISTINCT FROM": exp.NullSafeNEQ,
}  # fmt: skip
_ARITHMETIC = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "%": exp.Mod}
_LIKES = {"LIKE": exp.Like, "ILIKE": exp.ILike, "RLIKE": exp.RegexpLike}
_SUMS, _PRODUCTS = (exp.Add, exp.Sub), (exp.Mul, exp.Div, exp.Mod)


class _Translator:
    """Syntax tree to sqlglot tree, checking types on the way."""

    def __init__(self, leaf: Callable[[ast.Expr], Scalar | None]) -> None:
        self.leaf = leaf

    def convert(self, node: ast.Expr) -> exp.Expr:
        known = self.leaf(node)
        if known is not None:
            return known.tree.copy()
        method: Callable[[Any], exp.Expr] = getattr(self, f"_{type(node).__name__.lower()}")
        return method(node)

    def _number(self, node: ast.Number) -> exp.Expr:
        whole = node.text.isdigit()
        type_ = ("int" if int(node.text) < 2**31 else "bigint") if whole else "double"
        if (whole and int(node.text) >= 2**63) or isinf(float(node.text)):
            raise PenstockError(
                f"{node.text} does not fit into 64 bits",
                span=node.span,
                hint="Write it with a decimal point." if not isinf(float(node.text)) else "Write a smaller number.",
                label="number-too-large",
            )
        return typed(exp.Literal.number(node.text if whole else _plain_decimal(node.text)), type_)

    def _string(self, node: ast.String) -> exp.Expr:
        return typed(exp.Literal.string(node.value), "string")

    def _boolean(self, node: ast.Boolean) -> exp.Expr:
        return typed(exp.Boolean(this=node.value), "boolean")

    def _null(self, node: ast.Null) -> exp.Expr:
        return typed(exp.Null(), UNKNOWN)

    def _moment(self, node: ast.Moment) -> exp.Expr:
        return self._moment_of(node.text, node.kind.lower(), node)

    def _moment_of(self, text: str, type_: str, node: ast.Expr) -> exp.Expr:
        try:
            (date if type_ == "date" else datetime).fromisoformat(text)
        except ValueError:
            example = "2026-01-31" if type_ == "date" else "2026-01-31 12:00:00"
            raise PenstockError(
                f"'{text}' is not a {type_}",
                span=node.span,
                hint=f"Write it as '{example}'.",
                label="bad-moment",
            ) from None
        return typed(exp.Cast(this=exp.Literal.string(text), to=data_type(type_).copy()), type_)

    def _interval(self, node: ast.Interval) -> exp.Expr:
        seconds, rest = divmod(abs(node.micros), 1_000_000)
        text = str(seconds) if not rest else f"{seconds}.{rest:06}".rstrip("0")
        text = f"-{text}" if node.micros < 0 else text
        return typed(exp.Interval(this=exp.Literal.string(text), unit=exp.Var(this="SECOND")), "interval")

    def _unary(self, node: ast.Unary) -> exp.Expr:
        operand = self.convert(node.operand)
        if node.op == "NOT":
            self._need(operand, node.operand, "condition")
            return typed(exp.Not(this=operand_of(operand)), "boolean")
        self._need(operand, node.operand, "number", "interval")
        if node.op == "+":
            return operand
        return typed_like(exp.Neg(this=operand_of(operand)), operand)

    def _junction(self, node: ast.Junction) -> exp.Expr:
        operands = []
        for part in node.operands:
            tree = self.convert(part)
            self._need(tree, part, "condition")
            operands.append(operand_of(tree) if isinstance(tree, exp.Connector) else tree)
        kind = exp.And if node.op == "AND" else exp.Or
        while len(operands) > 1:  # a balanced tree, so that long chains do not nest deeply
            paired = [
                typed(kind(this=operands[i], expression=operands[i + 1]), "boolean")
                for i in range(0, len(operands) - 1, 2)
            ]
            operands = paired + operands[len(paired) * 2 :]
        return operands[0]

    def _binary(self, node: ast.Binary) -> exp.Expr:
        left, right = self.convert(node.left), self.convert(node.right)
        if node.op in _COMPARISONS:
            left, right = self._comparable(node, left, right)
            kind = _COMPARISONS[node.op]
            beside = _SUMS + _PRODUCTS
            tree = kind(this=operand_of(left, beside=beside), expression=operand_of(right, beside=beside))
            return typed(tree, "boolean")
        if node.op == "||":
            self._need(left, node.left, *PRINTED.split("|"))
            self._need(right, node.right, *PRINTED.split("|"))
            first = operand_of(left, beside=(exp.DPipe,))
            return typed(exp.DPipe(this=first, expression=operand_of(right), safe=True), "string")
        return self._arithmetic(node, left, right)

    def _arithmetic(self, node: ast.Binary, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        left_type, right_type = type_name(left), type_name(right)
        kinds = (kind_of(left_type), kind_of(right_type))
        self._need(left, node.left, "number", "time", "interval")
        self._need(right, node.right, "number", "time", "interval")
        in_sum = node.op in "+-"
        left = operand_of(left, beside=_SUMS + _PRODUCTS if in_sum else _PRODUCTS)
        right = operand_of(right, beside=_PRODUCTS if in_sum else ())
        if node.op == "/":
            tree: exp.Expr = exp.Div(this=left, expression=right, typed=False, safe=True)
        else:
            tree = _ARITHMETIC[node.op](this=left, expression=right)
        if "time" in kinds or "interval" in kinds:
            return typed(tree, self._time_type(node, kinds))
        if UNKNOWN in kinds:
            return typed(tree, UNKNOWN)
        if "decimal" in (left_type[:7], right_type[:7]):
            left_type, right_type = _literal_type(node.left, left_type), _literal_type(node.right, right_type)
        return typed(tree, arithmetic_type(node.op, left_type, right_type))

    def _time_type(self, node: ast.Binary, kinds: tuple[str, str]) -> str:
        if node.op in "+-" and kinds == ("time", "interval"):
            return "timestamp"
        if node.op == "+" and kinds == ("interval", "time"):
            return "timestamp"
        if (node.op == "-" and kinds == ("time", "time")) or (node.op in "+-" and kinds == ("interval", "interval")):
            return "interval"
        if (node.op in "*/" and kinds == ("interval", "number")) or (
            node.op == "*" and kinds == ("number", "interval")
        ):
            return "interval"
        raise PenstockError(
            f"cannot compute {family(kinds[0])} {node.op} {family(kinds[1])}",
            span=node.span,
            hint="Write  A.ts + INTERVAL 5 min; the difference of two times is an interval.",
            label="type-mismatch",
        )

    def _between(self, node: ast.Between) -> exp.Expr:
        operand = self.convert(node.operand)
        operand, low = self._comparable(node, operand, self.convert(node.low), node.operand, node.low)
        operand, high = self._comparable(node, operand, self.convert(node.high), node.operand, node.high)
        tree = exp.Between(this=operand_of(operand), low=operand_of(low), high=operand_of(high))
        return self._maybe_not(tree, node.negated)

    def _inlist(self, node: ast.InList) -> exp.Expr:
        operand = self.convert(node.operand)
        items = [self._comparable(node, operand, self.convert(i), node.operand, i)[1] for i in node.items]
        return self._maybe_not(exp.In(this=operand_of(operand), expressions=items), node.negated)

    def _like(self, node: ast.Like) -> exp.Expr:
        operand, pattern = self.convert(node.operand), self.convert(node.pattern)
        self._need(operand, node.operand, "text")
        self._need(pattern, node.pattern, "text")
        if node.op == "RLIKE":
            check_regular(node.pattern)
        else:
            check_like(node.pattern, node.escape or "\\")
        tree: exp.Expr = _LIKES[node.op](this=operand_of(operand), expression=operand_of(pattern))
        if node.escape is not None:
            tree = exp.Escape(this=tree, expression=exp.Literal.string(node.escape))
        return self._maybe_not(tree, node.negated)

    def _is(self, node: ast.Is) -> exp.Expr:
        operand = self.convert(node.operand)
        if node.what != "NULL":
            self._need(operand, node.operand, "condition")
        what = exp.Null() if node.what == "NULL" else exp.Boolean(this=node.what == "TRUE")
        return self._maybe_not(exp.Is(this=operand_of(operand), expression=what), node.negated)

    def _maybe_not(self, tree: exp.Expr, negated: bool) -> exp.Expr:
        typed(tree, "boolean")
        return typed(exp.Not(this=tree), "boolean") if negated else tree

    def _case(self, node: ast.Case) -> exp.Expr:
        operand = None if node.operand is None else self.convert(node.operand)
        branches, results = [], []
        for when in node.whens:
            condition, result = self.convert(when.condition), self.convert(when.result)
            if operand is None:
                self._need(condition, when.condition, "condition")
                if type_name(condition) == UNKNOWN:  # Spark wants it to have a type
                    condition = typed(exp.Cast(this=condition, to=data_type("boolean").copy()), "boolean")
            else:
                _, condition = self._comparable(node, operand, condition, node.operand, when.condition)
            branches.append(exp.If(this=condition, true=result))
            results.append(result)
        otherwise = None if node.otherwise is None else self.convert(node.otherwise)
        if otherwise is not None:
            results.append(otherwise)
        parts = [when.result for when in node.whens] + ([node.otherwise] if node.otherwise is not None else [])
        _check_alike("CASE", [type_name(result) for result in results], parts)
        return with_type(exp.Case(this=operand, ifs=branches, default=otherwise), COMMON, results)

    def _cast(self, node: ast.Cast) -> exp.Expr:
        try:
            type_ = parse_type(node.type.text)
        except PenstockError as error:
            error.span = node.type.span
            raise
        operand = self.convert(node.operand)
        if not castable(type_name(operand), type_):
            raise PenstockError(
                f"cannot cast {type_name(operand)} to {type_}",
                span=node.span,
                hint="Name another type; a text can be cast to most.",
                label="bad-cast",
            )
        kind = exp.TryCast if node.safe else exp.Cast
        return typed(kind(this=operand, to=data_type(type_).copy(), safe=node.safe), type_)

    def _extract(self, node: ast.Extract) -> exp.Expr:
        operand = self.convert(node.operand)
        in_interval = node.part in ("DAY", "HOUR", "MINUTE", "SECOND")
        self._need(operand, node.operand, "time", *(["interval"] if in_interval else []))
        type_ = "decimal(8,6)" if node.part == "SECOND" else "int"
        if kind_of(type_name(operand)) == "interval" and node.part in ("HOUR", "MINUTE"):
            type_ = "tinyint"
        return typed(exp.Extract(this=exp.Var(this=node.part), expression=operand), type_)

    def _need(self, tree: exp.Expr, node: ast.Expr, *kinds: str) -> None:
        found = kind_of(type_name(tree))
        if found != UNKNOWN and found not in kinds:
            expected = " or ".join(family(kind) for kind in kinds)
            raise PenstockError(
                f"expected {expected}, found {family(found)}",
                span=node.span,
                hint=CONVERSIONS.get((found, kinds[0]), "Use CAST(… AS type) if that is what you mean."),
                label="type-mismatch",
            )

    def _comparable(
        self,
        node: ast.Expr,
        left: exp.Expr,
        right: exp.Expr,
        a: ast.Expr | None = None,
        b: ast.Expr | None = None,
    ) -> tuple[exp.Expr, exp.Expr]:
        """Both sides of a comparison, a text beside a time made a time; an error if they do not compare."""
        if isinstance(node, ast.Binary):
            a, b = node.left, node.right
        left_type, right_type = type_name(left), type_name(right)
        kinds = (kind_of(left_type), kind_of(right_type))
        if (kinds[0] == kinds[1] or UNKNOWN in kinds) and comparable(left_type) and comparable(right_type):
            return left, right
        if kinds == ("time", "text") and isinstance(b, ast.String):
            return left, self._moment_of(b.value, left_type, b)
        if kinds == ("text", "time") and isinstance(a, ast.String):
            return self._moment_of(a.value, right_type, a), right
        raise PenstockError(
            f"cannot compare {family(kinds[0])} with {family(kinds[1])}",
            span=node.span if isinstance(node, ast.Binary) or b is None else b.span,
            hint="Make them of one type with CAST(… AS type).",
            label="type-mismatch",
        )


def _plain_decimal(text: str) -> str:
    """A number as Spark reads it as a double: in Spark `1.5` would be a decimal."""
    return text if "e" in text.lower() else f"{text if not text.endswith('.') else text + '0'}D".lstrip()


def check_arguments(node: ast.Call, function: Function, convert: Callable[[ast.Expr], Scalar]) -> list[Scalar]:
    """The arguments of a call; an error if there are too few or too many, or if one is of the wrong kind."""
    name = node.name.upper()
    if not function.least <= len(node.args) <= function.most:
        raise PenstockError(
            f"{name} takes {function.takes()}, found {len(node.args)}",
            span=node.span,
            hint="Check the arguments between the parentheses.",
            label="wrong-argument-count",
        )
    args = [convert(part) for part in node.args]
    for number, (arg, part) in enumerate(zip(args, node.args, strict=True)):
        kinds, found = function.kinds_of(number), kind_of(arg.type)
        if not any(fits(arg.type, kind) for kind in kinds):
            raise PenstockError(
                f"{name} takes {' or '.join(map(family, kinds))} here, found {arg.type}",
                span=part.span,
                hint=CONVERSIONS.get((found, kinds[0]), "Use CAST(… AS type) if that is what you mean."),
                label="type-mismatch",
            )
    if function.type in (COMMON, REST) or name == "NULLIF":
        first = 1 if function.type == REST else 0
        _check_alike(name, [arg.type for arg in args[first:]], node.args[first:])
    if name in ("ARRAY_CONTAINS", "ELEMENT_AT"):
        _check_inside(name, args, node)
    if function.type == ROUNDED and len(args) > 1 and not isinstance(_unsigned(node.args[1]), ast.Number):
        raise PenstockError(
            f"{name} needs a plain number of decimal places",
            span=node.args[1].span,
            hint=f"Write for example  {name}(A.Value, 2).",
            label="not-a-literal",
        )
    check_patterns(node)
    return args


def _check_inside(name: str, args: list[Scalar], node: ast.Call) -> None:
    """Refuse to look for something in an array or a map that cannot be in it."""
    is_place = name == "ELEMENT_AT" and kind_of(args[0].type) == "array"
    wanted = "int" if is_place else kind_of(inner_types(args[0].tree)[0])
    if wanted != UNKNOWN and not fits(args[1].type, wanted):
        raise PenstockError(
            f"{name} takes {family(wanted)} here, found {args[1].type}",
            span=node.args[1].span,
            hint="Use CAST(… AS type) if that is what you mean.",
            label="type-mismatch",
        )


def _literal_type(node: ast.Expr, type_: str) -> str:
    """The type beside a decimal: a whole number that is written out has no more digits than it shows."""
    number = _unsigned(node)
    whole = isinstance(number, ast.Number) and type_ in ("int", "bigint")
    return f"decimal({len(number.text.lstrip('0')) or 1},0)" if whole else type_  # type: ignore[attr-defined]


def _unsigned(node: ast.Expr) -> ast.Expr:
    return node.operand if isinstance(node, ast.Unary) else node


def _check_alike(what: str, types: Sequence[str], nodes: Sequence[ast.Expr]) -> None:
    """Refuse values of different kinds where one of them is chosen."""
    known = [(kind_of(type_), node) for type_, node in zip(types, nodes, strict=True) if kind_of(type_) != UNKNOWN]
    for kind, node in known[1:]:
        if kind != known[0][0]:
            raise PenstockError(
                f"{what} chooses between {family(known[0][0])} and {family(kind)}",
                span=node.span,
                hint="Make them of one type with CAST(… AS type).",
                label="type-mismatch",
            )
