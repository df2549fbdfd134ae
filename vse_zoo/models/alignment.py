"""How the words of a sentence and the regions of a picture meet, for people to look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Alignment"]


@dataclass(frozen=True, eq=False)
class Alignment:
    """One picture and one sentence, as a model that compares regions with words sees them.

    Args:
        words: T words, as the model reads them.
        similarity: (R, T) cosines.
        plan: (R, T) transport plan; each column sums to 1/T, each row to 1/R.
        score: the model's score of the pair.
    """

    words: list[str]
    similarity: NDArray[np.float32]
    plan: NDArray[np.float32]
    score: float
