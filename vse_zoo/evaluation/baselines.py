"""Rows to read figures against: chance, and any other model or bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vse_zoo.evaluation.retrieval import RetrievalFigures

__all__ = ["Comparison", "Recalls", "chance", "recalls_of"]

Recalls = tuple[float | None, float | None, float | None]
"""R@1, R@5, R@10 in percent; None where not known."""


@dataclass(frozen=True)
class Comparison:
    """A row of a table: a name, and for each language the recalls of image to text and of text to image."""

    name: str
    recalls: Mapping[str, tuple[Recalls, Recalls]]


def recalls_of(figures: RetrievalFigures) -> tuple[Recalls, Recalls]:
    """Both directions' recalls of measured figures."""
    return figures.i2t.recalls, figures.t2i.recalls


def chance(text_image: ArrayLike) -> tuple[Recalls, Recalls]:
    """Expected recalls of a random order, given each caption's image (M,).

    With c own captions of M, an image query misses the top K with probability C(M−c, K) / C(M, K), the
    product over j < K of (M−c−j)/(M−j).
    """
    counts = np.unique(np.asarray(text_image), return_counts=True)[1].astype(np.float64)
    captions, images = counts.sum(), len(counts)

    def image_hits(k: int) -> float:
        drawn = np.arange(min(k, int(captions)))
        misses = np.prod(np.clip(captions - counts[:, None] - drawn, 0, None) / (captions - drawn), axis=1)
        return 100 * float(np.mean(1 - misses))

    def caption_hits(k: int) -> float:
        return 100 * min(k, images) / images

    return (image_hits(1), image_hits(5), image_hits(10)), (caption_hits(1), caption_hits(5), caption_hits(10))
