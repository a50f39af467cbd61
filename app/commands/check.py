"""`penstock check`: is every definition and query right?"""

from __future__ import annotations

from penstock.commands.common import CatalogOption, Targets, compile_targets, count
from penstock.verbosity import say


def check(
    targets: Targets = None,
    catalog: CatalogOption = None,
) -> None:
    """Compile every query of a project or of some files, and say what is wrong.

    Examples:
      penstock check                       the project around the current folder
      penstock check my-project
      penstock check queries/hot.cql       one file, with the catalog of its project
    """
    result = compile_targets(targets, catalog)
    streams, relations = len(result.catalog.streams), len(result.catalog.relations)
    say(
        f"{count(len(result), 'query', 'queries')}, {count(streams, 'stream')} and "
        f"{count(relations, 'relation')}: no mistakes"
    )
