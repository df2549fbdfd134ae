"""What was found for pictures and for sentences, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from vse_zoo.evaluation.page import language_name
from vse_zoo.evaluation.report.content import CaptionHit, ImageQuery, TextQuery
from vse_zoo.evaluation.report.markup import picture_tag, sign, verdict

__all__ = ["captions_section", "pictures_section"]

_QUERY, _FOUND = 420, 200
"""Pixels of the longer side."""


def captions_section(queries: Sequence[ImageQuery]) -> str:
    """A card for each picture with the captions found for it."""
    cards = []
    for query in queries:
        lists = "".join(_captions(language, rank, hits) for language, (rank, hits) in query.found.items())
        cards.append(f'<article class="card">{picture_tag(query.picture, _QUERY, "query picture")}{lists}</article>')
    return f'<div class="cards">{"".join(cards)}</div>'


def _captions(language: str, rank: int, hits: Sequence[CaptionHit]) -> str:
    items = "".join(
        f'<li class="{verdict(hit.right)}">{sign(hit.right)}'
        f'<span lang="{escape(language)}" dir="auto">{escape(hit.text)}</span>'
        f'<span class="score">{hit.score:.2f}</span></li>'
        for hit in hits
    )
    heading = f'<h3>{language_name(language)} <span class="dim">its first own caption has rank {rank:,}</span></h3>'
    return f'{heading}<ol class="found">{items}</ol>'


def pictures_section(queries: Sequence[TextQuery]) -> str:
    """A card for each sentence with the pictures found for it."""
    cards = []
    for query in queries:
        items = "".join(
            f'<li class="{verdict(hit.right)}">{picture_tag(hit.picture, _FOUND, f"found as number {number}")}'
            f'{sign(hit.right)} <span class="score">{hit.score:.2f}</span></li>'
            for number, hit in enumerate(query.found, 1)
        )
        cards.append(
            f'<article class="card"><h3 lang="{escape(query.language)}" dir="auto">{escape(query.text)}</h3>'
            f'<span class="dim">{language_name(query.language)}; its own picture has rank {query.rank:,}</span>'
            f'<ol class="strip">{items}</ol></article>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'
