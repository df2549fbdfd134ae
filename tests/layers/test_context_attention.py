"""ContextAttention against a naive float64 loop of eq. 1, its padding, and its gradients against finite differences."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf
from scipy.optimize import approx_fprime

from vse_zoo.layers import ContextAttention

HEADS, CONTEXT, ATTENTION, DIM = 3, 5, 4, 6


def naive(weights: list[np.ndarray], items: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kernel, context_kernel, context = (np.asarray(weight, np.float64) for weight in weights)
    batch, count, dim = items.shape
    heads, attention = context_kernel.shape[0], context_kernel.shape[2]
    output, shares = np.zeros((batch, heads, dim)), np.zeros((batch, heads, count))
    for b in range(batch):
        real = np.flatnonzero(mask[b])
        for k in range(heads):
            own = kernel[:, k * attention : (k + 1) * attention]
            query = np.tanh(context_kernel[k].T @ context[k])
            scores = np.array([query @ np.tanh(own.T @ items[b, i].astype(np.float64)) for i in real])
            exponentials = np.exp(scores)
            for i, exponential in zip(real, exponentials, strict=True):
                shares[b, k, i] = exponential / exponentials.sum()
                output[b, k] += shares[b, k, i] * items[b, i]
    return output, shares


@pytest.fixture
def layer() -> ContextAttention:
    keras.utils.set_random_seed(3)
    layer = ContextAttention(HEADS, CONTEXT, ATTENTION)
    layer.build((None, None, DIM))
    generator = np.random.default_rng(4)
    layer.set_weights([generator.normal(size=weight.shape) for weight in layer.get_weights()])
    return layer


def draw(seed: int, batch: int = 4, count: int = 7) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    mask = generator.random((batch, count)) < 0.6
    mask[0], mask[1] = True, False
    mask[1, 2] = True
    return generator.normal(size=(batch, count, DIM)).astype("float32"), mask


@pytest.mark.parametrize("seed", range(8))
def test_equals_the_naive_loop_of_equation_1(layer: ContextAttention, seed: int) -> None:
    items, mask = draw(seed)
    heads, weights = layer(items, mask=mask, return_weights=True)
    expected_heads, expected_weights = naive(layer.get_weights(), items, mask)
    np.testing.assert_allclose(heads, expected_heads, atol=2e-6)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-6)


def test_without_a_mask_all_items_are_real(layer: ContextAttention) -> None:
    items, _ = draw(0)
    expected, _ = naive(layer.get_weights(), items, np.ones(items.shape[:2], bool))
    np.testing.assert_allclose(layer(items), expected, atol=2e-6)


def test_padding_gets_exactly_no_weight_and_the_rest_sums_to_one(layer: ContextAttention) -> None:
    items, mask = draw(1)
    items[~mask] = 1e4
    _, weights = layer(items, mask=mask, return_weights=True)
    weights = np.moveaxis(weights.numpy(), 1, 2)
    assert np.all(weights[~mask] == 0.0)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("padding", [1, 5, 40])
def test_padding_changes_nothing(layer: ContextAttention, padding: int) -> None:
    items, mask = draw(2)
    longer = np.concatenate([items, np.full((len(items), padding, DIM), 3.0, "float32")], axis=1)
    longer_mask = np.concatenate([mask, np.zeros((len(mask), padding), bool)], axis=1)
    np.testing.assert_allclose(layer(longer, mask=longer_mask), layer(items, mask=mask), atol=1e-6)


def test_return_weights_changes_no_heads(layer: ContextAttention) -> None:
    items, mask = draw(3)
    heads, weights = layer(items, mask=mask, return_weights=True)
    np.testing.assert_allclose(heads, layer(items, mask=mask), atol=1e-6)
    assert weights.shape == (len(items), HEADS, items.shape[1])


def test_a_row_without_items_gives_zeros_and_finite_gradients(layer: ContextAttention) -> None:
    items, mask = draw(4)
    mask[2] = False
    items = tf.Variable(items)
    with tf.GradientTape() as tape:
        heads = layer(items, mask=mask)
        loss = tf.reduce_sum(heads**2)
    assert np.all(heads[2] == 0.0)
    for gradient in tape.gradient(loss, [items, *layer.trainable_variables]):
        assert np.all(np.isfinite(gradient))


def test_gradients_equal_finite_differences(layer: ContextAttention) -> None:
    """Forward differences of the float64 loop; float32 gradients agree to 1e-3 of the largest."""
    items, mask = draw(5, batch=2, count=4)
    target = np.random.default_rng(6).normal(size=(2, HEADS, DIM))
    values = [items, *layer.get_weights()]
    sizes = np.cumsum([value.size for value in values])[:-1]

    def loss(flat: np.ndarray) -> float:
        parts = [part.reshape(value.shape) for part, value in zip(np.split(flat, sizes), values, strict=True)]
        return float(np.sum(target * naive(parts[1:], parts[0], mask)[0]))

    expected = approx_fprime(np.concatenate([np.ravel(value) for value in values]).astype(np.float64), loss, 1e-7)
    variable = tf.Variable(items)
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(tf.cast(target, tf.float32) * layer(variable, mask=mask))
    gradients = tape.gradient(value, [variable, *(weight.value for weight in layer.weights)])
    actual = np.concatenate([np.ravel(gradient) for gradient in gradients])
    np.testing.assert_allclose(actual, expected, atol=1e-3 * np.abs(expected).max())


def test_the_layer_works_in_a_functional_model(layer: ContextAttention) -> None:
    inputs, mask = keras.Input((None, DIM)), keras.Input((None,), dtype="bool")
    model = keras.Model([inputs, mask], layer(inputs, mask=mask))
    copy = ContextAttention.from_config(layer.get_config())
    weighted = keras.Model([inputs, mask], copy(inputs, mask=mask, return_weights=True))
    copy.set_weights(layer.get_weights())
    items, real = draw(7)
    assert model.output_shape == (None, HEADS, DIM)
    assert weighted.output_shape == [(None, HEADS, DIM), (None, HEADS, None)]
    np.testing.assert_allclose(model([items, real]), layer(items, mask=real), atol=1e-6)
    np.testing.assert_allclose(weighted([items, real])[1], layer(items, mask=real, return_weights=True)[1], atol=1e-6)


def test_an_implicit_keras_mask_is_used(layer: ContextAttention) -> None:
    items, mask = draw(8)
    items[~mask] = 0.0
    masked = keras.layers.Masking()(items)
    np.testing.assert_allclose(layer(masked), layer(items, mask=mask), atol=1e-6)


def test_the_attention_dimension_is_the_context_dimension_by_default() -> None:
    assert ContextAttention(2, 7).attention_dim == 7


@pytest.mark.parametrize(("heads", "context"), [(0, 4), (2, 0)])
def test_impossible_sizes_are_refused(heads: int, context: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ContextAttention(heads, context)
