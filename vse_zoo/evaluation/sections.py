"""The parts of a report: tables, galleries and attention, from plain values to HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vse_zoo.evaluation.baselines import Comparison, Recalls, recalls_of
from vse_zoo.evaluation.pictures import attention_maps, data_uri, thumbnail
from vse_zoo.evaluation.retrieval import RetrievalFigures
from vse_zoo.evaluation.tables import LANGUAGE_NAMES

__all__ = [
    "AttendedImage",
    "CaptionHit",
    "ImageQuery",
    "PictureHit",
    "TextQuery",
    "attention_section",
    "captions_section",
    "figures_section",
    "pictures_section",
]


@dataclass(frozen=True)
class CaptionHit:
    """A caption that was found: its text, its score, and whether it is the picture's own."""

    text: str
    score: float
    right: bool


@dataclass(frozen=True)
class ImageQuery:
    """A picture and the captions found for it in each language, best first."""

    image: Image.Image
    found: Mapping[str, Sequence[CaptionHit]]


@dataclass(frozen=True)
class PictureHit:
    """A picture that was found: its score, and whether the sentence was written for it."""

    image: Image.Image
    score: float
    right: bool


@dataclass(frozen=True)
class TextQuery:
    """A sentence, the pictures found for it, best first, and the rank of its own."""

    text: str
    language: str
    rank: int
    found: Sequence[PictureHit]


@dataclass(frozen=True)
class AttendedImage:
    """A picture, its weights (K, R) over boxes (R, 4), and sentences: (language, words, weights (K, T))."""

    image: Image.Image
    weights: NDArray[np.floating]
    boxes: NDArray[np.floating]
    sentences: Sequence[tuple[str, Sequence[str], NDArray[np.floating]]]


def figures_section(figures: Mapping[str, RetrievalFigures], comparisons: Sequence[Comparison]) -> str:
    """A table for each language: the model, then the rows to read it against."""
    return "".join(_figures_table(language, each, comparisons) for language, each in figures.items())


def _figures_table(language: str, figures: RetrievalFigures, comparisons: Sequence[Comparison]) -> str:
    others = [(each.name, each.recalls[language]) for each in comparisons if language in each.recalls]
    rows = "".join(_figures_row(name, recalls, name == "this model") for name, recalls in
                   [("this model", recalls_of(figures)), *others])  # fmt: skip
    title = f"{_name(language)}: {figures.images:,} images, {figures.texts:,} captions"
    recall_names = "<th>R@1</th><th>R@5</th><th>R@10</th>"
    return (
        f'<div class="scroll"><table><caption>{escape(title)}</caption><thead><tr><th></th>'
        '<th class="group" colspan="3">image → text</th><th class="group" colspan="3">text → image</th></tr>'
        f"<tr><th></th>{recall_names}{recall_names}</tr></thead><tbody>{rows}</tbody></table></div>"
        f'<p class="dim">Median rank: image → text {figures.i2t.median_rank:g}, text → image '
        f"{figures.t2i.median_rank:g}; rsum {figures.rsum:.1f} of 600.</p>"
    )


def _figures_row(name: str, recalls: tuple[Recalls, Recalls], main: bool) -> str:
    cells = "".join(
        f'<td class="{"first" if number == 0 else ""}">{"–" if value is None else f"{value:.1f}"}</td>'
        for way in recalls
        for number, value in enumerate(way)
    )
    return f'<tr class="{"main" if main else ""}"><th>{escape(name)}</th>{cells}</tr>'


def captions_section(queries: Sequence[ImageQuery]) -> str:
    """A card for each picture with the captions found for it."""
    cards = []
    for query in queries:
        lists = "".join(
            f'<h3>{_name(language)}</h3><ol class="found">{"".join(map(_caption_item, hits))}</ol>'.replace(
                "<span dir", f'<span lang="{escape(language)}" dir'
            )
            for language, hits in query.found.items()
        )
        cards.append(f'<article class="card">{_img(query.image, "query picture")}{lists}</article>')
    return f'<div class="cards">{"".join(cards)}</div>'


def _caption_item(hit: CaptionHit) -> str:
    return (
        f'<li class="{_class(hit.right)}">{_sign(hit.right)}<span dir="auto">{escape(hit.text)}</span>'
        f'<span class="score">{hit.score:.2f}</span></li>'
    )


def pictures_section(queries: Sequence[TextQuery]) -> str:
    """A card for each sentence with the pictures found for it."""
    cards = []
    for query in queries:
        items = "".join(
            f'<li class="{_class(hit.right)}">{_img(hit.image, "found picture", 200)}{_sign(hit.right)} '
            f'<span class="score">{hit.score:.2f}</span></li>'
            for hit in query.found
        )
        cards.append(
            f'<article class="card"><h3 lang="{escape(query.language)}" dir="auto">{escape(query.text)}</h3>'
            f'<span class="dim">{_name(query.language)}; its own picture has rank {query.rank:,}</span>'
            f'<ol class="strip">{items}</ol></article>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def attention_section(pictures: Sequence[AttendedImage]) -> str:
    """A card for each picture: beside it every head's map, each above the words that the same head looks at."""
    cards = []
    for picture in pictures:
        image = thumbnail(picture.image)
        maps = attention_maps(image, picture.weights, picture.boxes)
        figures = [f"<figure>{_img(image, 'the picture')}<figcaption>the picture</figcaption></figure>"]
        for head, heat in enumerate(maps):
            sentences = "".join(_words(language, words, w[head]) for language, words, w in picture.sentences)
            figures.append(
                f"<figure>{_img(heat, f'attention of head {head + 1}')}"
                f"<figcaption>head {head + 1}{sentences}</figcaption></figure>"
            )
        cards.append(f'<article class="card"><div class="heads">{"".join(figures)}</div></article>')
    return f'<div class="wide">{"".join(cards)}</div>'


def _words(language: str, words: Sequence[str], weights: NDArray[np.floating]) -> str:
    """The sentence, each word the darker the more weight it has; the number shows on hover."""
    largest = max(float(np.max(weights, initial=0)), 1e-12)
    marked = " ".join(
        f'<span class="word" style="--weight:{100 * weight / largest:.0f}%" title="{weight:.2f}">{escape(word)}</span>'
        for word, weight in zip(words, weights.tolist(), strict=False)  # weights are padded to the longest sentence
    )
    return f'<p lang="{escape(language)}" dir="auto">{marked}</p>'


def _img(image: Image.Image, alt: str, side: int = 420) -> str:
    small = thumbnail(image, side)
    return f'<img src="{data_uri(small)}" alt="{escape(alt)}" width="{small.width}" height="{small.height}">'


def _class(right: bool) -> str:
    return "right" if right else "wrong"


def _sign(right: bool) -> str:
    return f'<span class="sign" title="{_class(right)}">{"✓" if right else "✗"}</span>'


def _name(language: str) -> str:
    return escape(LANGUAGE_NAMES.get(language, language))
