"""The rules that turn bound queries into one shared plan, in the order in which they are applied."""

from penstock.compiler.rules.context import Context, Rule
from penstock.compiler.rules.fold_constants import fold_constants
from penstock.compiler.rules.group_queries import group_queries
from penstock.compiler.rules.name_groups import name_groups
from penstock.compiler.rules.name_inputs import name_inputs
from penstock.compiler.rules.order_joins import order_joins
from penstock.compiler.rules.push_down_selections import push_down_selections
from penstock.compiler.rules.slice_state import slice_state
from penstock.compiler.rules.tag_reach import tag_reach

RULES: tuple[Rule, ...] = (
    fold_constants,
    push_down_selections,
    name_inputs,
    name_groups,
    group_queries,
    order_joins,
    tag_reach,
    slice_state,
)

__all__ = ["RULES", "Context", "Rule"]
