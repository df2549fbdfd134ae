"""HTML files that need nothing beside them, for a phone or a wide screen, by day or night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from PIL import Image

from vse_zoo.evaluation.pictures import data_uri
from vse_zoo.evaluation.tables import LANGUAGE_NAMES

__all__ = ["html_page", "image_tag", "language_name"]

_LISTED = 3
"""Parts from which on a page has a list of them."""


def html_page(title: str, facts: Mapping[str, str], parts: Sequence[tuple[str, str, str]], script: str = "") -> str:
    """A page with everything in it.

    Args:
        title: its heading, as text.
        facts: shown below it, by name, as text.
        parts: of (heading, note, content): text, text and HTML.
        script: JavaScript that runs when all parts are there.
    """
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    body = "".join(
        f'<section id="part-{number}" aria-labelledby="h-{number}"><h2 id="h-{number}">{escape(heading)}</h2>'
        f"{f'<p class=dim>{escape(note)}</p>' if note else ''}{content}</section>"
        for number, (heading, note, content) in enumerate(parts, 1)
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n"
        f"<body><header><h1>{escape(title)}</h1>{f'<dl>{listed}</dl>' if listed else ''}{_contents(parts)}</header>"
        f"<main>{body}</main>{f'<script>{script}</script>' if script else ''}</body></html>\n"
    )


def _contents(parts: Sequence[tuple[str, str, str]]) -> str:
    if len(parts) < _LISTED:
        return ""
    links = "".join(f'<li><a href="#part-{n}">{escape(heading)}</a></li>' for n, (heading, _, _) in enumerate(parts, 1))
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'


def image_tag(image: Image.Image, alt: str) -> str:
    """The picture, as large as it is, inside the page."""
    return f'<img src="{data_uri(image)}" alt="{escape(alt)}" width="{image.width}" height="{image.height}">'


def language_name(language: str) -> str:
    """A language's English name as HTML, or its code where that isn't known."""
    return escape(LANGUAGE_NAMES.get(language, language))
