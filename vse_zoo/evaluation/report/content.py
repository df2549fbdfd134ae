"""What a report shows, as plain values: what the model found, where it looks, and how pictures and captions lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vse_zoo.evaluation.pictures import thumbnail

__all__ = [
    "AttendedImage",
    "CaptionHit",
    "ImageQuery",
    "Picture",
    "PictureHit",
    "SpaceMap",
    "TextQuery",
    "Triple",
]


@dataclass(frozen=True)
class Picture:
    """A picture of the dataset.

    Args:
        image: None if it isn't at hand.
        name: the dataset's name of it.
        description: one of its captions, for those who don't see it.
    """

    image: Image.Image | None
    name: str
    description: str = ""

    def thumbnail(self, side: int) -> Image.Image | None:
        """A copy whose longer side is at most ``side`` pixels."""
        return None if self.image is None else thumbnail(self.image, side)


@dataclass(frozen=True)
class CaptionHit:
    """A caption that was found: its text, its score, and whether it is the picture's own."""

    text: str
    score: float
    right: bool


@dataclass(frozen=True)
class ImageQuery:
    """A picture; by language, the captions found for it, best first, and the rank of the first of its own."""

    picture: Picture
    found: Mapping[str, tuple[int, Sequence[CaptionHit]]]


@dataclass(frozen=True)
class PictureHit:
    """A picture that was found: its score, and whether the sentence was written for it."""

    picture: Picture
    score: float
    right: bool


@dataclass(frozen=True)
class TextQuery:
    """A sentence, the pictures found for it, best first, and the rank of its own."""

    text: str
    language: str
    rank: int
    found: Sequence[PictureHit]


@dataclass(frozen=True, eq=False)
class AttendedImage:
    """A picture, its weights (K, R) over boxes (R, 4), and sentences: (language, words, weights (K, T)).

    Where the boxes are a grid, ``grid`` is its (rows, columns).
    """

    picture: Picture
    weights: NDArray[np.floating]
    boxes: NDArray[np.floating]
    sentences: Sequence[tuple[str, Sequence[str], NDArray[np.floating]]]
    grid: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Triple:
    """A picture and one caption of it in each language: (v, e, g) where there are two languages."""

    picture: Picture
    captions: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class SpaceMap:
    """Pictures and captions of every language in one plane.

    Args:
        triples: N of them, all in the same L languages.
        points: (1 + L, N, 2): pictures first, then the languages in the triples' order.
        cosines: (1 + L, 1 + L, N) of each triple's views.
        others: (1 + L, 1 + L) mean cosine of two views of different triples.
    """

    triples: Sequence[Triple]
    points: NDArray[np.floating]
    cosines: NDArray[np.floating]
    others: NDArray[np.floating]

    @property
    def languages(self) -> tuple[str, ...]:
        """The captions' languages."""
        return tuple(self.triples[0].captions)
