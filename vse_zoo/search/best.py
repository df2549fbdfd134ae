"""The best of many scores, in one order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vse_zoo.search.protocol import Hits

__all__ = ["NOTHING", "best"]

NOTHING: Hits = (np.zeros(0, np.int64), np.zeros(0, np.float32))


def best(keys: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> Hits:
    """The ``k`` highest of scores (n,) with their keys (n,), best first and equal ones by key; all where n < k."""
    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        # All that tie with the last one stay in, so that the keys decide between them.
        chosen = np.flatnonzero(scores >= least)
        keys, scores = keys[chosen], scores[chosen]
    order = np.lexsort((keys, -scores))[:k]
    return keys[order], scores[order]
