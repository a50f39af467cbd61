"""The catalog: streams and relations, their columns, sources and statistics."""

from penstock.catalog.dump import catalog_data
from penstock.catalog.load import load_catalog, parse_catalog
from penstock.catalog.model import (
    Catalog,
    CatalogError,
    Column,
    Origin,
    Relation,
    SourceSpec,
    Statistics,
    Stream,
)
from penstock.catalog.types import parse_type

__all__ = [
    "Catalog",
    "CatalogError",
    "Column",
    "Origin",
    "Relation",
    "SourceSpec",
    "Statistics",
    "Stream",
    "catalog_data",
    "load_catalog",
    "parse_catalog",
    "parse_type",
]
