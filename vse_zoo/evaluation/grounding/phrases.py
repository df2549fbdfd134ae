"""A split's captions with phrases that name something in the picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.records import Phrase

__all__ = ["CaptionPhrases", "phrases_of", "words_of"]


@dataclass(frozen=True)
class CaptionPhrases:
    """A caption, its image's row, and its phrases, with boxes and without."""

    row: int
    text: str
    phrases: tuple[Phrase, ...]

    @property
    def located(self) -> list[Phrase]:
        """The phrases with boxes."""
        return [phrase for phrase in self.phrases if phrase.boxes]


def phrases_of(dataset: Dataset, split: str, language: str) -> Iterator[CaptionPhrases]:
    """The captions of a language that have phrases, in the order of their images."""
    for row in dataset.indices(split).tolist():
        record = dataset.records[row]
        found: dict[int, list[Phrase]] = defaultdict(list)
        for phrase in record.phrases:
            if phrase.language == language:
                found[phrase.caption].append(phrase)
        for caption, phrases in sorted(found.items()):
            yield CaptionPhrases(row, record.captions[language][caption], tuple(phrases))


def words_of(phrase: Phrase, spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of the words that share a character with the phrase, given where each word stands, (T, 2)."""
    return np.flatnonzero((spans[:, 0] < phrase.end) & (spans[:, 1] > phrase.start))
