"""Parentheses: trees are rewritten without them, and get those they need before they are written out."""

from __future__ import annotations

from sqlglot import exp

_SUMS, _PRODUCTS = (exp.Add, exp.Sub), (exp.Mul, exp.Div, exp.Mod)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_LIKES = (exp.Like, exp.ILike, exp.RegexpLike)
_TESTS = (exp.Between, exp.In, exp.Is, exp.Escape, *_LIKES)
_INFIX = (exp.Connector, exp.Not, exp.Neg, exp.DPipe, *_TESTS, *_COMPARISONS, *_SUMS, *_PRODUCTS)


def bare(tree: exp.Expr) -> exp.Expr:
    """A copy without parentheses."""
    copied = tree.copy()
    for paren in list(copied.find_all(exp.Paren)):
        inner = paren.this.pop()
        if paren is copied:
            copied = inner
        else:
            paren.replace(inner)
    return copied


def parenthesised(tree: exp.Expr) -> exp.Expr:
    """The tree, changed in place, with the parentheses it needs to be read as it is."""
    for node in list(tree.walk()):
        if isinstance(node, _INFIX) and node.parent is not None and _needed(node.parent, node):
            wrapper = exp.Paren()
            node.replace(wrapper)
            wrapper.set("this", node)
            wrapper._type = node.type
    return tree


def _needed(parent: exp.Expr, child: exp.Expr) -> bool:
    first = child.arg_key == "this"
    if isinstance(parent, exp.Connector):
        return isinstance(child, exp.Connector) and type(child) is not type(parent)
    if isinstance(parent, exp.Not):
        return not isinstance(child, _TESTS)
    if isinstance(parent, exp.Escape):
        return not isinstance(child, _LIKES)
    if isinstance(parent, exp.In):
        return first
    if isinstance(parent, _COMPARISONS):
        return not isinstance(child, _SUMS + _PRODUCTS)
    if isinstance(parent, _SUMS):
        return not isinstance(child, _SUMS + _PRODUCTS if first else _PRODUCTS)
    if isinstance(parent, _PRODUCTS):
        return not (first and isinstance(child, _PRODUCTS))
    if isinstance(parent, exp.DPipe):
        return not (first and isinstance(child, exp.DPipe))
    return isinstance(parent, (exp.Neg, *_TESTS))
