"""Whitening against NumPy's eigendecomposition."""

from __future__ import annotations

import numpy as np
import pytest

from vse_zoo.layers import Whitening

RANDOM = np.random.default_rng(0)
ROWS = (RANDOM.normal(size=(400, 5)) * [4, 2, 1, 0.5, 0.1] @ RANDOM.normal(size=(5, 5)) + 3).astype("float32")


def adapted(components: int, ridge: float) -> Whitening:
    layer = Whitening(components, ridge)
    layer.build((None, 5))
    layer.adapt(ROWS)
    return layer


def test_without_a_ridge_the_components_are_white() -> None:
    found = adapted(4, 0.0)(ROWS).numpy()
    np.testing.assert_allclose(np.cov(found.T, bias=True), np.eye(4), atol=1e-3)
    np.testing.assert_allclose(found.mean(0), 0, atol=1e-3)


def test_a_ridge_damps_the_small_components() -> None:
    variances = np.linalg.eigvalsh(np.cov(ROWS.T, bias=True))[::-1][:3]
    damped = variances / (variances + 0.1 * np.var(ROWS, axis=0).sum())
    found = adapted(3, 0.1)(ROWS).numpy().var(0)
    np.testing.assert_allclose(found, damped / damped.mean(), rtol=1e-3)


def test_the_inverse_is_the_projection_on_the_components() -> None:
    centred = ROWS - ROWS.mean(0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    layer = adapted(2, 0.01)
    expected = centred @ directions[:2].T @ directions[:2] + ROWS.mean(0)
    np.testing.assert_allclose(layer.inverse(layer(ROWS)), expected, atol=1e-3)


def test_takes_the_first_dimensions_until_adapted() -> None:
    np.testing.assert_array_equal(Whitening(3)(ROWS), ROWS[:, :3])


def test_constant_rows_give_finite_numbers() -> None:
    layer = Whitening(2, 0.0)
    layer.build((None, 5))
    layer.adapt(np.ones((10, 5)))
    assert np.all(np.isfinite(layer(ROWS)))


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="components must be at most the inputs' size, got 6 and 5"):
        Whitening(6).build((None, 5))
    with pytest.raises(ValueError, match="components must be at least 1 and ridge not negative"):
        Whitening(0)
