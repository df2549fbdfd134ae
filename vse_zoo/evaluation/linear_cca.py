"""Regularised linear CCA between images and sentences, the baseline of every visual-semantic embedding.

Directions weighted by their correlations, and cosine: Gong, Ke, Isard and Lazebnik, "A multi-view embedding space for
modeling internet images, tags, and their semantics", IJCV 2014.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

__all__ = ["LinearCCA"]


class LinearCCA:
    """Two linear maps into a common space, each direction weighted by its canonical correlation, for cosine similarity.

    Args:
        images: (N, D) features of the training images, standardised here.
        texts: (M, F) features of their sentences, dense or sparse.
        owners: (M,) the image of each sentence; each (image, sentence) pair is one row.
        text_ridge: added to the variances of the sentences' features.
        directions: canonical directions that are kept.
        image_ridge: added to the variances of the standardised images' features.

    Attributes:
        correlations: (directions,) the regularised canonical correlations.
    """

    def __init__(
        self,
        images: np.ndarray,
        texts: Any,
        owners: np.ndarray,
        text_ridge: float,
        directions: int,
        image_ridge: float = 0.3,
    ) -> None:
        self.mean, self.scale = images.mean(0), images.std(0) + 1e-8
        x, n = self._standardised(images)[owners], texts.shape[0]
        self.x_mean, self.y_mean = x.mean(0), np.asarray(texts.mean(0), np.float64).ravel()
        x -= self.x_mean
        c_xx = x.T @ x / n + image_ridge * np.eye(x.shape[1])
        c_yy = _dense(texts.T @ texts) / n - np.outer(self.y_mean, self.y_mean)
        c_yy[np.diag_indices_from(c_yy)] += text_ridge
        l_x, l_y = cholesky(c_xx, lower=True), cholesky(c_yy, lower=True, overwrite_a=True)
        # The singular values of L_x⁻¹ C_xy L_y⁻ᵀ are the correlations (x is centred, so y needn't be).
        left = solve_triangular(l_x, _dense(texts.T @ x.astype(texts.dtype)).T / n, lower=True)
        whitened = solve_triangular(l_y, left.T, lower=True).T
        squares, u = eigh(whitened @ whitened.T)
        u = u[:, ::-1][:, :directions]
        self.correlations = np.sqrt(np.maximum(squares[::-1][:directions], 1e-12))
        v = whitened.T @ u / self.correlations
        self.x_map = solve_triangular(l_x.T, u) * self.correlations
        self.y_map = solve_triangular(l_y.T, v) * self.correlations

    def _standardised(self, images: np.ndarray) -> np.ndarray:
        return (images - self.mean) / self.scale

    def image(self, images: np.ndarray) -> np.ndarray:
        """(N, D) pooled features to (N, directions)."""
        return _unit((self._standardised(images) - self.x_mean) @ self.x_map)

    def text(self, texts: Any) -> np.ndarray:
        """(N, F) text features to (N, directions)."""
        return _unit(texts @ self.y_map - self.y_mean @ self.y_map)


def _dense(matrix: Any) -> np.ndarray:
    """A float64 array of a sparse or dense matrix."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, np.float64)


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1; a zero row stays zero."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
