"""The sum of neuron correlations against numpy.corrcoef."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from vse_zoo.errors import EvaluationError
from vse_zoo.metrics import NeuronCorrelation


def views(rows: int = 60, neurons: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    shared, *own = generator.normal(size=(3, rows, neurons))
    return shared + 0.5 * own[0], 2 * shared - own[1]


def streamed(h: np.ndarray, g: np.ndarray, size: int) -> float:
    metric = NeuronCorrelation()
    for start in range(0, len(h), size):
        metric.update_state(h[start : start + size], g[start : start + size])
    return float(metric.result())


def by_numpy(h: np.ndarray, g: np.ndarray) -> float:
    return sum(float(np.corrcoef(h[:, k], g[:, k])[0, 1]) for k in range(h.shape[1]))


@pytest.mark.parametrize("size", [1, 7, 60])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_equals_corrcoef_whatever_the_batch_size(size: int, offset: float) -> None:
    h, g = views()
    h, g = h + offset, g - 3 * offset
    assert streamed(h, g, size) == pytest.approx(by_numpy(h, g), abs=1e-9 if offset else 1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3])
def test_a_constant_neuron_contributes_nothing(value: float) -> None:
    h, g = views()
    expected = by_numpy(h[:, 1:], g[:, 1:])
    constant = np.column_stack([np.full(60, value), h[:, 1:]])
    for size in (7, 60):
        assert streamed(constant, g, size) == pytest.approx(expected, abs=1e-10)
        assert streamed(g, constant, size) == pytest.approx(expected, abs=1e-10)
        assert streamed(constant, constant, size) == pytest.approx(4, abs=1e-10)


def test_a_collapsed_representation_scores_in_full() -> None:
    """Why the figure needs others beside it: one direction, copied to every neuron, is as good as five."""
    h, _ = views()
    copies = np.repeat(h[:, :1], 5, axis=1)
    assert streamed(copies, 3 * copies + 1, 60) == pytest.approx(5, abs=1e-12)


def test_unequal_widths_and_missing_rows_are_errors() -> None:
    metric = NeuronCorrelation()
    with pytest.raises(EvaluationError, match=r"found no rows\. Call update_state"):
        metric.result()
    with pytest.raises(EvaluationError, match=r"h has 3 neurons, g has 4"):
        metric.update_state(np.zeros((2, 3)), np.zeros((2, 4)))
    metric.update_state(np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(EvaluationError, match=r"found 1 rows, expected more than 1"):
        metric.result()


def test_weights_are_an_error_rather_than_left_out() -> None:
    with pytest.raises(ValueError, match="sample_weight must be None"):
        NeuronCorrelation().update_state(*views(), sample_weight=np.ones(60))


def test_survives_its_config() -> None:
    metric = NeuronCorrelation(name="mine")
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(metric))
    assert type(copy) is NeuronCorrelation
    assert copy.get_config() == metric.get_config()
