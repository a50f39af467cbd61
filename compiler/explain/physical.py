"""The physical plan as text, as data and as a drawing."""

from __future__ import annotations

from typing import Any

from penstock.compiler.explain.shared import what
from penstock.compiler.explain.words import age, listed, literal, tally_text
from penstock.compiler.physical import (
    AggregateWindows,
    Ingest,
    KeepChain,
    Operator,
    PhysicalPlan,
    Probe,
    Route,
    Write,
)


def explain_physical(plan: PhysicalPlan) -> str:
    """One paragraph for each operator, each after those it reads."""
    return "\n".join(line for operator in plan.operators for line in _paragraph(operator))


def _paragraph(operator: Operator) -> list[str]:
    lines = [f"{operator.id}  {summary(operator)}"]
    if operator.inputs:
        lines.append(f"    reads {', '.join(operator.inputs)}")
    lines.append(f"    state {operator.state()}")
    return lines


def summary(operator: Operator) -> str:
    """What an operator does, in one line."""
    match operator:
        case Ingest():
            kind = "the results of" if operator.derived else "stream"
            return f"read {kind} {operator.stream} ({', '.join(name for name, _ in operator.columns)})"
        case KeepChain():
            chain = operator.chain
            cuts = [age(chain, boundary) for boundary in chain.boundaries]
            scope = f" for {chain.scope} alone" if chain.scope else ""
            if not chain.reach:
                return f"pass {chain.stream} on{scope}"
            kind = "by reach" if chain.partitioned else "by age"
            return f"keep {chain.stream}{scope} {kind}: {listed(cuts, most=12)}"
        case Probe():
            return f"join {operator.join.name}"
        case Route():
            names = [member.query for member in operator.members]
            return f"route {what(operator.shape)} → {listed(names, what='other queries')}"
        case AggregateWindows():
            return f"add up {tally_text(operator.tally)}"
        case Write():
            return f"write {', '.join(column.name for column in operator.shape.columns)} to {operator.target}"
    raise TypeError(operator)


def to_data(plan: PhysicalPlan) -> list[dict[str, Any]]:
    """The plan as lists and dicts, for JSON."""
    return [
        {
            "id": operator.id,
            "kind": operator.kind,
            "does": summary(operator),
            "inputs": list(operator.inputs),
            "state": operator.state(),
            **_details(operator),
        }
        for operator in plan.operators
    ]


def _details(operator: Operator) -> dict[str, Any]:
    match operator:
        case Ingest():
            return {"stream": operator.stream, "columns": dict(operator.columns)}
        case KeepChain():
            chain = operator.chain
            return {
                "stream": chain.stream,
                "boundaries": list(chain.boundaries),
                "unit": "rows" if chain.rows else "µs",
            }
        case Probe():
            return {"orders": [list(order) for order in operator.join.orders]}
        case Route():
            return {
                "conditions": [condition.sql for condition in operator.shape.conditions],
                "parameters": list(operator.shape.parameters),
                "queries": {
                    member.query: {
                        "windows": [str(window) if window else None for window in member.windows],
                        "constants": [literal(constant) for constant in member.constants],
                    }
                    for member in operator.members
                },
            }
        case Write():
            return {"target": operator.target}
    return {}


def to_mermaid(plan: PhysicalPlan) -> str:
    """The plan as a Mermaid flowchart."""
    lines = ["flowchart TD"]
    for operator in plan.operators:
        lines.append(f'  {_node(operator.id)}["{_label(operator)}"]')
        lines += [f"  {_node(source)} --> {_node(operator.id)}" for source in operator.inputs]
    return "\n".join(lines)


def _node(id_: str) -> str:
    return id_.replace("-", "_")


def _label(operator: Operator) -> str:
    text = summary(operator)
    text = text if len(text) <= 120 else text[:117] + "…"
    return text.replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;").replace("`", "")
