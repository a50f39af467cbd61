"""HTML made of elements, which XML readers take too: whatever is not markup already is text, and escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

_NOTHING_INSIDE = ("meta",)
_NOT_ALLOWED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Text that is markup."""

    __slots__ = ()


Inside = str | Iterable[str] | None
Value = str | int | float | None


def element(tag: str, /, *inside: Inside, **attributes: Value) -> Html:
    """An element: `class_` is written `class`, `data_from` is `data-from`; attributes that are None are left out."""
    own = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    return Html(f"<{tag}{own} />" if tag in _NOTHING_INSIDE else f"<{tag}{own}>{joined(*inside)}</{tag}>")


def joined(*parts: Inside) -> Html:
    """Parts one after the other."""
    return Html("".join(text(part) for inside in parts if inside for part in _each(inside)))


def text(plain: str) -> Html:
    """Text as markup."""
    return plain if isinstance(plain, Html) else Html(escape(_NOT_ALLOWED.sub("\ufffd", plain)))


def figure(value: float) -> str:
    """A number in a style or in a drawing."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(part: float) -> str:
    """A part of a whole in a style."""
    return f"{figure(100 * part)}%"


def count(number: int, one: str, many: str | None = None) -> str:
    """A number of things, in words."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _each(inside: str | Iterable[str]) -> Iterable[str]:
    return (inside,) if isinstance(inside, str) else inside


def _attribute(key: str, value: str | int | float) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f' {name}="{text(figure(value) if isinstance(value, float) else str(value))}"'
