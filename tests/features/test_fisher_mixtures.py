"""Mixtures and their fits against scikit-learn and SciPy, and EM on friendly and adversarial data."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.mixture import GaussianMixture

from vse_zoo.errors import DataError
from vse_zoo.features.fisher import Mixture, fit_gaussian_mixture, fit_hybrid_mixture
from vse_zoo.features.fisher.hybrid import expectation_maximization

K, D = 3, 4


def random_mixture(seed: int = 0) -> Mixture:
    generator = np.random.default_rng(seed)
    return Mixture(
        generator.dirichlet(np.full(K, 4.0)),
        generator.normal(size=(K, D)),
        generator.uniform(0.5, 1.5, (K, D)),
        generator.random((K, D)) < 0.5,
    )


def words(seed: int = 0, count: int = 400, dim: int = 6) -> np.ndarray:
    """Clusters with Gaussian even and Laplacian odd dimensions."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(5, dim))[generator.integers(0, 5, count)]
    noise = np.where(np.arange(dim) % 2, generator.laplace(size=(count, dim)), generator.normal(size=(count, dim)))
    return (centres + 0.3 * noise).astype("float32")


def test_density_and_responsibilities_equal_scipys_densities() -> None:
    mixture, vectors = random_mixture(), np.random.default_rng(1).normal(size=(700, D))
    joint = np.ones((len(vectors), K)) * mixture.weights
    for k in range(K):
        for d in range(D):
            family = stats.norm if mixture.gaussian[k, d] else stats.laplace
            joint[:, k] *= family.pdf(vectors[:, d], mixture.locations[k, d], mixture.scales[k, d])
    np.testing.assert_allclose(mixture.log_density(vectors), np.log(joint.sum(axis=1)), rtol=1e-12)
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mixture.responsibilities(vectors), expected, rtol=1e-10)


def test_a_gaussian_mixture_scores_as_scikit_learns() -> None:
    vectors = words(1)
    mixture = fit_gaussian_mixture(vectors, 5, seed=0)
    peer = GaussianMixture(5, covariance_type="diag", random_state=0)
    peer.weights_, peer.means_, peer.covariances_ = mixture.weights, mixture.locations, mixture.scales**2
    peer.precisions_cholesky_ = 1 / mixture.scales
    np.testing.assert_allclose(mixture.log_density(vectors), peer.score_samples(vectors.astype("float64")), rtol=1e-9)
    assert mixture.gaussian.all()
    own = GaussianMixture(5, covariance_type="diag", random_state=0).fit(vectors)
    assert mixture.log_density(vectors).mean() > own.score(vectors) - 0.05


def test_counts_are_repetitions() -> None:
    vectors = words(2, 60)
    counts = np.random.default_rng(3).integers(0, 5, len(vectors))
    repeated = np.repeat(vectors, counts, axis=0)
    for fit in (fit_gaussian_mixture, fit_hybrid_mixture):
        one, other = fit(vectors, 1, 0, counts), fit(repeated, 1, 0)
        np.testing.assert_allclose(one.locations, other.locations, atol=1e-6)
        np.testing.assert_allclose(one.scales, other.scales, rtol=1e-5)
        np.testing.assert_array_equal(one.gaussian, other.gaussian)


def test_large_counts_are_sampled_and_keep_their_shares() -> None:
    vectors = np.array([[0.0], [1.0], [10.0]])
    mixture = fit_gaussian_mixture(vectors, 1, 0, np.array([5e8, 4e8, 1e8]))
    np.testing.assert_allclose(mixture.locations, [[1.4]], atol=1e-3)


