"""Penstock: many standing window queries over data streams, one shared plan on Spark."""

from penstock.api import CompiledQueries, CompiledQuery, compile
from penstock.catalog import Catalog
from penstock.grammar.errors import PenstockError, PenstockErrors
from penstock.live import Subscription
from penstock.session import QueryHandle, Session

__version__ = "0.1.0"

__all__ = [
    "Catalog",
    "CompiledQueries",
    "CompiledQuery",
    "PenstockError",
    "PenstockErrors",
    "QueryHandle",
    "Session",
    "Subscription",
    "__version__",
    "compile",
]
