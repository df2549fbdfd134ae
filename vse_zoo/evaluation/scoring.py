"""Scores of a chunk of queries against all items, from embeddings, and what can't be scored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vse_zoo.errors import EvaluationError
from vse_zoo.ranking.distinct import distinct_rows
from vse_zoo.sets import ItemSets

__all__ = ["ScoreRows", "checked_embeddings", "checked_sets", "dot_products"]

ScoreRows = Callable[[slice], NDArray[Any]]
"""Scores of a slice of the queries against all items: (chunk, items)."""


def checked_embeddings(values: ArrayLike, name: str) -> NDArray[Any]:
    """``values`` (rows, E) as float32 (float64 stays); an `EvaluationError` names the first row that isn't finite."""
    array = np.asarray(values)
    if array.ndim != 2 or array.size == 0:
        raise EvaluationError(f"{name} has shape {array.shape}: expected (rows, dimensions), neither of them 0.")
    if array.dtype != np.float64:
        array = array.astype(np.float32, copy=False)
    _check_finite(np.isfinite(array).all(axis=1), name)
    return array


def checked_sets(sets: ItemSets, name: str) -> ItemSets:
    """``sets``; an `EvaluationError` names the first that isn't finite."""
    _check_finite(np.logical_and.reduceat(np.isfinite(sets.items).all(axis=1), sets.offsets[:-1]), name)
    return sets


def _check_finite(finite: NDArray[np.bool_], name: str) -> None:
    """Refuses (N,) rows that aren't all true."""
    if not finite.all():
        bad = np.flatnonzero(~finite)
        raise EvaluationError(
            f"{name}, row {bad[0]}: holds NaN or infinity ({len(bad)} such rows of {len(finite)}). "
            "No rank can be given to it: look for a zero norm or a diverged training run."
        )


def dot_products(queries: NDArray[Any], items: NDArray[Any]) -> ScoreRows:
    """Dot products of ``queries`` (Q, E) with ``items`` (I, E), in which equal items get equal scores to the last bit.

    A matrix product rounds differently at the edges of its blocks, so the scores of two copies of an item could differ
    in the last bit and their tie would be lost: each distinct item is multiplied once and its score copied.
    """
    distinct, copies = distinct_rows(items)
    if len(distinct) == len(items):
        return lambda rows: queries[rows] @ items.T
    once = items[distinct]
    return lambda rows: (queries[rows] @ once.T)[:, copies]
