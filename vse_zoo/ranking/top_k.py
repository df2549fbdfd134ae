"""The best items of every query, found by limits: identical to a full sort, without scoring every pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vse_zoo.ranking.protocol import PairScorer

__all__ = ["TopK", "best_items", "top_k"]

_CHUNK = 2**24
"""Limits looked at together: 64 MiB."""

Solve = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]], NDArray[np.float32]]
"""Queries (p,), items (p,) and the least score of interest (p,) to exact scores (p,), or −inf where it's less."""


@dataclass(frozen=True, eq=False)
class TopK:
    """The best K items of Q queries.

    Args:
        indices: (Q, K) int64, best first; equal scores by index.
        scores: (Q, K) float32.
        solves: pairs scored exactly for it.
    """

    indices: NDArray[np.int64]
    scores: NDArray[np.float32]
    solves: int


def top_k(scorer: PairScorer, k: int, *, query: str = "row") -> TopK:
    """The best K columns of every row, or with ``query="column"`` the best K rows of every column.

    Args:
        scorer: of N × M pairs.
        k: at least 1; at most as many items as there are come back.
        query: "row" or "column".

    Raises:
        ValueError: k < 1 or another query.
    """
    if k < 1 or query not in ("row", "column"):
        raise ValueError(f"k, query: found {k}, {query!r}; expected k ≥ 1 and 'row' or 'column'.")
    queries, items = scorer.shape if query == "row" else scorer.shape[::-1]
    before, everything = scorer.solves, np.arange(items)
    parts = []
    size = max(1, _CHUNK // items)
    for start in range(0, queries, size):
        chunk = np.arange(start, min(start + size, queries))
        limits = scorer.limits(chunk, everything) if query == "row" else scorer.limits(everything, chunk).T
        parts.append(best_items(limits, partial(_solve, scorer, chunk, query == "row"), k))
    indices, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
    return TopK(indices, scores, scorer.solves - before)


def _solve(
    scorer: PairScorer,
    chunk: NDArray[np.int64],
    by_row: bool,
    queries: NDArray[np.int64],
    items: NDArray[np.int64],
    least: NDArray[np.float32],
) -> NDArray[np.float32]:
    pair = (chunk[queries], items) if by_row else (items, chunk[queries])
    return scorer.scores(*pair, least)


def best_items(limits: NDArray[np.float32], solve: Solve, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The best K of the items whose limits are given.

    In every round each unfinished query has its next items solved, in the order of their limits, until no limit that is
    left reaches its K-th best score. All queries' items are solved together; a query's share doubles every round.

    Args:
        limits: (Q, I) upper limits of the scores; −inf leaves an item out.
        solve: scores pairs.
        k: at least 1.

    Returns:
        (Q, min(K, I)) indices, best first and equal scores by index, and their scores; I and −inf where
        items are lacking.
    """
    left = np.array(limits, np.float32)
    k = min(k, left.shape[1])
    indices = np.full((len(left), k), left.shape[1], np.int64)
    scores = np.full((len(left), k), -np.inf, np.float32)
    unfinished, share = np.arange(len(left)), k
    while len(unfinished):
        share = min(share, left.shape[1])
        items = np.argpartition(left[unfinished], -share, axis=1)[:, -share:]
        wanted = _take(left, unfinished, items, scores[unfinished, -1])
        found = np.full(items.shape, -np.inf, np.float32)
        at = np.nonzero(wanted)
        found[at] = solve(unfinished[at[0]], items[at], scores[unfinished[at[0]], -1])
        items = np.where(found > -np.inf, items, left.shape[1])
        indices[unfinished], scores[unfinished] = _merge(indices[unfinished], scores[unfinished], items, found)
        most = left[unfinished].max(axis=1)
        unfinished = unfinished[(most >= scores[unfinished, -1]) & (most > -np.inf)]
        share *= 2
    return indices, scores


def _take(
    left: NDArray[np.float32], queries: NDArray[np.int64], items: NDArray[np.int64], least: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Which of the items (q, c) can still matter; they're no longer left then."""
    limits = left[queries[:, None], items]
    wanted = (limits >= least[:, None]) & (limits > -np.inf)
    left[queries[:, None], items] = -np.inf
    return wanted


def _merge(
    indices: NDArray[np.int64], scores: NDArray[np.float32], items: NDArray[np.int64], found: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The best of the old (q, K) and the new (q, c)."""
    k = indices.shape[1]
    scores = np.concatenate([scores, found], axis=1)
    indices = np.concatenate([indices, items], axis=1)
    best = np.lexsort((indices, -scores), axis=1)[:, :k]
    return np.take_along_axis(indices, best, 1), np.take_along_axis(scores, best, 1)
