"""The vectors of a vocabulary's words, and which words have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vse_zoo.errors import DataError

__all__ = ["WordVectors"]

_LISTED = 10


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A row for every word of a vocabulary.

    Args:
        vectors: (V, D) float32, zero where a word has no vector.
        found: (V,) bool, True where it has one.
    """

    vectors: np.ndarray
    found: np.ndarray

    def missing(self, words: Sequence[str]) -> list[str]:
        """Those of the (V) words that have no vector, in their order; empty ones, such as padding's, aside."""
        return [word for word, found in zip(words, self.found, strict=True) if word and not found]

    def coverage(self, words: Sequence[str], counts: np.ndarray | None = None) -> str:
        """How many of the (V) words have a vector, and which are the first that have none, in a sentence.

        With (V,) ``counts`` of how often each occurs also which share of the tokens has one; the tokens of empty words
        are counted among those without.
        """
        missing, wanted = self.missing(words), sum(map(bool, words))
        share = 1 - len(missing) / max(1, wanted)
        text = f"{wanted - len(missing):,} of {wanted:,} words have a vector ({share:.1%})"
        if counts is not None:
            text += f", {counts[self.found].sum() / max(1, counts.sum()):.1%} of the tokens"
        more = ", …" if len(missing) > _LISTED else ""
        return text + (f"; none for: {', '.join(missing[:_LISTED])}{more}." if missing else ".")

    def filled(self, seed: int) -> np.ndarray:
        """(V, D) float32: the vectors, and random ones for words that have none.

        Their numbers are normal, with the deviation of all numbers found. A `DataError` if no word has a vector.
        """
        if not self.found.any():
            raise DataError("word vectors: found none of the words asked for, expected a file of their language.")
        random = np.random.default_rng(seed).normal(0.0, self.vectors[self.found].std(), self.vectors.shape)
        return np.where(self.found[:, None], self.vectors, random).astype(np.float32)