ADVERSARIAL = {
    "clusters": lambda: words(4),
    "a constant dimension": lambda: np.where(np.arange(6) == 2, 3.0, words(5)),
    "duplicates": lambda: np.repeat(words(6, 20), 15, axis=0),
    "as many points as components": lambda: words(7, 5),
    "integers": lambda: np.random.default_rng(8).integers(-2, 3, (300, 6)),
    "heavy tails": lambda: np.random.default_rng(9).standard_cauchy((300, 6)),
    "far from zero": lambda: 1e4 + words(10),
    "tiny": lambda: 1e-6 * words(11),
    "scales that differ": lambda: words(12) * 10.0 ** np.arange(-3, 3),
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_the_likelihood_never_falls(name: str) -> None:
    vectors = np.asarray(ADVERSARIAL[name]())
    counts = np.random.default_rng(13).integers(1, 50, len(vectors))
    steps = list(islice(expectation_maximization(vectors, 5, 0, counts), 40))
    likelihoods = np.array([likelihood for _, likelihood in steps])
    assert np.isfinite(likelihoods).all()
    assert (np.diff(likelihoods) >= -1e-9 * np.abs(likelihoods[1:])).all(), np.diff(likelihoods).min()
    mixture = steps[-1][0]
    np.testing.assert_allclose(np.average(mixture.log_density(vectors), weights=counts), likelihoods[-1], rtol=1e-12)


def test_laplacian_data_are_found_laplacian_and_gaussian_data_gaussian() -> None:
    mixture = fit_hybrid_mixture(words(14, 4000), 5, 0)
    large = mixture.weights > 0.05
    assert mixture.gaussian[large][:, ::2].mean() > 0.9
    assert mixture.gaussian[large][:, 1::2].mean() < 0.1


def test_one_component_is_the_better_of_scipys_fits() -> None:
    vectors = words(15, 301)
    mixture = fit_hybrid_mixture(vectors, 1, 0)
    for d, column in enumerate(vectors.T.astype(np.float64)):
        fits = {family: family.fit(column) for family in (stats.norm, stats.laplace)}
        likelihoods = {family: family.logpdf(column, *fit).sum() for family, fit in fits.items()}
        best = max(likelihoods, key=lambda family: likelihoods[family])
        assert mixture.gaussian[0, d] == (best is stats.norm)
        np.testing.assert_allclose([mixture.locations[0, d], mixture.scales[0, d]], fits[best], rtol=1e-9)


@pytest.mark.parametrize("fit", [fit_gaussian_mixture, fit_hybrid_mixture])
def test_impossible_samples_are_refused(fit: object) -> None:
    assert callable(fit)
    with pytest.raises(DataError, match="5 components can't be fitted to 3 different word vectors"):
        fit(np.repeat(words(0, 3), 10, axis=0), 5, 0)
    with pytest.raises(DataError, match="0 different word vectors"):
        fit(words(0, 3), 1, 0, np.zeros(3))
    with pytest.raises(DataError, match="row 1: found a number that is not finite"):
        fit(np.array([[1.0], [np.nan]]), 1, 0)
    with pytest.raises(DataError, match=r"found shape \(4,\), expected \(N, D\)"):
        fit(np.ones(4), 1, 0)
    with pytest.raises(DataError, match=r"counts: found shape \(2,\), expected \(3,\)"):
        fit(words(0, 3), 1, 0, np.ones(2))
    with pytest.raises(DataError, match="counts: found one that is negative"):
        fit(words(0, 3), 1, 0, np.array([1, -1, 1]))


@pytest.mark.parametrize("fit", [fit_gaussian_mixture, fit_hybrid_mixture])
def test_equal_vectors_and_the_same_seed_give_the_same_mixture(fit: object) -> None:
    assert callable(fit)
    assert np.isfinite(fit(np.ones((9, 2)), 1, 0).log_density(np.ones((1, 2)))).all()
    one, other = fit(words(16), 4, 3), fit(words(16), 4, 3)
    np.testing.assert_allclose(one.locations, other.locations, atol=1e-9)


def test_saves_and_loads(tmp_path: Path) -> None:
    mixture = random_mixture()
    mixture.save(tmp_path / "mixture.npz")
    copy = Mixture.load(tmp_path / "mixture.npz")
    for name in ("weights", "locations", "scales", "gaussian"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(mixture, name))
    assert (copy.components, copy.dim) == (K, D)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mixture.npz"
    with pytest.raises(DataError, match=r"mixture\.npz: no such file"):
        Mixture.load(path)
    random_mixture().save(path)
    whole = path.read_bytes()
    for damage in (b"", whole[:40], whole[:-30], whole[:100] + b"\xff" * 60 + whole[160:], b"no zip file"):
        path.write_bytes(damage)
        with pytest.raises(DataError, match=r"mixture\.npz: not a whole \.npz file"):
            Mixture.load(path)
    np.savez(path, weights=np.ones(1))
    with pytest.raises(DataError, match=r"field 'locations': found the arrays weights, expected weights, locations"):
        Mixture.load(path)
    np.savez(path, weights=np.ones(2), locations=np.ones((1, 2)), scales=np.ones((1, 2)), gaussian=np.ones((1, 2)))
    with pytest.raises(DataError, match=r"mixture\.npz: mixture: found 2 weights, expected 1"):
        Mixture.load(path)
    objects = np.array([{}, {}], object)
    np.savez(path, weights=objects, locations=objects, scales=objects, gaussian=objects)
    with pytest.raises(DataError, match=r"mixture\.npz: not a whole"):
        Mixture.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [0.5, 0.4]}, "sum to 0.9"),
        ({"weights": [1.5, -0.5]}, "not positive"),
        ({"scales": np.zeros((2, 2))}, "not positive"),
        ({"scales": np.ones((2, 3))}, r"scales of shape \(2, 3\), expected \(2, 2\)"),
        ({"locations": np.full((2, 2), np.inf)}, "not finite"),
        ({"locations": np.ones(2)}, r"expected \(K,\) and \(K, D\)"),
    ],
)
def test_impossible_mixtures_are_refused(change: dict[str, np.ndarray], message: str) -> None:
    ones = np.ones((2, 2))
    with pytest.raises(DataError, match=message):
        Mixture(**{"weights": [0.5, 0.5], "locations": ones, "scales": ones, "gaussian": ones, **change})


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(DataError, match=r"found shape \(3, 5\), expected \(N, 4\)"):
        random_mixture().log_density(np.ones((3, 5)))


def test_a_word_that_makes_up_a_component_is_fitted() -> None:
    """Far from the origin, E[x²] − E[x]² of one repeated vector is rounding, and negative in float32."""
    random = np.random.default_rng(0)
    vectors = np.vstack([np.full((1, 4), 1000.0), random.normal(size=(60, 4))]).astype("float32")
    counts = np.array([20_000, *random.integers(1, 5, 60)])
    mixture = fit_gaussian_mixture(vectors, 3, 0, counts)
    assert np.all(mixture.scales > 0)
    np.testing.assert_allclose(mixture.locations[np.argmax(mixture.weights)], 1000.0, rtol=1e-3)
