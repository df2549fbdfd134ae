"""What both fits ask of their word vectors, and how close to a point a component may shrink."""

from __future__ import annotations

import numpy as np

from vse_zoo.errors import DataError

__all__ = ["checked_samples", "scale_floor"]

# The least scale of a component, as a share of the data's own; without one the likelihood is unbounded.
_FLOOR = 0.01


def checked_samples(vectors: np.ndarray, components: int, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """(N, D) float64 vectors and (N,) float64 counts, without the rows that occur 0 times.

    Raises:
        DataError: shapes that do not fit, numbers that are not finite, counts below zero, or fewer different vectors
            than components.
    """
    vectors = np.asarray(vectors, np.float64)
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise DataError(f"word vectors: found shape {vectors.shape}, expected (N, D).")
    weights = np.ones(len(vectors)) if counts is None else np.asarray(counts, np.float64)
    if weights.shape != (len(vectors),):
        raise DataError(f"counts: found shape {weights.shape}, expected ({len(vectors)},), a count for every vector.")
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise DataError(f"word vectors, row {row}: found a number that is not finite.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise DataError("counts: found one that is negative or not finite, expected how often each vector occurs.")
    vectors, weights = vectors[weights > 0], weights[weights > 0]
    different = len(np.unique(vectors, axis=0)) if len(vectors) else 0
    if components < 1 or different < components:
        problem = f"{components} components can't be fitted to {different} different word vectors"
        raise DataError(f"mixture: {problem}, expected 1 to {different} components. Use fewer or more words.")
    return vectors, weights


def scale_floor(vectors: np.ndarray, weights: np.ndarray) -> float:
    """The least standard deviation or mean deviation of a component: 1% of the data's (root mean square over d)."""
    mean = np.average(vectors, axis=0, weights=weights)
    spread = float(np.sqrt(np.average((vectors - mean) ** 2, axis=0, weights=weights).mean()))
    return _FLOOR * spread if spread > 0 else 1e-6
