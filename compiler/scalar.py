"""Scalar expressions, carried, typed and written as Spark SQL by sqlglot.

Nothing else imports sqlglot. A `Scalar` is a value: two are equal when their Spark SQL is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from penstock.catalog import parse_type
from penstock.compiler.functions import COMMON, FIRST, Function
from penstock.compiler.types import CONVERSIONS, UNKNOWN, family, kind_of, wider
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError

DIALECT = "spark"
E = TypeVar("E", bound=exp.Expr)


class ColumnRef(NamedTuple):
    """A column of one of a plan's inputs; the input is empty for the columns of an aggregate."""

    input: str
    name: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """A bound, typed expression."""

    sql: str
    type: str
    columns: frozenset[ColumnRef] = field(compare=False)
    tree: exp.Expr = field(compare=False, repr=False)

    @property
    def inputs(self) -> frozenset[str]:
        """The inputs whose columns it uses."""
        return frozenset(column.input for column in self.columns)

    @property
    def is_column(self) -> bool:
        """Whether it is a bare column."""
        return isinstance(self.tree, exp.Column)

    def __str__(self) -> str:
        return self.sql


def column(ref: ColumnRef, type_: str) -> Scalar:
    """A bare column."""
    return _scalar(_column(ref, type_))


def translate(expr: ast.Expr, leaf: Callable[[ast.Expr], Scalar | None]) -> Scalar:
    """A syntax tree as a scalar; `leaf` gives the scalars of columns and of what else it knows."""
    return _scalar(_Translator(leaf).convert(expr))


def call(name: str, args: Iterable[Scalar], type_: str, *, distinct: bool = False) -> Scalar:
    """A function or aggregate over scalars; `type_` may be `first`, `common` or `infer`."""
    trees = [arg.tree.copy() for arg in args]
    if distinct:
        tree = exp.func(name, exp.Distinct(expressions=trees), dialect=DIALECT)
    else:
        tree = exp.func(name, *trees, dialect=DIALECT)
    return _scalar(_with_type(tree, type_, trees))


def count_all() -> Scalar:
    """`COUNT(*)`."""
    return _scalar(_typed(exp.Count(this=exp.Star(), big_int=True), "bigint"))


def _scalar(tree: exp.Expr) -> Scalar:
    columns = frozenset(ColumnRef(node.table, node.name) for node in tree.find_all(exp.Column))
    return Scalar(tree.sql(dialect=DIALECT), _type_name(tree), columns, tree)


def _column(ref: ColumnRef, type_: str) -> exp.Column:
    node = exp.column(_identifier(ref.name), table=_identifier(ref.input) if ref.input else None)
    node._type = _data_type(type_)
    return node


def _identifier(name: str) -> exp.Identifier:
    plain = name.isidentifier() and name.isascii() and name.upper() not in _RESERVED
    return exp.to_identifier(name, quoted=not plain)


_RESERVED = frozenset(
    "ALL AND ANTI ANY AS AUTHORIZATION BETWEEN BOTH BY CASE CAST CHECK COLLATE COLUMN CONSTRAINT CREATE CROSS "
    "CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS FALSE "
    "FETCH FILTER FOR FOREIGN FROM FULL FUNCTION GRANT GROUP HAVING IN INNER INTERSECT INTERVAL INTO IS JOIN "
    "LATERAL LEADING LEFT LIKE LIMIT MINUS NATURAL NOT NULL OFFSET ON ONLY OR ORDER OUTER OVER OVERLAPS PRIMARY "
    "REFERENCES RIGHT SELECT SEMI SESSION_USER SET SOME SQL TABLE THEN TIME TO TRAILING TRUE UNION UNIQUE UNKNOWN "
    "USER USING VALUES WHEN WHERE WINDOW WITH".split()
)


@cache
def _data_type(name: str) -> exp.DataType:
    if name == UNKNOWN:
        return exp.DataType(this=exp.DType.UNKNOWN)
    return exp.DataType.build(name, dialect=DIALECT)


def _typed(tree: E, type_: str) -> E:
    tree._type = _data_type(type_)
    return tree


def _type_name(tree: exp.Expr) -> str:
    found = tree.type
    if found is None or found.this == exp.DType.UNKNOWN:
        return UNKNOWN
    return _spark_name(found.sql(dialect=DIALECT))


@cache
def _spark_name(text: str) -> str:
    if text.lower() in ("null", "void"):
        return "void"
    if text.lower().startswith("interval"):
        return "interval"
    try:
        return parse_type(text)
    except PenstockError:
        return UNKNOWN


def _infer(tree: E) -> E:
    return annotate_types(tree, dialect=DIALECT, overwrite_types=False)


def _with_type(tree: E, type_: str, args: list[exp.Expr]) -> E:
    if type_ == FIRST:
        tree._type = args[0].type
        return tree
    if type_ == COMMON:
        types = [_type_name(arg) for arg in args]
        known = [t for t in types if t not in (UNKNOWN, "void")]
        return _typed(tree, wider(known))
    return _infer(tree) if type_ == "infer" else _typed(tree, type_)


