"""Hybrid Gaussian–Laplacian mixtures (HGLMM; Klein et al., CVPR 2015, section 4), fitted by EM.

The M step fits both densities to every dimension of every component and keeps the one of greater expected
log-likelihood: the maximum over both families, so the likelihood never falls. Nor does it with the floor under the
scales, since the expected log-likelihood rises with σ (or s) up to its best value and falls beyond it: where that lies
below the floor, the best allowed scale is the floor.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp, softmax

from vse_zoo.features.fisher.mixture import Mixture
from vse_zoo.features.fisher.samples import checked_samples, scale_floor
from vse_zoo.progress import progress

__all__ = ["expectation_maximization", "fit_hybrid_mixture"]

# Keeps a component that has lost all its words alive: it becomes one of all words, of no weight.
_TINY = 1e-300


def fit_hybrid_mixture(
    vectors: np.ndarray,
    components: int,
    seed: int,
    counts: np.ndarray | None = None,
    tolerance: float = 1e-3,
    max_iterations: int = 100,
) -> Mixture:
    """A hybrid Gaussian–Laplacian mixture, by EM from k-means.

    Args:
        vectors: (N, D), one row for every word.
        components: number K of components.
        seed: of k-means.
        counts: (N,), how often each word occurs, as weights; once each by default.
        tolerance: gain in mean log-likelihood (nats a word) below which EM stops.
        max_iterations: of EM, at most.

    Raises:
        DataError: see `checked_samples`.
    """
    iterations = expectation_maximization(vectors, components, seed, counts)
    mixture, likelihood = next(iterations)
    with progress("Hybrid mixture", max_iterations, done=1) as bar:
        for _ in range(max_iterations - 1):
            last = likelihood
            mixture, likelihood = next(iterations)
            bar.advance()
            if likelihood - last < tolerance:
                break
    return mixture


def expectation_maximization(
    vectors: np.ndarray, components: int, seed: int, counts: np.ndarray | None = None
) -> Iterator[tuple[Mixture, float]]:
    """The mixtures of `fit_hybrid_mixture` one iteration at a time, endlessly, each with its mean log-likelihood."""
    from sklearn.cluster import KMeans  # half a second, and only fitting needs it

    vectors, weights = checked_samples(vectors, components, counts)
    floor = scale_floor(vectors, weights)
    labels = KMeans(components, n_init=1, random_state=seed).fit_predict(vectors, sample_weight=weights)
    order = np.ascontiguousarray(np.argsort(vectors, axis=0).T)
    responsibilities = np.eye(components)[labels]
    while True:
        mixture = _maximize(vectors, responsibilities * weights[:, None] + _TINY, order, floor)
        joint = mixture.log_joint(vectors)
        yield mixture, float(np.average(logsumexp(joint, axis=1), weights=weights))
        responsibilities = softmax(joint, axis=1)


def _maximize(vectors: np.ndarray, masses: np.ndarray, order: np.ndarray, floor: float) -> Mixture:
    """The mixture of greatest expected log-likelihood under (N, K) masses; ``order`` (D, N) sorts each dimension."""
    totals = masses.sum(axis=0)
    shares = masses / totals
    means, medians = shares.T @ vectors, _weighted_medians(vectors, shares, order)
    variances, deviations = _spreads(vectors, shares, means, medians)
    sigmas, laplacian_scales = np.maximum(np.sqrt(variances), floor), np.maximum(deviations, floor)
    normal = -0.5 * np.log(2 * np.pi) - np.log(sigmas) - variances / (2 * sigmas**2)
    laplacian = -np.log(2 * laplacian_scales) - deviations / laplacian_scales
    gaussian = normal > laplacian
    return Mixture(
        totals / totals.sum(),
        np.where(gaussian, means, medians),
        np.where(gaussian, sigmas, laplacian_scales),
        gaussian,
    )


def _weighted_medians(vectors: np.ndarray, shares: np.ndarray, order: np.ndarray) -> np.ndarray:
    """(K, D): the first value, in rising order, up to which half of the shares lie; it minimises Σ share |x − m|."""
    medians = np.empty((shares.shape[1], vectors.shape[1]))
    for d, rows in enumerate(order):
        cumulative = np.cumsum(shares[rows], axis=0)
        places = (cumulative < 0.5 * cumulative[-1]).sum(axis=0)
        medians[:, d] = vectors[rows[places], d]
    return medians


def _spreads(
    vectors: np.ndarray, shares: np.ndarray, means: np.ndarray, medians: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Variances about the means and mean absolute deviations about the medians, (K, D) each, without cancellation."""
    variances, deviations = np.empty_like(means), np.empty_like(medians)
    for k, share in enumerate(shares.T):
        variances[k] = share @ (vectors - means[k]) ** 2
        deviations[k] = share @ np.abs(vectors - medians[k])
    return variances, deviations
