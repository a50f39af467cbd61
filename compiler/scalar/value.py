"""What a scalar is: a sqlglot tree with a type, the columns it uses, and its Spark SQL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple, TypeVar

from sqlglot import Dialect, exp

from penstock.catalog import parse_type
from penstock.compiler.functions import COMMON, ELEMENT, FIRST, MEAN, REMAINDER, REST, ROUNDED, SUMMED, WHOLE
from penstock.compiler.types import UNKNOWN, arithmetic_type, mean_type, rounded_type, sum_type, whole_type, wider
from penstock.grammar.errors import PenstockError

DIALECT = "spark"
E = TypeVar("E", bound=exp.Expr)
_GENERATOR = Dialect.get_or_raise(DIALECT).generator()


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


@lru_cache(maxsize=100_000)
def column(ref: ColumnRef, type_: str) -> Scalar:
    """A bare column."""
    return _scalar_of(column_tree(ref, type_))


_EXACT = frozenset(
    "log2 log10 date_format to_date to_timestamp unix_timestamp to_unix_timestamp date_trunc date_sub".split()
)
"""Written as they are: sqlglot would give others that are not quite the same, and change or drop patterns of times."""


def call(name: str, args: Iterable[Scalar], type_: str, *, distinct: bool = False) -> Scalar:
    """A function or aggregate over scalars; `type_` is a type or a rule of `functions.py`."""
    trees = [arg.tree.copy() for arg in args]
    if name in ("array_contains", "element_at") and any(type_name(tree) == UNKNOWN for tree in trees):
        return scalar_of(with_type(exp.Null(), type_, trees))  # Spark wants to know the type of what is looked for
    if name == "split_part" or (name == "element_at" and type_name(trees[0]).startswith("array")):
        trees[-1] = _not_zero(trees[-1])
    if distinct:
        tree = exp.func(name, exp.Distinct(expressions=trees), dialect=DIALECT)
    elif name in _EXACT:
        tree = exp.Anonymous(this=name.upper(), expressions=trees)
    else:
        tree = exp.func(name, *trees, dialect=DIALECT)
    return scalar_of(with_type(tree, type_, trees))


def _not_zero(place: exp.Expr) -> exp.Expr:
    """A place counted from 1; NULL in place of 0, which Spark would fail on."""
    if isinstance(place, exp.Literal) and place.this != "0":
        return place
    return typed_like(exp.Nullif(this=place, expression=exp.Literal.number("0")), place)


def definite(scalar: Scalar) -> Scalar:
    """The scalar as one that can be kept: NULL alone, which is of no type, is one of text."""
    if scalar.type not in (UNKNOWN, "void"):
        return scalar
    return scalar_of(typed(exp.Cast(this=scalar.tree.copy(), to=data_type("string")), "string"))


def count_all() -> Scalar:
    """`COUNT(*)`."""
    return scalar_of(typed(exp.Count(this=exp.Star(), big_int=True), "bigint"))


def scalar_of(tree: exp.Expr) -> Scalar:
    """The scalar of a tree, which is its own from now on."""
    if isinstance(tree, exp.Column) and tree.type is not None and not tree.type.expressions:
        return column(ColumnRef(tree.table, tree.name), type_name(tree))
    return _scalar_of(tree)


def _scalar_of(tree: exp.Expr) -> Scalar:
    columns = set()
    simple = True
    for node in tree.walk():
        if isinstance(node, exp.Column):
            columns.add(ColumnRef(node.table, node.name))
        elif simple and type(node) not in _SIMPLE:
            simple = False
    return Scalar(_GENERATOR.generate(tree, copy=not simple), type_name(tree), frozenset(columns), tree)


_SIMPLE = {
    exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Neg, exp.Not, exp.And, exp.Or,
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Sub, exp.Mul,
}  # fmt: skip
"""What the generator writes without changing it first, so that no copy is needed."""


def write(tree: exp.Expr) -> str:
    """The tree as Spark SQL."""
    return _GENERATOR.generate(tree)


def column_tree(ref: ColumnRef, type_: str) -> exp.Column:
    node = exp.column(_identifier(ref.name), table=_identifier(ref.input) if ref.input else None)
    node._type = data_type(type_)
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
def data_type(name: str) -> exp.DataType:
    if name == UNKNOWN:
        return exp.DataType(this=exp.DType.UNKNOWN)
    return exp.DataType.build(name, dialect=DIALECT)


def typed(tree: E, type_: str) -> E:
    tree._type = data_type(type_)
    return tree


def type_name(tree: exp.Expr) -> str:
    found = tree.type
    if found is None or found.this == exp.DType.UNKNOWN:
        return UNKNOWN
    return _spark_name(found.sql(dialect=DIALECT)) if found.expressions else _plain_name(found.this)


@cache
def _plain_name(kind: exp.DType) -> str:
    return _spark_name(exp.DataType(this=kind).sql(dialect=DIALECT))


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


_DERIVED = {WHOLE: whole_type, SUMMED: sum_type, MEAN: mean_type}


def with_type(tree: E, type_: str, args: list[exp.Expr]) -> E:
    """The tree with a type, or with the one that a rule gives for the arguments."""
    if type_ == FIRST:
        tree._type = args[0].type
        return tree
    if type_ in (COMMON, REST):
        types = [type_name(arg) for arg in (args if type_ == COMMON else args[1:])]
        return typed(tree, wider([t for t in types if t not in (UNKNOWN, "void")]))
    if type_ == ELEMENT:
        return typed(tree, inner_types(args[0])[-1])
    if type_ == REMAINDER:
        return typed(tree, arithmetic_type("%", *map(type_name, args)))
    if type_ == ROUNDED:
        places = args[1].to_py() if len(args) > 1 and args[1].is_int else 0
        return typed(tree, rounded_type(type_name(args[0]), places))
    return typed(tree, _DERIVED[type_](type_name(args[0])) if type_ in _DERIVED else type_)


def inner_types(tree: exp.Expr) -> tuple[str, ...]:
    """The types of what an array or a map holds; unknown if it is neither."""
    inner = tree.type.expressions if tree.type is not None else []
    return tuple(_spark_name(type_.sql(dialect=DIALECT)) for type_ in inner) or (UNKNOWN,)


def operand_of(tree: exp.Expr, *, beside: tuple[type[exp.Expr], ...] = ()) -> exp.Expr:
    """The tree in parentheses, unless it binds tightly enough to stand bare."""
    if isinstance(tree, beside):
        return tree
    infix = (exp.Connector, exp.RegexpLike, exp.Not, exp.Neg, exp.Between, exp.In, exp.Is, exp.Escape)
    plain_binary = isinstance(tree, exp.Binary) and not isinstance(tree, exp.Func | exp.Dot)
    if isinstance(tree, infix) or plain_binary:
        return typed_like(exp.Paren(this=tree), tree)
    return tree


def typed_like(tree: E, other: exp.Expr) -> E:
    tree._type = other.type
    return tree
