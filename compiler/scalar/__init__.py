"""Scalar expressions, carried, typed and written as Spark SQL by sqlglot.

Nothing else imports sqlglot. A `Scalar` is a value: two are equal when their Spark SQL is.
"""

from penstock.compiler.scalar.aggregate import AggregateCall, aggregate_call
from penstock.compiler.scalar.fold import conjuncts, folded, is_true, narrowed
from penstock.compiler.scalar.shape import (
    PARAMETERS,
    Constant,
    comparison_of,
    equal,
    equality,
    literal_of,
    outline,
    parametrised,
    renamed,
    renumbered,
    replaced,
)
from penstock.compiler.scalar.translate import check_arguments, translate
from penstock.compiler.scalar.value import ColumnRef, Scalar, call, column, count_all, definite

__all__ = [
    "PARAMETERS",
    "AggregateCall",
    "ColumnRef",
    "Constant",
    "Scalar",
    "aggregate_call",
    "call",
    "check_arguments",
    "column",
    "comparison_of",
    "conjuncts",
    "count_all",
    "definite",
    "equal",
    "equality",
    "folded",
    "is_true",
    "literal_of",
    "narrowed",
    "outline",
    "parametrised",
    "renamed",
    "renumbered",
    "replaced",
    "translate",
]
