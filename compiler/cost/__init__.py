"""What plans cost, in the symbols of the papers."""

from penstock.compiler.cost.chain import OBJECTIVES, Chain, best_chain, build_chain, chain_through
from penstock.compiler.cost.chain_load import ChainLoad
from penstock.compiler.cost.equations import Savings, equation_1, equation_2, equation_3, equation_4
from penstock.compiler.cost.multiway import (
    general_cost,
    intermediate_size,
    multiway_cost,
    naive_cost,
    origin_cost,
)
from penstock.compiler.cost.ordering import all_orders, best_order_heuristic, order_for_origin
from penstock.compiler.cost.sharing import STRATEGIES, sharing_cost
from penstock.compiler.cost.table3 import Setting, table_3
from penstock.compiler.cost.workload import Cost, QueryLoad, Selection, SharedJoin

__all__ = [
    "OBJECTIVES",
    "STRATEGIES",
    "Chain",
    "ChainLoad",
    "Cost",
    "QueryLoad",
    "Savings",
    "Selection",
    "Setting",
    "SharedJoin",
    "all_orders",
    "best_chain",
    "best_order_heuristic",
    "build_chain",
    "chain_through",
    "equation_1",
    "equation_2",
    "equation_3",
    "equation_4",
    "general_cost",
    "intermediate_size",
    "multiway_cost",
    "naive_cost",
    "order_for_origin",
    "origin_cost",
    "sharing_cost",
    "table_3",
]
