"""Standardization: mean 0, deviation 1, and back."""

from __future__ import annotations

import numpy as np

from vse_zoo.layers import Standardization

ROWS = np.random.default_rng(0).normal(3, [1, 2, 5], size=(500, 3)).astype("float32")


def test_is_the_identity_until_adapted() -> None:
    np.testing.assert_array_equal(Standardization()(ROWS), ROWS)


def test_centres_and_scales_each_dimension() -> None:
    layer = Standardization()
    layer.build((None, 3))
    layer.adapt(ROWS)
    found = layer(ROWS).numpy()
    np.testing.assert_allclose(found, (ROWS - ROWS.mean(0)) / (ROWS.std(0) + 1e-3), atol=1e-4)
    np.testing.assert_allclose(layer.inverse(layer(ROWS)), ROWS, atol=1e-4)


def test_constant_vectors_give_zeros() -> None:
    layer = Standardization()
    layer.build((None, 3))
    layer.adapt(np.ones((4, 3)))
    np.testing.assert_array_equal(layer(np.ones((4, 3), "float32")), np.zeros((4, 3)))
