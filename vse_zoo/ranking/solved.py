"""Scores that are known already."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Solved"]


class Solved:
    """Scores by number, kept sorted: memory grows with the pairs solved, not with the pairs there are."""

    def __init__(self) -> None:
        self._numbers = np.zeros(0, np.int64)
        self._scores = np.zeros(0, np.float32)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._numbers)

    def of(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Scores (n,) of numbers (n,); NaN where it isn't known."""
        found = np.full(len(numbers), np.nan, np.float32)
        if len(self):
            places = np.minimum(np.searchsorted(self._numbers, numbers), len(self) - 1)
            known = self._numbers[places] == numbers
            found[known] = self._scores[places[known]]
        return found

    def add(self, numbers: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        """Keeps new scores; the numbers are distinct and not known yet."""
        joined = np.concatenate([self._numbers, numbers])
        order = np.argsort(joined, kind="stable")
        self._numbers, self._scores = joined[order], np.concatenate([self._scores, scores])[order]