_COMPARISONS = {
    "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
    "<=>": exp.NullSafeEQ, "IS DISTINCT FROM": exp.NullSafeNEQ,
}  # fmt: skip
_ARITHMETIC = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "%": exp.Mod}
_LIKES = {"LIKE": exp.Like, "ILIKE": exp.ILike, "RLIKE": exp.RegexpLike}
_SUMS, _PRODUCTS = (exp.Add, exp.Sub), (exp.Mul, exp.Div, exp.Mod)


def _operand(tree: exp.Expr, *, beside: tuple[type[exp.Expr], ...] = ()) -> exp.Expr:
    """The tree in parentheses, unless it binds tightly enough to stand bare."""
    if isinstance(tree, beside):
        return tree
    infix = (exp.Connector, exp.RegexpLike, exp.Not, exp.Neg, exp.Between, exp.In, exp.Is, exp.Escape)
    plain_binary = isinstance(tree, exp.Binary) and not isinstance(tree, exp.Func | exp.Dot)
    if isinstance(tree, infix) or plain_binary:
        return _typed_like(exp.Paren(this=tree), tree)
    return tree


def _typed_like(tree: E, other: exp.Expr) -> E:
    tree._type = other.type
    return tree


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
        if whole and int(node.text) >= 2**63:
            raise PenstockError(
                f"{node.text} does not fit into 64 bits",
                span=node.span,
                hint="Write it with a decimal point.",
                label="number-too-large",
            )
        return _typed(exp.Literal.number(node.text if whole else _plain_decimal(node.text)), type_)

    def _string(self, node: ast.String) -> exp.Expr:
        return _typed(exp.Literal.string(node.value), "string")

    def _boolean(self, node: ast.Boolean) -> exp.Expr:
        return _typed(exp.Boolean(this=node.value), "boolean")

    def _null(self, node: ast.Null) -> exp.Expr:
        return _typed(exp.Null(), UNKNOWN)

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
        return _typed(exp.Cast(this=exp.Literal.string(text), to=_data_type(type_).copy()), type_)

    def _interval(self, node: ast.Interval) -> exp.Expr:
        seconds, rest = divmod(abs(node.micros), 1_000_000)
        text = str(seconds) if not rest else f"{seconds}.{rest:06}".rstrip("0")
        text = f"-{text}" if node.micros < 0 else text
        return _typed(exp.Interval(this=exp.Literal.string(text), unit=exp.Var(this="SECOND")), "interval")

    def _unary(self, node: ast.Unary) -> exp.Expr:
        operand = self.convert(node.operand)
        if node.op == "NOT":
            self._need(operand, node.operand, "condition")
            return _typed(exp.Not(this=_operand(operand)), "boolean")
        self._need(operand, node.operand, "number", "interval")
        if node.op == "+":
            return operand
        return _typed_like(exp.Neg(this=_operand(operand)), operand)

    def _junction(self, node: ast.Junction) -> exp.Expr:
        operands = []
        for part in node.operands:
            tree = self.convert(part)
            self._need(tree, part, "condition")
            operands.append(_operand(tree) if isinstance(tree, exp.Connector) else tree)
        kind = exp.And if node.op == "AND" else exp.Or
        while len(operands) > 1:  # a balanced tree, so that long chains do not nest deeply
            paired = [
                _typed(kind(this=operands[i], expression=operands[i + 1]), "boolean")
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
            tree = kind(this=_operand(left, beside=beside), expression=_operand(right, beside=beside))
            return _typed(tree, "boolean")
        if node.op == "||":
            first = _operand(left, beside=(exp.DPipe,))
            return _typed(exp.DPipe(this=first, expression=_operand(right), safe=True), "string")
        return self._arithmetic(node, left, right)

    def _arithmetic(self, node: ast.Binary, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        left_type, right_type = _type_name(left), _type_name(right)
        kinds = (kind_of(left_type), kind_of(right_type))
        self._need(left, node.left, "number", "time", "interval")
        self._need(right, node.right, "number", "time", "interval")
        in_sum = node.op in "+-"
        left = _operand(left, beside=_SUMS + _PRODUCTS if in_sum else _PRODUCTS)
        right = _operand(right, beside=_PRODUCTS if in_sum else ())
        if node.op == "/":
            tree: exp.Expr = exp.Div(this=left, expression=right, typed=False, safe=True)
        else:
            tree = _ARITHMETIC[node.op](this=left, expression=right)
        if "time" in kinds or "interval" in kinds:
            return _typed(tree, self._time_type(node, kinds, left_type))
        if UNKNOWN in kinds:
            return _typed(tree, UNKNOWN)
        if node.op == "/":
            decimal = "decimal" in (left_type[:7], right_type[:7]) and "double" not in (left_type, right_type)
            return _infer(tree) if decimal else _typed(tree, "double")
        return _typed(tree, wider([left_type, right_type]))

    def _time_type(self, node: ast.Binary, kinds: tuple[str, str], left_type: str) -> str:
        if node.op in "+-" and kinds == ("time", "interval"):
            return "timestamp"
        if node.op == "+" and kinds == ("interval", "time"):
            return "timestamp"
        if (node.op == "-" and kinds == ("time", "time")) or (node.op in "+-" and kinds == ("interval", "interval")):
            return "interval"
        if set(kinds) == {"interval", "number"} and node.op in "*/" and left_type:
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
        tree = exp.Between(this=_operand(operand), low=_operand(low), high=_operand(high))
        return self._maybe_not(tree, node.negated)

    def _inlist(self, node: ast.InList) -> exp.Expr:
        operand = self.convert(node.operand)
        items = [self._comparable(node, operand, self.convert(i), node.operand, i)[1] for i in node.items]
        return self._maybe_not(exp.In(this=_operand(operand), expressions=items), node.negated)

    def _like(self, node: ast.Like) -> exp.Expr:
        operand, pattern = self.convert(node.operand), self.convert(node.pattern)
        self._need(operand, node.operand, "text")
        self._need(pattern, node.pattern, "text")
        tree: exp.Expr = _LIKES[node.op](this=_operand(operand), expression=_operand(pattern))
        if node.escape is not None:
            tree = exp.Escape(this=tree, expression=exp.Literal.string(node.escape))
        return self._maybe_not(tree, node.negated)

    def _is(self, node: ast.Is) -> exp.Expr:
        operand = self.convert(node.operand)
        if node.what != "NULL":
            self._need(operand, node.operand, "condition")
        what = exp.Null() if node.what == "NULL" else exp.Boolean(this=node.what == "TRUE")
        return self._maybe_not(exp.Is(this=_operand(operand), expression=what), node.negated)

    def _maybe_not(self, tree: exp.Expr, negated: bool) -> exp.Expr:
        _typed(tree, "boolean")
        return _typed(exp.Not(this=tree), "boolean") if negated else tree

    def _case(self, node: ast.Case) -> exp.Expr:
        operand = None if node.operand is None else self.convert(node.operand)
        branches, results = [], []
        for when in node.whens:
            condition, result = self.convert(when.condition), self.convert(when.result)
            if operand is None:
                self._need(condition, when.condition, "condition")
            branches.append(exp.If(this=condition, true=result))
            results.append(result)
        otherwise = None if node.otherwise is None else self.convert(node.otherwise)
        if otherwise is not None:
            results.append(otherwise)
        return _with_type(exp.Case(this=operand, ifs=branches, default=otherwise), COMMON, results)

    def _cast(self, node: ast.Cast) -> exp.Expr:
        try:
            type_ = parse_type(node.type.text)
        except PenstockError as error:
            error.span = node.type.span
            raise
        kind = exp.TryCast if node.safe else exp.Cast
        tree = kind(this=self.convert(node.operand), to=_data_type(type_).copy(), safe=node.safe)
        return _typed(tree, type_)

    def _extract(self, node: ast.Extract) -> exp.Expr:
        operand = self.convert(node.operand)
        self._need(operand, node.operand, "time", "interval")
        type_ = "decimal(8,6)" if node.part == "SECOND" else "int"
        return _typed(exp.Extract(this=exp.Var(this=node.part), expression=operand), type_)

    def _need(self, tree: exp.Expr, node: ast.Expr, *kinds: str) -> None:
        found = kind_of(_type_name(tree))
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
        left_type, right_type = _type_name(left), _type_name(right)
        kinds = (kind_of(left_type), kind_of(right_type))
        if kinds[0] == kinds[1] or UNKNOWN in kinds:
            return left, right
        if kinds == ("time", "text") and isinstance(b, ast.String):
            return left, self._moment_of(b.value, left_type, b)
        if kinds == ("text", "time") and isinstance(a, ast.String):
            return self._moment_of(a.value, right_type, a), right
        raise PenstockError(
            f"cannot compare {family(kinds[0])} with {family(kinds[1])}",
            span=node.span,
            hint="Make them of one type with CAST(… AS type).",
            label="type-mismatch",
        )


def _plain_decimal(text: str) -> str:
    """A number as Spark reads it as a double: in Spark `1.5` would be a decimal."""
    return text if "e" in text.lower() else f"{text if not text.endswith('.') else text + '0'}D".lstrip()


def check_arity(name: str, function: Function, node: ast.Call) -> None:
    """Refuse a call with too few or too many arguments."""
    if not function.least <= len(node.args) <= function.most:
        raise PenstockError(
            f"{name.upper()} takes {function.takes()}, found {len(node.args)}",
            span=node.span,
            hint="Check the arguments between the parentheses.",
            label="wrong-argument-count",
        )
