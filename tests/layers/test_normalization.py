"""l2_normalize against NumPy, and where plain normalisation has NaN gradients."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.layers import l2_normalize


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 6)])
def test_equals_division_by_the_norm(shape: tuple[int, ...]) -> None:
    vectors = np.random.default_rng(0).normal(size=shape).astype("float32")
    double = vectors.astype(np.float64)
    expected = double / np.linalg.norm(double, axis=-1, keepdims=True)
    np.testing.assert_allclose(l2_normalize(vectors), expected, atol=1e-6)


@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e-20, 1e-9])
def test_vectors_of_almost_no_length_stay_small_and_have_finite_gradients(scale: float) -> None:
    vectors = tf.Variable(np.full((2, 4), scale, "float32"))
    with tf.GradientTape() as tape:
        unit = l2_normalize(vectors)
        loss = tf.reduce_sum(unit * [1.0, 2.0, 3.0, 4.0])
    assert np.all(np.abs(unit) <= 1.0)
    assert np.all(np.isfinite(tape.gradient(loss, vectors)))
    if scale == 0:
        assert np.all(unit == 0.0)


def test_half_precision_is_normalised_in_float32() -> None:
    vectors = tf.constant([[200.0, 300.0, 400.0]], tf.float16)
    unit = l2_normalize(vectors)
    assert unit.dtype == tf.float32
    np.testing.assert_allclose(np.linalg.norm(unit, axis=-1), 1.0, atol=1e-6)


def test_gradient_equals_the_closed_form() -> None:
    """d(x/‖x‖)ᵀg = (g − u uᵀg)/‖x‖."""
    generator = np.random.default_rng(1)
    vectors, upstream = generator.normal(size=(2, 3, 5))
    variable = tf.Variable(vectors.astype("float32"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(l2_normalize(variable) * tf.cast(upstream, tf.float32))
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units = vectors / norms
    expected = (upstream - units * np.sum(units * upstream, axis=-1, keepdims=True)) / norms
    np.testing.assert_allclose(tape.gradient(loss, variable), expected, atol=1e-5)


def test_float64_stays_float64() -> None:
    unit = l2_normalize(tf.constant([[3.0, 4.0]], tf.float64))
    assert unit.dtype == tf.float64
    np.testing.assert_allclose(unit, [[0.6, 0.8]], rtol=1e-15)
