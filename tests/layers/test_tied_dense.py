"""TiedDense and LocallyDense against NumPy."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.layers import LocallyDense, TiedDense

X = np.random.default_rng(0).normal(size=(5, 6)).astype("float32")
Y = np.random.default_rng(1).normal(size=(5, 4)).astype("float32")


def filled(layer: TiedDense) -> TiedDense:
    """Built for X, with biases that aren't zero."""
    layer.build((None, X.shape[1]))
    layer.bias.assign(np.arange(4) + 1.0)
    layer.reverse_bias.assign(-np.arange(6) - 1.0)
    return layer


def test_forwards_and_back_share_one_kernel() -> None:
    layer = filled(TiedDense(4))
    kernel = layer.kernel.numpy().astype(np.float64)
    np.testing.assert_allclose(layer(X), X @ kernel + np.arange(4) + 1, atol=1e-5)
    np.testing.assert_allclose(layer(Y, reverse=True), Y @ kernel.T - np.arange(6) - 1, atol=1e-5)
    assert [tuple(weight.shape) for weight in layer.trainable_weights] == [(6, 4), (4,), (6,)]


def test_both_directions_add_to_one_gradient() -> None:
    """d/dW of Σ(xW) and Σ(yWᵀ): xᵀ1 and 1ᵀy."""
    layer = filled(TiedDense(4))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(layer(X)) + tf.reduce_sum(layer(Y, reverse=True))
    expected = X.sum(0)[:, None] @ np.ones((1, 4)) + np.ones((6, 1)) @ Y.sum(0)[None]
    np.testing.assert_allclose(tape.gradient(total, layer.kernel), expected, atol=1e-5)


def test_untied_has_two_different_kernels() -> None:
    layer = filled(TiedDense(4, tied=False))
    assert not np.allclose(layer.kernel, layer.reverse_kernel)
    np.testing.assert_allclose(layer(Y, reverse=True), Y @ layer.reverse_kernel.numpy().T - np.arange(6) - 1, atol=1e-5)


def test_the_tied_kernel_is_decayed_once_and_biases_are_not() -> None:
    layer = filled(TiedDense(4, kernel_regularizer=keras.regularizers.L2(0.5)))
    layer(X), layer(Y, reverse=True)
    np.testing.assert_allclose(sum(layer.losses), 0.5 * np.sum(layer.kernel.numpy() ** 2), rtol=1e-6)


def test_locally_dense_is_a_block_diagonal_dense() -> None:
    layer = LocallyDense(4, parts=2)
    layer.build((None, 6))
    for number, part in enumerate(layer.maps):
        part.bias.assign(np.arange(2) + 2 * number + 1.0)
        part.reverse_bias.assign(-np.arange(3) - 3 * number - 1.0)
    block = np.zeros((6, 4))
    block[:3, :2], block[3:, 2:] = (part.kernel.numpy() for part in layer.maps)
    np.testing.assert_allclose(layer(X), X @ block + np.arange(4) + 1, atol=1e-5)
    np.testing.assert_allclose(layer(Y, reverse=True), Y @ block.T - np.arange(6) - 1, atol=1e-5)
    assert layer.count_params() == 6 * 4 // 2 + 4 + 6


def test_parts_of_a_locally_dense_layer_start_different() -> None:
    layer = LocallyDense(4, parts=2)
    layer.build((None, 6))
    assert not np.allclose(layer.maps[0].kernel, layer.maps[1].kernel)


@pytest.mark.parametrize("kind", [TiedDense, LocallyDense])
@pytest.mark.parametrize("tied", [True, False])
def test_the_tie_survives_a_keras_file(kind: type[TiedDense | LocallyDense], tied: bool, tmp_path: Path) -> None:
    layer = kind(4, tied=tied)
    x, y = keras.Input((6,)), keras.Input((4,))
    keras.Model([x, y], [layer(x), layer(y, reverse=True)]).save(tmp_path / "both.keras")
    copy = keras.saving.load_model(tmp_path / "both.keras")
    loaded = copy.get_layer(layer.name)
    for part in getattr(loaded, "maps", [loaded]):
        assert (part.kernel is part.reverse_kernel) is tied
    for found, expected in zip(copy([X, Y]), [layer(X), layer(Y, reverse=True)], strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_tie_survives_a_saved_model(tmp_path: Path) -> None:
    layer = filled(TiedDense(4))
    module = tf.Module()
    module.layer = layer
    signature = [tf.TensorSpec([None, 4], tf.float32)]
    module.back = tf.function(lambda y: layer(y, reverse=True), input_signature=signature)
    tf.saved_model.save(module, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_allclose(loaded.back(Y), layer(Y, reverse=True), atol=1e-6)


def test_sizes_that_cannot_be_cut_are_refused() -> None:
    with pytest.raises(ValueError, match="units must be a multiple of parts, got 5 and 2"):
        LocallyDense(5, parts=2)
    with pytest.raises(ValueError, match="the input's size must be a multiple of parts, got 7 and 2"):
        LocallyDense(4, parts=2).build((None, 7))


@pytest.mark.parametrize("layer", [TiedDense(4), LocallyDense(4)])
def test_a_first_call_in_reverse_is_refused(layer: TiedDense | LocallyDense) -> None:
    """The layer would have the wrong kernel: nothing says how long the forward input is."""
    for inputs in (Y, keras.Input((4,))):
        with pytest.raises(ValueError, match=r"found reverse=True before the layer was built.*layer\.build\(\(None, "):
            layer(inputs, reverse=True)
    with pytest.raises(ValueError, match="found reverse=True before the layer was built"):
        layer.compute_output_spec(keras.KerasTensor((None, 4)), reverse=True)
    assert not layer.built
    layer.build((None, 6))
    assert layer(Y, reverse=True).shape == (5, 6)
    assert layer(keras.Input((4,)), reverse=True).shape == (None, 6)


@pytest.mark.parametrize("kind", [TiedDense, LocallyDense])
def test_sequences_run_both_ways(kind: type[TiedDense | LocallyDense]) -> None:
    layer, x, y = kind(4), np.stack([X, 2 * X], axis=1), np.stack([Y, 2 * Y], axis=1)
    for inputs, single, reverse in ((x, X, False), (y, Y, True)):
        np.testing.assert_allclose(layer(inputs, reverse=reverse)[:, 0], layer(single, reverse=reverse), atol=1e-6)
        assert layer(keras.Input(inputs.shape[1:]), reverse=reverse).shape == (None, 2, 6 if reverse else 4)
