"""`penstock check`: is every definition and query right?"""

from __future__ import annotations

import typer

from penstock.commands.common import CatalogOption, Quiet, Targets, compile_targets, count


def check(
    targets: Targets = None,
    catalog: CatalogOption = None,
    quiet: Quiet = False,
) -> None:
    """Compile every query of a project or of some files, and say what is wrong.

    Examples:  penstock check;  penstock check my-project;  penstock check queries/hot.cql
    """
    result = compile_targets(targets, catalog)
    if not quiet:
        streams, relations = len(result.catalog.streams), len(result.catalog.relations)
        typer.echo(
            f"{count(len(result), 'query', 'queries')}, {count(streams, 'stream')} and "
            f"{count(relations, 'relation')}: no mistakes",
            err=True,
        )
