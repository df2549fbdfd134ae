"""CanonicalDistance against SciPy's angles between subspaces, and its gradient against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from scipy.linalg import subspace_angles

from vse_zoo.losses import CanonicalDistance

RANDOM = np.random.default_rng(0)
H = RANDOM.normal(1, 1, size=(40, 4))
G = H * [0.9, 0.5, 0.2, 0.0] + RANDOM.normal(size=(40, 4))


def distance(h: np.ndarray, g: np.ndarray) -> float:
    """2 (D − Σ ρ): canonical correlations are the cosines of the angles between the centred column spaces."""
    return 2 * (h.shape[1] - float(np.cos(subspace_angles(h - h.mean(0), g - g.mean(0))).sum()))


def test_equals_the_angles_between_subspaces() -> None:
    found = CanonicalDistance(1e-6)(tf.constant(H, tf.float32), tf.constant(G, tf.float32))
    np.testing.assert_allclose(found, distance(H, G), rtol=1e-4)


def test_no_linear_map_changes_it() -> None:
    mixed = H @ RANDOM.normal(size=(4, 4)) + 3
    found = [CanonicalDistance(1e-6)(tf.constant(h, tf.float32), tf.constant(G, tf.float32)) for h in (H, mixed)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3)


def test_gradient_equals_finite_differences() -> None:
    variable = tf.Variable(H.astype("float32"))
    with tf.GradientTape() as tape:
        loss = CanonicalDistance(1e-6)(variable, tf.constant(G, tf.float32))
    found = tape.gradient(loss, variable).numpy()
    for position in ((0, 0), (7, 1), (20, 2), (39, 3)):
        step = np.zeros_like(H)
        step[position] = 1e-5
        expected = (distance(H + step, G) - distance(H - step, G)) / 2e-5
        np.testing.assert_allclose(found[position], expected, atol=1e-4)


def test_repeated_neurons_do_not_lower_it() -> None:
    """Four copies of the best neuron correlate once, up to the ridge."""
    best_h, best_g = (np.repeat(view[:, :1], 4, axis=1) for view in (H, G))
    loss = CanonicalDistance()(tf.constant(best_h, tf.float32), tf.constant(best_g, tf.float32))
    assert loss > 2 * 3
    assert loss > distance(H, G)


def test_constant_representations_have_finite_gradients() -> None:
    zeros = tf.Variable(tf.zeros((20, 4)))
    with tf.GradientTape() as tape:
        loss = CanonicalDistance()(zeros, zeros)
    np.testing.assert_allclose(loss, 8, atol=1e-3)
    assert np.all(np.isfinite(tape.gradient(loss, zeros)))


def test_a_ridge_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="ridge must be positive"):
        CanonicalDistance(0.0)


def test_masked_rows_do_not_count() -> None:
    first, second = np.arange(40) % 9 > 0, np.arange(40) % 7 > 0
    loss, real = CanonicalDistance(1e-6), first & second
    h, g = (np.where(mask[:, None], rows, np.nan).astype("float32") for rows, mask in ((H, first), (G, second)))
    found = loss(h, g, vectors_mask=first, other_vectors_mask=second)
    np.testing.assert_allclose(found, distance(H[real], G[real]), rtol=1e-4)
