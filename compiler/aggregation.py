"""Groups and aggregates of one SELECT: which there are, and what stands above them."""

from __future__ import annotations

from collections.abc import Callable

from penstock.compiler.functions import AGGREGATES
from penstock.compiler.logical import Named
from penstock.compiler.scalar import (
    ColumnRef,
    Scalar,
    call,
    check_arguments,
    column,
    count_all,
    definite,
    translate,
)
from penstock.compiler.scope import Scope
from penstock.compiler.types import comparable
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError

Leaf = Callable[[ast.Expr], Scalar | None]


def contains_aggregate(expr: ast.Expr) -> bool:
    """Whether an aggregate is called anywhere in it."""
    return any(node.name.lower() in AGGREGATES for node in expr.find_all(ast.Call))


class Aggregation:
    """Collects the groups and aggregates, each once, and gives the columns they become."""

    def __init__(self, scope: Scope, below: Leaf, scalar_call: Callable[[ast.Call, Leaf], Scalar]) -> None:
        self._scope = scope
        self._below = below
        self._scalar_call = scalar_call
        self._groups: dict[Scalar, str] = {}
        self._aggregates: dict[Scalar, str] = {}

    @property
    def groups(self) -> tuple[Named, ...]:
        return tuple(Named(name, expr) for expr, name in self._groups.items())

    @property
    def aggregates(self) -> tuple[Named, ...]:
        return tuple(Named(name, expr) for expr, name in self._aggregates.items())

    def add_group(self, expr: Scalar, node: ast.Syntax) -> None:
        """Group by an expression."""
        if not comparable(expr.type):
            raise _incomparable(node)
        refuse_interval(expr, node, "a group")
        self._groups.setdefault(definite(expr), f"g{len(self._groups) + 1}")

    def group_column(self, expr: Scalar) -> Scalar:
        """The column that a group becomes."""
        expr = definite(expr)
        return column(ColumnRef("", self._groups[expr]), expr.type)

    def leaf(self, node: ast.Expr) -> Scalar | None:
        """What a node above the aggregation stands for; None if its parts must be looked at."""
        if isinstance(node, ast.Call) and node.name.lower() in AGGREGATES:
            return self._aggregate(node)
        if isinstance(node, ast.Star):
            return self._below(node)
        if not contains_aggregate(node) and not isinstance(node, _LITERALS):
            grouped = self._grouped(node)
            if grouped is not None:
                return grouped
        if isinstance(node, ast.Column):
            found = self._scope.resolve(node)
            raise PenstockError(
                f"{found} is neither grouped nor aggregated",
                span=node.span,
                hint=f"Add  GROUP BY {found}, or use an aggregate such as  MAX({found}).",
                label="not-grouped",
            )
        return self._scalar_call(node, self.leaf) if isinstance(node, ast.Call) else None

    def _grouped(self, node: ast.Expr) -> Scalar | None:
        if not self._groups:
            return None
        expr = translate(node, self._below)
        return self.group_column(expr) if definite(expr) in self._groups else None

    def _aggregate(self, node: ast.Call) -> Scalar:
        name = node.name.lower()
        if any(contains_aggregate(arg) for arg in node.args):
            raise PenstockError(
                "an aggregate cannot stand inside an aggregate",
                span=node.span,
                hint="Name the inner query with CREATE QUERY, then aggregate FROM it.",
                label="nested-aggregate",
            )
        if node.distinct and name != "count":
            raise PenstockError(
                f"{name.upper()}(DISTINCT …) is not known",
                span=node.span,
                hint="DISTINCT goes with COUNT only.",
                label="distinct",
            )
        if name == "count" and len(node.args) == 1 and isinstance(node.args[0], ast.Star):
            expr = count_all()
        else:
            args = check_arguments(node, AGGREGATES[name], lambda arg: translate(arg, self._below))
            for arg, part in zip(args, node.args, strict=True):
                if node.distinct and not comparable(arg.type):
                    raise _incomparable(part)
                if node.distinct or name != "count":
                    refuse_interval(arg, part, "what is aggregated")
            if node.distinct or name in ("min", "max"):
                args = list(map(definite, args))
            expr = call(name, args, AGGREGATES[name].type, distinct=node.distinct)
        slot = self._aggregates.setdefault(expr, f"a{len(self._aggregates) + 1}")
        return column(ColumnRef("", slot), expr.type)


def refuse_interval(expr: Scalar, node: ast.Syntax, what: str) -> None:
    """Raise an error for an interval where values are kept: there are files that cannot hold it."""
    if expr.type == "interval":
        raise PenstockError(
            f"{what} cannot be an interval",
            span=node.span,
            hint="Write  unix_micros(B.ts) - unix_micros(A.ts)  for the microseconds between two times.",
            label="interval",
        )


def _incomparable(node: ast.Syntax) -> PenstockError:
    return PenstockError(
        "maps cannot be compared, so they have no groups",
        span=node.span,
        hint="Take one of its values, such as  element_at(A.tags, 'x').",
        label="type-mismatch",
    )


_LITERALS = (ast.Number, ast.String, ast.Boolean, ast.Null, ast.Moment, ast.Interval)
