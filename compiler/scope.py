"""What the names in one SELECT stand for."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.compiler.logical import Plan
from penstock.compiler.scalar import ColumnRef, Scalar, column
from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, did_you_mean


@dataclass(frozen=True)
class Input:
    """One item of FROM, bound."""

    alias: str
    name: str
    plan: Plan
    columns: tuple[tuple[str, str], ...]
    hidden: str | None = None  # a column that `*` leaves out

    def find(self, name: str) -> Scalar | None:
        """The column of that name, whatever its case."""
        lower = name.lower()
        for known, type_ in self.columns:
            if known.lower() == lower:
                return column(ColumnRef(self.alias, known), type_)
        return None


@dataclass(frozen=True)
class Scope:
    """The inputs of one SELECT, and the expressions that its output columns are names for."""

    inputs: tuple[Input, ...]
    outputs: tuple[tuple[str, str], ...] = ()

    def input(self, name: str, node: ast.Expr) -> Input:
        """The input of that alias."""
        for candidate in self.inputs:
            if candidate.alias.lower() == name.lower():
                return candidate
        hint = did_you_mean(name, [candidate.alias for candidate in self.inputs])
        for candidate in self.inputs:
            if candidate.name.lower() == name.lower():
                hint = f"{candidate.name} is called {candidate.alias} in this query."
        raise PenstockError(f"nothing in FROM is called '{name}'", span=node.span, hint=hint, label="unknown-alias")

    def resolve(self, node: ast.Column) -> Scalar:
        """The column a name stands for."""
        if node.table is not None:
            source = self.input(node.table, node)
            found = source.find(node.name)
            if found is None:
                names = [name for name, _ in source.columns]
                raise PenstockError(
                    f"{source.name} has no column '{node.name}'",
                    span=node.span,
                    hint=did_you_mean(node.name, names),
                    label="unknown-column",
                )
            return found
        matches = [found for source in self.inputs if (found := source.find(node.name)) is not None]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise PenstockError(
                f"'{node.name}' could be {' or '.join(match.sql for match in matches)}",
                span=node.span,
                hint=f"Write {matches[0].sql} if that is the one you mean.",
                label="ambiguous-column",
            )
        hint = did_you_mean(node.name, {name for source in self.inputs for name, _ in source.columns})
        hint = f"{hint}\nA text stands in single quotes.".strip()
        for name, expression in self.outputs:
            if name.lower() == node.name.lower():
                hint = f"{name} is the name of an output column; write what it stands for:  {expression}"
        raise PenstockError(
            f"unknown column '{node.name}'",
            span=node.span,
            hint=hint,
            label="unknown-column",
        )

    def expand(self, star: ast.Star) -> list[tuple[Input, str]]:
        """The columns that `*` or `A.*` stands for."""
        sources = self.inputs if star.table is None else (self.input(star.table, star),)
        return [(source, name) for source in sources for name, _ in source.columns if name != source.hidden]
