"""Queries as people type them, and which photos are right for each, by the captions of a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data import Dataset

__all__ = ["Judged", "judged_queries"]

_LENGTHS = 2, 5
"""Words of a fragment."""
_COMMON = 0.5
"""Words in the captions of more photos than this say nothing about any: articles, most prepositions."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Queries and what is right for them.

    Args:
        texts: Q sentences and fragments.
        owners: (Q,) places among the photos of those that they were written for.
        right: (Q, P) bool, whether a photo is right.
    """

    texts: list[str]
    owners: NDArray[np.int64]
    right: NDArray[np.bool_]


def judged_queries(dataset: Dataset, split: str, language: str, preprocessor: Any, seed: int = 0) -> Judged:
    """Every caption of a split, and of every caption a fragment of two to five words, since people type few.

    A photo is right for its own captions and their fragments. So it is for others', if every word of the query that
    isn't common is in its captions: what several people said of the photo then covers the query. Synonyms and other
    forms of a word don't count, so that the judgement errs on the strict side.

    Args:
        dataset: an opened folder.
        split: its name.
        language: of the captions.
        preprocessor: splits them into words.
        seed: draws the fragments.
    """
    rows = dataset.indices(split)
    captions, owners = dataset.captions(split, language)
    places = np.searchsorted(rows, owners)
    words = [[word.decode() for word in each] for each in preprocessor.words(captions).to_list()]
    seen: dict[str, NDArray[np.bool_]] = {}
    for place, each in zip(places, words, strict=True):
        for word in each:
            seen.setdefault(word, np.zeros(len(rows), bool))[place] = True
    telling = {word: photos for word, photos in seen.items() if photos.mean() <= _COMMON}
    random = np.random.default_rng(seed)
    fragments = [_fragment(each, random) for each in words]
    texts, right, of = [], [], []
    for text, each, place in zip(
        captions + [" ".join(each) for each in fragments], words + fragments, np.tile(places, 2), strict=True
    ):
        sets = [telling[word] for word in set(each) if word in telling]
        if sets:
            texts.append(text)
            right.append(np.logical_and.reduce(sets))
            of.append(place)
    return Judged(texts, np.array(of, np.int64), np.array(right))


def _fragment(words: list[str], random: np.random.Generator) -> list[str]:
    length = int(random.integers(_LENGTHS[0], _LENGTHS[1] + 1))
    start = int(random.integers(0, max(1, len(words) - length + 1)))
    return words[start : start + length]
