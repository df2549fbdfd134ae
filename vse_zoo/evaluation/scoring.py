"""Scores of a chunk of queries against all items, from embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vse_zoo.errors import EvaluationError

__all__ = ["ScoreRows", "checked_embeddings", "dot_products"]

ScoreRows = Callable[[slice], NDArray[Any]]
"""Scores of a slice of the queries against all items: (chunk, items)."""


def checked_embeddings(values: ArrayLike, name: str) -> NDArray[Any]:
    """``values`` (rows, E) as float32 (float64 stays); an `EvaluationError` names the first row that isn't finite."""
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0:
        raise EvaluationError(f"{name} has shape {array.shape}: expected (rows, dimensions), neither of them 0.")
    if array.dtype != np.float64:
        array = array.astype(np.float32, copy=False)
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise EvaluationError(
            f"{name}, row {row}: holds NaN or infinity ({np.count_nonzero(~finite)} such rows of {len(array)}). "
            "No rank can be given to it: look for a zero norm or a diverged training run."
        )
    return array


def dot_products(queries: NDArray[Any], items: NDArray[Any]) -> ScoreRows:
    """Dot products of ``queries`` (Q, E) with ``items`` (I, E), in which equal items get equal scores to the last bit.

    A matrix product rounds differently at the edges of its blocks, so the scores of two copies of an item could differ
    in the last bit and their tie would be lost: each distinct item is multiplied once and its score copied.
    """
    distinct, copies = _distinct_rows(items)
    if len(distinct) == len(items):
        return lambda rows: queries[rows] @ items.T
    once = items[distinct]
    return lambda rows: (queries[rows] @ once.T)[:, copies]


def _distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the first of each group of equal rows, and for every row the position of its group in that list."""
    groups: dict[bytes, int] = {}
    first: list[int] = []
    copies = np.empty(len(rows), np.int64)
    for position, row in enumerate(rows + rows.dtype.type(0)):  # -0.0 becomes 0.0
        group = groups.setdefault(row.tobytes(), len(first))
        if group == len(first):
            first.append(position)
        copies[position] = group
    return np.asarray(first), copies
