"""Scalar expressions, carried, typed and written as Spark SQL by sqlglot.

Nothing else imports sqlglot. A `Scalar` is a value: two are equal when their Spark SQL is.
"""

from penstock.compiler.scalar.translate import check_arity, translate
from penstock.compiler.scalar.value import ColumnRef, Scalar, call, column, count_all

__all__ = ["ColumnRef", "Scalar", "call", "check_arity", "column", "count_all", "translate"]
