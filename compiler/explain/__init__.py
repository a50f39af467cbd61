"""Plans as text: the same plan always gives the same text."""

from penstock.compiler.explain.changes import explain_changes
from penstock.compiler.explain.cost import cost_data, explain_cost
from penstock.compiler.explain.logical import explain_logical
from penstock.compiler.explain.physical import explain_physical, to_data, to_mermaid
from penstock.compiler.explain.shared import explain_shared

__all__ = [
    "cost_data",
    "explain_changes",
    "explain_cost",
    "explain_logical",
    "explain_physical",
    "explain_shared",
    "to_data",
    "to_mermaid",
]
