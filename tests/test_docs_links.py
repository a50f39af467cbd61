"""The links of the documentation: each leads to a file, and to a heading in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


def _text(path: Path) -> str:
    """A page without its examples."""
    return FENCED.sub("", path.read_text(encoding="utf-8"))


def _anchors(path: Path) -> set[str]:
    """What can stand after # in a link to a page: its headings, in small letters and with - for spaces."""
    headings = re.findall(r"^#+ (.*)$", _text(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", _text(path)):
        if not link.startswith("https://"):
            target, _, anchor = link.partition("#")
            page = (path.parent / target).resolve() if target else path
            assert page.exists() and page.is_relative_to(ROOT), link
            assert not anchor or anchor in _anchors(page), link


def test_the_readme_leads_to_every_page() -> None:
    """README.md links to each page, or to the list of the folder it is in."""
    linked = {(ROOT / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", _text(ROOT / "README.md"))}
    lists = {page.parent for page in linked if page.name == "README.md"}
    assert [page for page in DOCS if page not in linked and page.parent not in lists] == []
