"""Examples for a report, drawn by chance, and what the model says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data.dataset import Dataset
from vse_zoo.evaluation.evaluate import Encoded, embed_captions, embed_images
from vse_zoo.evaluation.report.content import CaptionHit, ImageQuery, PictureHit, TextQuery
from vse_zoo.evaluation.report.opening import Pictures

__all__ = ["Captions", "EmbeddedSplit", "ask_about_pictures", "ask_about_sentences", "embed_split"]

_SHOWN = 5
"""Answers shown for each query."""


@dataclass(frozen=True, eq=False)
class Captions:
    """A split's M captions of one language: texts, the (M,) rows of their images, and what they are encoded to."""

    texts: list[str]
    owners: NDArray[np.int64]
    encoded: Any


@dataclass(frozen=True, eq=False)
class EmbeddedSplit:
    """A split as a model sees it: the (N,) rows of its images with captions, what they are encoded to, the captions."""

    rows: NDArray[np.int64]
    images: Any
    captions: dict[str, Captions]

    def searched(self, language: str) -> tuple[NDArray[np.int64], Any]:
        """The rows that have captions in a language, and what they are encoded to."""
        rows = np.unique(self.captions[language].owners)
        return rows, self.images[np.searchsorted(self.rows, rows)]

    @property
    def in_all_languages(self) -> NDArray[np.int64]:
        """Rows with captions in every language; those of any language if there are none."""
        common = set(self.rows.tolist()).intersection(*(each.owners.tolist() for each in self.captions.values()))
        return np.array(sorted(common)) if common else self.rows


def embed_split(model: Any, dataset: Dataset, split: str, languages: Sequence[str], bar: Any) -> EmbeddedSplit:
    """Encodes a split's pictures and captions; the bar moves by one for the pictures and each language."""
    texts = {language: dataset.captions(split, language) for language in languages}
    rows = np.unique(np.concatenate([owners for _, owners in texts.values()]))
    images: Encoded = embed_images(model, dataset, rows)
    bar.advance()
    captions = {}
    for language, (sentences, owners) in texts.items():
        captions[language] = Captions(sentences, owners, embed_captions(model, sentences, language))
        bar.advance()
    return EmbeddedSplit(rows, images, captions)


def ask_about_pictures(
    model: Any, split: EmbeddedSplit, pictures: Pictures, drawn: NDArray[np.int64]
) -> list[ImageQuery]:
    """The captions found for the images of the drawn rows."""
    queries = []
    for row in map(int, drawn):
        at = int(np.searchsorted(split.rows, row))
        found = {}
        for language, captions in split.captions.items():
            own = captions.owners == row
            if own.any():
                scores = model.similarity(split.images[at : at + 1], captions.encoded)[0]
                rank = 1 + int(np.count_nonzero(scores[~own] >= scores[own].max()))
                hits = [CaptionHit(captions.texts[t], float(scores[t]), bool(own[t])) for t in _best(scores)]
                found[language] = rank, hits
        queries.append(ImageQuery(pictures.open(row), found))
    return queries


def ask_about_sentences(
    model: Any, split: EmbeddedSplit, pictures: Pictures, number: int, random: np.random.Generator
) -> list[TextQuery]:
    """The pictures found for ``number`` sentences of each language, drawn by chance."""
    queries = []
    for language, captions in split.captions.items():
        rows, images = split.searched(language)
        for t in random.permutation(len(captions.texts))[:number].tolist():
            own = int(captions.owners[t])
            scores = model.similarity(images, captions.encoded[t : t + 1])[:, 0]
            rank = int(np.count_nonzero(scores >= scores[np.searchsorted(rows, own)]))  # itself included: 1-based
            hits = [PictureHit(pictures.open(int(rows[i])), float(scores[i]), rows[i] == own) for i in _best(scores)]
            queries.append(TextQuery(captions.texts[t], language, rank, hits))
    return queries


def _best(scores: NDArray[np.floating]) -> list[int]:
    return np.argsort(-scores, kind="stable")[:_SHOWN].tolist()
