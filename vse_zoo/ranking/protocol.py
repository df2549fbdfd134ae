"""What ranking needs of a model that scores pairs: cheap upper limits for many pairs, exact scores for few."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairScorer"]


class PairScorer(Protocol):
    """Scores of N rows (images) against M columns (texts)."""

    @property
    def shape(self) -> tuple[int, int]:
        """(N, M)."""

    @property
    def solves(self) -> int:
        """How many pairs were scored exactly until now."""

    def limits(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
        """(a,) rows and (b,) columns to (a, b) upper limits: no pair's exact score is above its limit."""

    def scores(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], at_least: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """(p,) exact scores of the pairs (rows[i], columns[i]).

        With ``at_least`` (p,) a pair may be answered with −inf where its score is certainly below that: a tighter and
        dearer limit than that of `limits` may say so before the exact score is computed.
        """
