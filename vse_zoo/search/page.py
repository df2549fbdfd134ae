"""The results of a search as one HTML file, with the photos in it."""

from __future__ import annotations

from html import escape
from pathlib import Path

from vse_zoo.errors import ImageError
from vse_zoo.evaluation.page import html_page, image_tag, language_name
from vse_zoo.evaluation.pictures import thumbnail
from vse_zoo.files import write_text
from vse_zoo.images import load_image
from vse_zoo.search.answers import Answer, Result, readable

__all__ = ["write_page"]

_SIDE = 320
"""Pixels of a photo's longer side."""


def write_page(answer: Answer, path: Path) -> None:
    """Writes an answer's photos, scores and file names; a photo that can't be opened any more leaves its name."""
    facts = {"Photos searched": f"{answer.photos:,}"}
    if answer.language:
        facts["Language"] = language_name(answer.language)
    if notice := answer.notice():
        facts["Note"] = notice
    if answer.unknown:
        facts["Words that the model doesn't know"] = ", ".join(answer.unknown)
    cards = "".join(_card(number, result) for number, result in enumerate(answer.results, 1))
    content = f'<div class="cards">{cards}</div>' if cards else "<p>Nothing found.</p>"
    note = "Right: how often results at this score were right on the photos that the model was tested on."
    measured = any(result.confidence is not None for result in answer.results)
    write_text(path, html_page(answer.query, facts, [("Photos", note if measured else "", content)]))


def _card(number: int, result: Result) -> str:
    name = escape(readable(result.path))
    try:
        picture = image_tag(thumbnail(load_image(result.path), _SIDE), f"found as number {number}: {result.path.name}")
    except ImageError:
        picture = '<div class="missing">can\'t be opened</div>'
    right = "" if result.confidence is None else f", right {result.confidence:.0%}{' (weak)' if result.weak else ''}"
    copies = "".join(f"<li>{escape(readable(copy))}</li>" for copy in result.copies)
    return (
        f'<article class="card">{picture}<h3>{number}. <span class="score">{result.score:.3f}{right}</span></h3>'
        f'<p class="dim"><a href="{escape(result.path.as_uri())}">{name}</a></p>'
        f"{f'<p class=dim>Copies:</p><ul>{copies}</ul>' if copies else ''}</article>"
    )
