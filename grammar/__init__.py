"""The language: text to syntax tree and back."""

from penstock.grammar import ast
from penstock.grammar.errors import PenstockError, PenstockErrors, render
from penstock.grammar.parser import parse_query, parse_script, parse_statement, split_statements
from penstock.grammar.printer import to_sql
from penstock.grammar.source import Source, Span

__all__ = [
    "PenstockError",
    "PenstockErrors",
    "Source",
    "Span",
    "ast",
    "parse_query",
    "parse_script",
    "parse_statement",
    "render",
    "split_statements",
    "to_sql",
]
