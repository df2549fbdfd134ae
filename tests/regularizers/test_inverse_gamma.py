"""InverseGamma against Σ 1/γ², and where 1/γ² has no bounds."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.regularizers import InverseGamma


def test_equals_the_sum_of_inverse_squares() -> None:
    gamma = np.array([0.5, -1.0, 2.0, 0.1, -0.11])
    found = InverseGamma(0.05)(tf.constant(gamma, tf.float32))
    np.testing.assert_allclose(found, 0.05 * np.sum(1 / gamma**2), rtol=1e-5)


@pytest.mark.parametrize("value", [0.0, -0.0, 1e-30, -1e-3, 0.05])
def test_is_finite_near_zero_and_pushes_outwards(value: float) -> None:
    gamma = tf.Variable([value])
    with tf.GradientTape() as tape:
        penalty = InverseGamma(1.0, threshold=0.1)(gamma)
    (gradient,) = tape.gradient(penalty, gamma).numpy()
    assert np.isfinite(penalty)
    assert penalty > 100
    outwards = -1.0 if value < 0 else 1.0
    np.testing.assert_allclose(gradient, -outwards * 2 / 0.1**3, rtol=1e-5)


def test_value_and_slope_join_at_the_threshold() -> None:
    regularizer = InverseGamma(1.0, threshold=0.1)
    inside, outside = (float(regularizer(tf.constant([value]))) for value in (0.1 - 1e-5, 0.1 + 1e-5))
    np.testing.assert_allclose((inside + outside) / 2, 100, rtol=1e-5)
    np.testing.assert_allclose((outside - inside) / 2e-5, -2000, rtol=1e-2)


def test_half_precision_is_summed_in_float32() -> None:
    assert InverseGamma(1.0)(tf.fill([1000], tf.constant(0.11, tf.float16))).dtype == tf.float32


def test_survives_its_config() -> None:
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(InverseGamma(0.3, 0.2)))
    assert (copy.strength, copy.threshold) == (0.3, 0.2)


@pytest.mark.parametrize("arguments", [{"strength": -1.0}, {"threshold": 0.0}])
def test_impossible_arguments_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="strength must be ≥ 0 and threshold > 0"):
        InverseGamma(**arguments)
