"""Gaussian mixtures of word vectors, fitted by scikit-learn's EM."""

from __future__ import annotations

import warnings

import numpy as np

from vse_zoo.features.fisher.mixture import Mixture
from vse_zoo.features.fisher.samples import checked_samples, scale_floor

__all__ = ["fit_gaussian_mixture"]

_MOST_TOKENS = 50_000


def fit_gaussian_mixture(vectors: np.ndarray, components: int, seed: int, counts: np.ndarray | None = None) -> Mixture:
    """A Gaussian mixture with diagonal covariances, by EM from k-means.

    Args:
        vectors: (N, D), one row for every word.
        components: number K of Gaussians.
        seed: of k-means.
        counts: (N,), how often each word occurs; once each by default. Since scikit-learn takes no weights, rows are
            repeated; beyond 50,000 tokens every n-th is taken, so that shares of frequent words stay as they are.

    Returns:
        the mixture, all dimensions Gaussian. The square of `scale_floor` is added to every variance (``reg_covar``).

    Raises:
        DataError: see `checked_samples`.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture  # half a second, and only fitting needs it

    vectors, weights = checked_samples(vectors, components, counts)
    # In float64: in float32 the variance of a component of one frequent word, E[x²] − E[x]², comes out negative.
    tokens = np.repeat(vectors, _repeats(weights), axis=0)
    model = GaussianMixture(
        components,
        covariance_type="diag",
        reg_covar=scale_floor(vectors, weights) ** 2,
        random_state=seed,
    )
    with warnings.catch_warnings():
        # A hundred iterations are enough for a Fisher vector, whether or not the last digits still move.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(tokens)
    shares = np.asarray(model.weights_, np.float64)
    shape = model.means_.shape
    return Mixture(shares / shares.sum(), model.means_, np.sqrt(model.covariances_), np.ones(shape, bool))


def _repeats(weights: np.ndarray) -> np.ndarray:
    """How often to repeat each row: its count, or its share of the most tokens there may be (systematic sampling)."""
    total = weights.sum()
    ends = np.floor(np.cumsum(weights) * min(1.0, _MOST_TOKENS / total) + 1e-9)
    return np.diff(ends, prepend=0.0).astype(np.int64)
