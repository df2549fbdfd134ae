"""Random draws that are the same on every machine and Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["Draws"]

T = TypeVar("T")


class Draws:
    """A stream of draws named by ``key``; equal keys give equal streams.

    Only ``random.Random.random()`` seeded by a string is used: Python promises that sequence for all versions, which it
    doesn't for ``choice`` and ``shuffle`` (nor NumPy for its Generator's methods).
    """

    def __init__(self, *key: int | str) -> None:
        self._random = random.Random("/".join(str(part) for part in key))

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._random.random() < probability

    def integer(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def choice(self, items: Sequence[T], weights: Sequence[int] | None = None) -> T:
        """One of ``items``, uniformly or in proportion to integer ``weights``."""
        if weights is None:
            return items[self.integer(0, len(items) - 1)]
        left = self.integer(1, sum(weights))
        for item, weight in zip(items, weights, strict=True):
            left -= weight
            if left <= 0:
                return item
        raise ValueError("the weights sum to zero")

    def preferred(self, items: Sequence[T]) -> T:
        """The first item in most cases, otherwise one of the rest."""
        return items[0] if len(items) == 1 or self.chance(0.7) else self.choice(items[1:])

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A new list of ``items`` in random order (Fisher-Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.integer(0, last)
            result[last], result[other] = result[other], result[last]
        return result
