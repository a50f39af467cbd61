"""Example queries, one `.cql` file each, over the streams of `catalog/datacenter.yml`."""

from __future__ import annotations

from importlib import resources


def example_names() -> tuple[str, ...]:
    """The names of the example queries, sorted."""
    files = resources.files(__name__).iterdir()
    return tuple(sorted(file.name.removesuffix(".cql") for file in files if file.name.endswith(".cql")))


def example_text(name: str) -> str:
    """The text of an example query; a KeyError if there is none of that name."""
    if name not in example_names():
        raise KeyError(name)
    return resources.files(__name__).joinpath(f"{name}.cql").read_text(encoding="utf-8")
