"""Ranks of the relevant items, counted chunk by chunk against the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.errors import EvaluationError
from vse_zoo.evaluation.scoring import ScoreRows

__all__ = ["Relevance", "ranks"]

CHUNK_SCORES = 2**23
"""Scores of one chunk: 32 MiB in float32."""


@dataclass(frozen=True)
class Relevance:
    """Which items answer which query: items sorted by query, query q's are ``items[offsets[q]:offsets[q + 1]]``."""

    items: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, owners: NDArray[np.int64], queries: int) -> Relevance:
        """From the query (items,) to which each item belongs."""
        counts = np.bincount(owners, minlength=queries)
        return cls(np.argsort(owners, kind="stable"), np.concatenate([[0], np.cumsum(counts)]))

    @classmethod
    def one_each(cls, items: NDArray[np.int64]) -> Relevance:
        """From the one item (queries,) that answers each query."""
        return cls(items, np.arange(len(items) + 1))

    def __len__(self) -> int:
        """Number of queries."""
        return len(self.offsets) - 1


def ranks(scores: ScoreRows, relevance: Relevance, items: int, chunk: int | None, kind: str) -> NDArray[np.int64]:
    """1-based rank of each query's best relevant item; queries without a relevant item are left out.

    rank = 1 + the number of *irrelevant* items whose score is at least the best relevant one's. The query's other
    relevant items never count. Both scores of every comparison come from the same chunk's matrix.
    """
    size = chunk or max(1, CHUNK_SCORES // items)
    found = []
    for start in range(0, len(relevance), size):
        stop = min(start + size, len(relevance))
        block = scores(slice(start, stop))
        _check(block, start, (stop - start, items), kind)
        found.append(_chunk_ranks(block, relevance, start, stop))
    return np.concatenate(found)


def _chunk_ranks(block: NDArray[Any], relevance: Relevance, start: int, stop: int) -> NDArray[np.int64]:
    offsets = relevance.offsets[start : stop + 1]
    counts = np.diff(offsets)
    rows = np.repeat(np.arange(stop - start), counts)
    own = block[rows, relevance.items[offsets[0] : offsets[-1]]]
    best = np.full(stop - start, np.inf, block.dtype)
    asked = np.flatnonzero(counts)
    if len(asked) == 0:
        return np.zeros(0, np.int64)
    best[asked] = np.maximum.reduceat(own, (offsets[:-1] - offsets[0])[asked])
    # Row by row: NumPy counts a contiguous bool row many times faster than an axis of a matrix.
    at_least = np.array([np.count_nonzero(row) for row in block >= best[:, None]])
    relevant = np.bincount(rows[own >= best[rows]], minlength=stop - start)
    return (1 + at_least - relevant)[asked]


def _check(block: NDArray[Any], start: int, shape: tuple[int, int], kind: str) -> None:
    if block.shape != shape:
        last = start + shape[0] - 1
        raise EvaluationError(f"scores of {kind}s {start} to {last} have shape {block.shape}: expected {shape}.")
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(block.sum(axis=1)).all():
            return  # one cheap pass; finite numbers may overflow in the sum, so look closer before complaining
    rows, columns = np.nonzero(~np.isfinite(block))
    if len(rows):
        value = block[rows[0], columns[0]]
        raise EvaluationError(f"scores, {kind} {start + rows[0]}, item {columns[0]}: {value} can't be ranked.")
