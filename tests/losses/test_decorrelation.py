"""Decorrelation and SquaredDistance against float64 loops and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.losses import Decorrelation, SquaredDistance

H = np.random.default_rng(0).normal(0.4, 1, size=(7, 5))


def off_diagonal(vectors: np.ndarray, form: str, centered: bool) -> float:
    """Entry by entry."""
    vectors = vectors - vectors.mean(0) * centered
    size = vectors.shape[1]
    entries = {(i, j): sum(row[i] * row[j] for row in vectors) / len(vectors) for i in range(size) for j in range(size)}
    everything = sum(value**2 for value in entries.values())
    diagonal = sum(entries[i, i] ** 2 for i in range(size))
    return 0.5 * (everything - diagonal) if form == "squared" else everything**0.5 - diagonal**0.5


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("form", ["squared", "norm"])
def test_equals_a_loop_and_its_gradient_finite_differences(form: str, centered: bool) -> None:
    variable = tf.Variable(H.astype("float32"))
    with tf.GradientTape() as tape:
        loss = Decorrelation(form, centered)(variable)
    np.testing.assert_allclose(loss, off_diagonal(H, form, centered), rtol=1e-5)
    expected = np.zeros_like(H)
    for position in np.ndindex(*H.shape):
        step = np.zeros_like(H)
        step[position] = 1e-5
        values = [off_diagonal(H + sign * step, form, centered) for sign in (1, -1)]
        expected[position] = (values[0] - values[1]) / 2e-5
    np.testing.assert_allclose(tape.gradient(loss, variable), expected, atol=1e-5)


@pytest.mark.parametrize("form", ["squared", "norm"])
def test_uncorrelated_neurons_cost_nothing(form: str) -> None:
    np.testing.assert_allclose(Decorrelation(form)(np.eye(5, dtype="float32")), 0, atol=1e-7)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="form must be 'squared' or 'norm', got 'cubed'"):
        Decorrelation("cubed")


def test_squared_distance_sums_dimensions_and_averages_rows() -> None:
    other = np.random.default_rng(1).normal(size=H.shape)
    expected = np.mean([np.linalg.norm(a - b) ** 2 for a, b in zip(H, other, strict=True)])
    found = SquaredDistance()(tf.constant(H, tf.float32), tf.constant(other, tf.float32))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("loss", [Decorrelation(), Decorrelation("norm", centered=True)])
def test_masked_rows_do_not_count(loss: Decorrelation) -> None:
    mask = np.array([True, False, True, True, True, False, True])
    spoiled = np.where(mask[:, None], H, np.nan).astype("float32")
    np.testing.assert_allclose(loss(spoiled, mask=mask), loss(H[mask].astype("float32")), rtol=1e-5)


def test_masked_rows_have_no_distance() -> None:
    first, second = np.arange(7) != 1, np.arange(7) != 4
    found = SquaredDistance()(H, H + np.arange(7)[:, None], vectors_mask=first, other_vectors_mask=second)
    np.testing.assert_allclose(found, 5 * np.mean([0, 4, 9, 25, 36]), rtol=1e-5)
