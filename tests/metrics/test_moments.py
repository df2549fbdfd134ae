"""Streamed moments against NumPy on all rows at once."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.errors import EvaluationError
from vse_zoo.metrics import EffectiveRank, Moments, RepresentationVariance
from vse_zoo.metrics.moments import correlation, outer, paired, squares


def streamed(rows: np.ndarray, products: Any, sizes: list[int]) -> Moments:
    moments = Moments(RepresentationVariance(), products, "rows")
    for part in np.split(rows, np.cumsum(sizes)[:-1]):
        moments.update(tf.constant(part))
    return moments


@pytest.mark.parametrize("sizes", [[40], [1] * 40, [7, 0, 13, 1, 19], [39, 1]])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_equals_numpy_whatever_the_batches(sizes: list[int], offset: float) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 6)) + offset
    centred = rows - rows.mean(axis=0)
    moments = streamed(rows, outer, sizes)
    assert moments.count == 40
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(moments.products, centred.T @ centred, atol=1e-7 if offset else 1e-12)
    np.testing.assert_allclose(
        streamed(rows, squares, sizes).products, np.diag(moments.products), rtol=1e-12, atol=1e-12
    )


def test_paired_are_the_diagonals_of_outer() -> None:
    rows = np.random.default_rng(1).normal(size=(30, 8))
    full = np.asarray(streamed(rows, outer, [11, 19]).products)
    expected = [np.diag(full)[:4], np.diag(full)[4:], np.diag(full[:4, 4:])]
    np.testing.assert_allclose(streamed(rows, paired, [30]).products, expected, rtol=1e-12)


def test_correlation_is_zero_where_a_variance_does_not_pass_its_floor() -> None:
    values = correlation(
        tf.constant([2.0, 2.0, 0.0], tf.float64),
        tf.constant([[4.0, 1e-30, 0.0], [4.0, 1.0, 0.0]], tf.float64),
        tf.constant([[0.0, 1e-29, 0.0]] * 2, tf.float64),
    )
    np.testing.assert_allclose(values, [0.5, 0.0, 0.0])


def test_rows_of_another_width_are_an_error() -> None:
    metric = RepresentationVariance()
    metric.update_state(np.zeros((2, 3)))
    with pytest.raises(EvaluationError, match=r"representation_variance: found rows of 4 values, those before had 3"):
        metric.update_state(np.zeros((2, 4)))


def test_a_representation_is_a_matrix() -> None:
    with pytest.raises(EvaluationError, match=r"representation h has shape \(2, 3, 4\): expected \(rows, neurons\)"):
        RepresentationVariance().update_state(np.zeros((2, 3, 4)))


def test_values_that_are_not_finite_are_an_error() -> None:
    metric = RepresentationVariance()
    metric.update_state(np.array([[1.0, np.nan], [2.0, 3.0]]))
    with pytest.raises(EvaluationError, match="found NaN or infinity among the rows"):
        metric.result()


def test_a_graph_gives_nan_where_it_cannot_raise() -> None:
    metric = EffectiveRank()
    rows = np.random.default_rng(2).normal(size=(10, 3))

    @tf.function
    def step(part: tf.Tensor) -> tf.Tensor:
        metric.update_state(part)
        return metric.result()

    assert np.isnan(step(rows[:3]))
    eager = EffectiveRank()
    eager.update_state(rows)
    np.testing.assert_allclose(step(rows[3:]), eager.result(), rtol=1e-12)


def test_float32_and_half_precision_rows_are_summed_in_float64() -> None:
    for dtype in ("float16", "float32"):
        rows = (np.random.default_rng(3).normal(size=(50, 2)) + 30).astype(dtype)
        metric = RepresentationVariance()
        metric.update_state(rows[:20])
        metric.update_state(rows[20:])
        assert metric.result().dtype == tf.float64
        np.testing.assert_allclose(metric.result(), rows.astype("float64").var(axis=0).mean(), rtol=1e-12)


def test_reset_forgets_the_rows() -> None:
    metric = RepresentationVariance()
    metric.update_state(np.random.default_rng(4).normal(size=(5, 2)) + 100)
    metric.reset_state()
    rows = np.random.default_rng(5).normal(size=(6, 2))
    metric.update_state(rows)
    np.testing.assert_allclose(metric.result(), rows.var(axis=0).mean(), rtol=1e-12)


def test_a_model_compiles_and_fits_with_it() -> None:
    from vse_zoo.metrics import NeuronCorrelation

    generator = np.random.default_rng(6)
    x, y = (generator.normal(size=(50, 4)).astype("float32") for _ in range(2))
    model = keras.Sequential([keras.layers.Dense(4)])
    model.compile(loss="mse", metrics=[NeuronCorrelation()])
    model.fit(x, y, batch_size=8, epochs=2, verbose=0)
    evaluated = model.evaluate(x, y, batch_size=7, verbose=0, return_dict=True)["neuron_correlation"]
    predicted = model.predict(x, verbose=0)
    expected = sum(np.corrcoef(y[:, k], predicted[:, k])[0, 1] for k in range(4))
    assert evaluated == pytest.approx(expected, abs=1e-5)
