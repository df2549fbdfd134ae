"""Ranks of the true items, found by limits: identical to counting over the whole score matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vse_zoo.ranking.protocol import PairScorer

__all__ = ["TrueRanks", "true_ranks"]

_CHUNK = 2**22
"""Limits looked at together: 16 MiB."""


@dataclass(frozen=True, eq=False)
class TrueRanks:
    """1-based ranks in both directions.

    Args:
        rows: (q,) int64 rank of the best column of each row that has one, in the order of the rows.
        columns: (M,) int64 rank of each column's row.
        solves: pairs scored exactly for it.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    solves: int


def true_ranks(scorer: PairScorer, owners: NDArray[np.int64]) -> TrueRanks:
    """Ranks of the true items.

    rank = 1 + the number of other items whose score is at least the true item's: ties count against the query. A row's
    true item is the best of its columns, and the others of them never count. Only pairs whose limit reaches the true
    score of their row or of their column are solved.

    Args:
        scorer: of N rows and M columns.
        owners: (M,) the row to which each column belongs.
    """
    before, (rows, columns) = scorer.solves, scorer.shape
    everything = np.arange(columns)
    own = scorer.scores(owners, everything)
    best = np.full(rows, np.inf, np.float32)
    answered = np.unique(owners)
    best[answered] = -np.inf
    np.maximum.at(best, owners, own)
    ahead = np.zeros(rows, np.int64), np.zeros(columns, np.int64)
    size = max(1, _CHUNK // columns)
    for start in range(0, rows, size):
        chunk = np.arange(start, min(start + size, rows))
        limits = scorer.limits(chunk, everything)
        reaches = (limits >= np.minimum(own[None], best[chunk, None])) & (owners[None] != chunk[:, None])
        row, column = np.nonzero(reaches)
        row = chunk[row]
        scores = scorer.scores(row, column, np.minimum(own[column], best[row]))
        ahead[0][:] += np.bincount(row[scores >= best[row]], minlength=rows)
        ahead[1][:] += np.bincount(column[scores >= own[column]], minlength=columns)
    return TrueRanks(1 + ahead[0][answered], 1 + ahead[1], scorer.solves - before)
