"""Effective rank, principal directions and variance against NumPy and scikit-learn."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from sklearn.decomposition import PCA

from vse_zoo.errors import EvaluationError
from vse_zoo.metrics import EffectiveRank, PrincipalDirections, RepresentationVariance


def rows(count: int = 200, neurons: int = 12) -> np.ndarray:
    generator = np.random.default_rng(0)
    return generator.normal(size=(count, neurons)) * np.geomspace(5, 0.01, neurons) @ generator.normal(size=(12, 12))


def figure(metric: keras.metrics.Metric, h: np.ndarray, size: int = 64) -> float:
    for start in range(0, len(h), size):
        metric.update_state(h[start : start + size])
    return float(metric.result())


def effective_rank(h: np.ndarray) -> float:
    values = np.linalg.eigvalsh(np.cov(h.T))
    shares = values[values > 0] / values.sum()
    return float(np.exp(-np.sum(shares * np.log(shares))))


@pytest.mark.parametrize("size", [9, 33, 200])
def test_effective_rank_equals_its_formula(size: int) -> None:
    h = rows()
    assert figure(EffectiveRank(), h, size) == pytest.approx(effective_rank(h), abs=1e-10)
    assert figure(EffectiveRank(), h + 1e6, size) == pytest.approx(effective_rank(h), abs=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.999])
def test_principal_directions_equal_scikit_learns(share: float) -> None:
    h = rows()
    expected = PCA(n_components=share, svd_solver="full").fit(h).n_components_
    assert figure(PrincipalDirections(share), h) == expected


def test_alike_directions_count_in_full() -> None:
    """Rows ± e_k have the covariance I / d exactly."""
    h = np.concatenate([np.eye(8), -np.eye(8)])
    assert figure(EffectiveRank(), h) == pytest.approx(8, abs=1e-12)
    assert figure(PrincipalDirections(0.9), h) == 8
    assert figure(PrincipalDirections(0.5), h) == 4
    assert figure(PrincipalDirections(1.0), h) == 8


def test_a_collapsed_representation_has_few_directions() -> None:
    line = np.outer(np.random.default_rng(1).normal(size=50), np.arange(1.0, 7.0))
    assert figure(EffectiveRank(), line) == pytest.approx(1, abs=1e-9)
    assert figure(PrincipalDirections(1.0), line) == 1
    constant = np.full((50, 6), 1e6 / 3)
    for metric in (EffectiveRank(), PrincipalDirections(), RepresentationVariance()):
        assert figure(metric, constant, 7) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_variance_equals_numpys(offset: float) -> None:
    h = rows() + offset
    assert figure(RepresentationVariance(), h, 13) == pytest.approx(h.var(axis=0).mean(), rel=1e-9)


@pytest.mark.parametrize("metric", [EffectiveRank, PrincipalDirections])
def test_fewer_rows_than_neurons_is_an_error_that_says_so(metric: type) -> None:
    with pytest.raises(EvaluationError, match=r"found 12 rows, expected more than 12, the number of neurons"):
        figure(metric(), rows(12))
    figure(metric(), rows(13))


@pytest.mark.parametrize("metric", [EffectiveRank, PrincipalDirections, RepresentationVariance])
def test_no_rows_and_weights_are_errors(metric: type) -> None:
    with pytest.raises(EvaluationError, match="found no rows"):
        metric().result()
    with pytest.raises(ValueError, match="sample_weight must be None"):
        metric().update_state(rows(), sample_weight=np.ones(200))


def test_a_share_outside_its_range_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"share must lie in \(0, 1\], got 1.5"):
        PrincipalDirections(1.5)


def test_survive_their_config() -> None:
    for metric in (EffectiveRank(), PrincipalDirections(0.7), RepresentationVariance()):
        copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(metric))
        assert type(copy) is type(metric)
        assert copy.get_config() == metric.get_config()
