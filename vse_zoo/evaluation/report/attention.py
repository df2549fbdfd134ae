"""Where a model looks, as HTML: every head over picture and sentence, or every word over the picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from vse_zoo.evaluation.explanation.content import Explanation, word_pictures
from vse_zoo.evaluation.page import image_tag, language_name
from vse_zoo.evaluation.pictures import attention_maps, thumbnail
from vse_zoo.evaluation.report.content import AttendedImage

__all__ = ["attention_section", "words_section"]

_HEAD, _WORD = 320, 200
"""Pixels of the longer side."""


def attention_section(pictures: Sequence[AttendedImage]) -> str:
    """A card for each picture: beside it every head's map, each above the words that the same head looks at."""
    cards = [f'<article class="card"><div class="heads">{_heads(each)}</div></article>' for each in pictures]
    few = all(len(each.weights) == 1 for each in pictures)
    return f'<div class="wide{" narrow" if few else ""}">{"".join(cards)}</div>'


def _heads(attended: AttendedImage) -> str:
    image = attended.picture.thumbnail(_HEAD)
    assert image is not None  # who can't open a picture shows no attention over it
    alt = f"the picture: {attended.picture.description}"
    figures = [f"<figure>{image_tag(image, alt)}<figcaption>the picture</figcaption></figure>"]
    for number, heat in enumerate(attention_maps(image, attended.weights, attended.boxes, attended.grid)):
        sentences = "".join(_words(language, words, w[number]) for language, words, w in attended.sentences)
        least, most = (100 * float(bound) for bound in (attended.weights[number].min(), attended.weights[number].max()))
        figures.append(
            f"<figure>{image_tag(heat, f'attention of head {number + 1}')}<figcaption>head {number + 1} "
            f'<span class="dim">regions: {least:.3g} to {most:.3g} %</span>{sentences}</figcaption></figure>'
        )
    return "".join(figures)


def _words(language: str, words: Sequence[str], weights: NDArray[np.floating]) -> str:
    """The sentence, each word the darker the more weight it has; the number shows on hover."""
    largest = max(float(np.max(weights, initial=0)), 1e-12)
    marked = " ".join(
        f'<span class="word" style="--weight:{100 * weight / largest:.0f}%" title="{weight:.2f}">{escape(word)}</span>'
        for word, weight in zip(words, weights.tolist(), strict=False)  # weights are padded to the longest sentence
    )
    return f'<p lang="{escape(language)}" dir="auto">{marked}</p>'


def words_section(explanations: Sequence[Explanation]) -> str:
    """A card for each picture and sentence: the picture, and where each word is seen in it."""
    cards = []
    for each in explanations:
        image = thumbnail(each.image, _WORD)
        figures = [
            f"<figure>{image_tag(image, f'the picture: {each.caption}')}<figcaption>the picture</figcaption></figure>"
        ]
        for word, picture in zip(each.alignment.words, word_pictures(each, _WORD), strict=True):
            figures.append(
                f"<figure>{image_tag(picture, f'where {word} is seen')}"
                f'<figcaption lang="{escape(each.language)}">{escape(word)}</figcaption></figure>'
            )
        cards.append(
            f'<article class="card"><h3 lang="{escape(each.language)}" dir="auto">{escape(each.caption)}</h3>'
            f'<span class="dim">{language_name(each.language)}; score {each.alignment.score:.2f}</span>'
            f'<div class="heads words">{"".join(figures)}</div></article>'
        )
    return f'<div class="wide">{"".join(cards)}</div>'
