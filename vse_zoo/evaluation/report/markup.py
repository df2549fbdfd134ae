"""Pieces of HTML that several parts of a report need."""

from __future__ import annotations

from html import escape

from vse_zoo.evaluation.page import image_tag
from vse_zoo.evaluation.report.content import Picture

__all__ = ["picture_tag", "sign", "verdict"]


def picture_tag(picture: Picture, side: int, role: str) -> str:
    """The picture, at most ``side`` pixels long; where it isn't at hand, a box with its name.

    Args:
        picture: what to show.
        side: of the thumbnail.
        role: what it is on the page, such as "query picture"; with the caption it is the alternative text.
    """
    small = picture.thumbnail(side)
    if small is None:
        return f'<div class="missing">no picture: {escape(picture.name)}</div>'
    return image_tag(small, f"{role}: {picture.description}" if picture.description else role)


def verdict(right: bool) -> str:
    """The class of an answer: "right" or "wrong"."""
    return "right" if right else "wrong"


def sign(right: bool) -> str:
    """✓ or ✗."""
    return f'<span class="sign" role="img" aria-label="{verdict(right)}">{"✓" if right else "✗"}</span>'
