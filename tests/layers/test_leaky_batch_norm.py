"""LeakyBatchNorm against NumPy: order, statistics of either direction, inference."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest

from vse_zoo.layers import LeakyBatchNorm, leaky_batch_norm
from vse_zoo.regularizers import InverseGamma

X = np.random.default_rng(0).normal(0.5, 2, size=(64, 5)).astype("float32")
Y = np.random.default_rng(1).normal(-3, 1, size=(64, 5)).astype("float32")


def leaky(values: np.ndarray, slope: float = 0.3) -> np.ndarray:
    return np.where(values > 0, values, slope * values)


def normalized(values: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    double = values.astype(np.float64)
    return gamma * (double - double.mean(0)) / np.sqrt(double.var(0) + 1e-3)


def test_normalises_after_the_leaky_activation() -> None:
    layer = LeakyBatchNorm()
    found = layer(X, training=True)
    gamma = layer.norms[0].gamma.numpy()
    assert np.all((gamma >= 0.95) & (gamma <= 1.05))
    np.testing.assert_allclose(found, normalized(leaky(X), gamma), atol=1e-4)


def test_normalises_before_the_activation_if_told() -> None:
    layer = LeakyBatchNorm("before")
    found = layer(X, training=True)
    np.testing.assert_allclose(found, leaky(normalized(X, layer.norms[0].gamma.numpy())), atol=1e-4)


def test_without_normalisation_only_the_activation_is_left() -> None:
    layer = LeakyBatchNorm("none", negative_slope=0.0)
    np.testing.assert_allclose(layer(X, training=True), np.maximum(X, 0), atol=1e-6)
    assert not layer.weights


def test_either_direction_keeps_its_own_running_statistics() -> None:
    layer = LeakyBatchNorm(momentum=0.9)
    for _ in range(200):
        layer(X, training=True)
        layer(Y, reverse=True, training=True)
    for norm, values in zip(layer.norms, (leaky(X), leaky(Y)), strict=True):
        np.testing.assert_allclose(norm.moving_mean, values.mean(0), atol=1e-3)
        np.testing.assert_allclose(norm.moving_variance, values.var(0), rtol=1e-3)
    np.testing.assert_allclose(layer(Y, reverse=True), layer(Y, reverse=True, training=True), atol=1e-2)


def test_the_regulariser_counts_the_gamma_of_both_directions() -> None:
    layer = LeakyBatchNorm(gamma_regularizer=InverseGamma(0.05))
    layer(X), layer(X, reverse=True)
    expected = sum(0.05 * np.sum(1 / norm.gamma.numpy() ** 2) for norm in layer.norms)
    np.testing.assert_allclose(sum(layer.losses), expected, rtol=1e-6)


def test_synchronized_changes_nothing_on_one_device() -> None:
    """Not even a bit, and no name in a weight file; on several see tests/training/test_replicas.py."""
    alone = LeakyBatchNorm(synchronized=False)
    alone.build(X.shape)
    together = LeakyBatchNorm(synchronized=True)
    together.build(X.shape)
    together.set_weights(alone.get_weights())
    np.testing.assert_array_equal(together(X, training=True), alone(X, training=True))
    names = [[type(norm).__name__ for norm in layer.norms] for layer in (alone, together)]
    assert names[0] == names[1]


def test_an_unknown_place_is_refused() -> None:
    with pytest.raises(ValueError, match="place must be 'after', 'before' or 'none', got 'over'"):
        LeakyBatchNorm("over")  # type: ignore[arg-type]


def test_regulariser_and_gamma_survive_the_config() -> None:
    layer = LeakyBatchNorm(gamma_regularizer=InverseGamma(0.2))
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert copy.gamma_regularizer.strength == 0.2


@pytest.mark.parametrize("place", ["after", "before"])
def test_the_statistics_are_those_of_real_vectors(place: Any) -> None:
    mask = np.arange(64) % 4 > 0
    layer, whole = LeakyBatchNorm(place), LeakyBatchNorm(place)
    whole.build(X.shape)
    layer.build(X.shape)
    whole.set_weights(layer.get_weights())
    found = layer(np.where(mask[:, None], X, np.nan), training=True, mask=mask)
    np.testing.assert_allclose(found[mask], whole(X[mask], training=True), atol=1e-5)
    for one, other in zip(layer.weights, whole.weights, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_moments_of_all_replicas_heed_the_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one replica that believes in others, which have nothing to add."""
    monkeypatch.setattr(leaky_batch_norm, "replica_count", lambda: 2)
    monkeypatch.setattr(leaky_batch_norm, "sum_over_replicas", lambda value: value)
    mask = np.arange(64) % 4 > 0
    layer, sequences = LeakyBatchNorm(), LeakyBatchNorm()
    found = layer(np.where(mask[:, None], X, np.nan), training=True, mask=mask)
    expected = normalized(leaky(X[mask]), layer.norms[0].gamma.numpy())
    np.testing.assert_allclose(found[mask], expected, atol=1e-4)
    found = np.reshape(sequences(X.reshape(8, 8, 5), training=True), (64, 5))
    np.testing.assert_allclose(found, normalized(leaky(X), sequences.norms[0].gamma.numpy()), atol=1e-4)
