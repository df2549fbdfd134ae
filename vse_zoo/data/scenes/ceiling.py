"""How well retrieval can do at best, given that some captions are true of several pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vse_zoo.data.scenes.captions import captions
from vse_zoo.data.scenes.meaning import Description, Meaning, fits
from vse_zoo.data.scenes.world import Scene

__all__ = ["Ceiling", "ceiling", "ceiling_of"]

ATTRIBUTES = ("shape", "colour", "size", "pattern")


@dataclass(frozen=True)
class Ceiling:
    """Shares from 0 to 1.

    unique: captions that fit one picture only. text_to_image, image_to_text: the best expected R@1 of each direction.
    """

    unique: float
    text_to_image: float
    image_to_text: float


def ceiling(scenes: Sequence[Scene], language: str) -> Ceiling:
    """The ceiling of retrieval among ``scenes`` with their five captions in ``language``."""
    return ceiling_of(scenes, [[caption.meaning for caption in captions(scene, language)] for scene in scenes])


def ceiling_of(scenes: Sequence[Scene], meanings: Sequence[Sequence[Meaning]]) -> Ceiling:
    """The ceiling when caption j of picture i says ``meanings[i][j]``, true of it.

    Let n(c) be the number of pictures that caption c fits. Whoever sees only c and the pictures can't tell which of the
    n(c) it was written for, so is right with probability 1/n(c): text-to-image is the mean of 1/n(c). With a picture as
    the query, the caption ranked first should fit it and be the likeliest to be its own, which again has probability
    1/n(c): image-to-text is the mean over pictures of the largest 1/n(c) among all captions that fit it.
    """
    index = _Index(scenes)
    best = np.zeros(len(scenes))
    shares = []
    for said in (meaning for of_one in meanings for meaning in of_one):
        fitting = [row for row in index.candidates(said) if fits(said, scenes[row])]
        share = 1 / len(fitting)
        shares.append(share)
        best[fitting] = np.maximum(best[fitting], share)
    return Ceiling(float(np.mean(np.array(shares) == 1)), float(np.mean(shares)), float(np.mean(best)))


class _Index:
    """Finds fast the few scenes that may fit a meaning: those with enough objects of each description."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._backgrounds = np.array([scene.background for scene in scenes])
        self._totals = np.array([len(scene.objects) for scene in scenes])
        rows = [[[getattr(thing, name) for name in ATTRIBUTES] for thing in scene.objects] for scene in scenes]
        objects = [values for row in rows for values in row]
        self._values = {name: np.array([values[n] for values in objects]) for n, name in enumerate(ATTRIBUTES)}
        self._rows = np.repeat(np.arange(len(scenes)), self._totals)

    def candidates(self, meaning: Meaning) -> list[int]:
        """Rows of the scenes that pass; a necessary condition for `fits`, not a sufficient one."""
        passed = np.ones(len(self._totals), bool)
        if meaning.background is not None:
            passed &= self._backgrounds == meaning.background
        if meaning.total is not None:
            passed &= self._totals == meaning.total
        for mention in meaning.mentions:
            passed &= self._counts(mention.description) >= mention.count
        return [int(row) for row in np.flatnonzero(passed)]

    def _counts(self, description: Description) -> npt.NDArray[np.int64]:
        """How many objects of each scene match."""
        matching = np.ones(len(self._rows), bool)
        for name in ATTRIBUTES:
            value = getattr(description, name)
            if value is not None:
                matching &= self._values[name] == value
        return np.bincount(self._rows[matching], minlength=len(self._totals))
