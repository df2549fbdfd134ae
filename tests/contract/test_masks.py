"""Keras' implicit masks give the numbers of explicit masks, or are passed on, whatever the layer."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from vse_zoo.losses.base import BatchLoss
from vse_zoo.models.context_attention.encoders import SentenceEncoder


class Masked(keras.layers.Layer):
    """A tensor that carries a mask from here on, as after `keras.layers.Masking`."""

    def __init__(self) -> None:
        super().__init__(autocast=False)
        self.supports_masking = True

    def call(self, pair: list[Any]) -> Any:
        return ops.copy(pair[0])

    def compute_mask(self, pair: list[Any], previous_mask: Any = None) -> Any:
        return pair[1]


def masks_of(contract: ModuleType, cls: type, inputs: dict[str, Any]) -> dict[str, tuple[str, np.ndarray]]:
    """For each argument that a mask is for: the mask's name, and a mask without the last item."""
    names = contract.arguments(cls)
    tensors = [name for name in inputs if not name.endswith("mask")]
    found = {}
    for name in tensors:
        mask_name = "mask" if len(tensors) == 1 else f"{name}_mask"
        if mask_name in names:
            mask = np.ones(inputs[name].shape[: 1 if inputs[name].shape.rank < 3 else 2], bool)
            if "int" in inputs[name].dtype.name:
                mask = np.ones(inputs[name].shape, bool)
            mask[..., -1] = False
            found[name] = (mask_name, mask)
    return found


def called(layer: Any, inputs: dict[str, Any]) -> list[Any]:
    """The outputs, in training where the layer knows the difference."""
    options = {"training": True} if "training" in layer.call.__code__.co_varnames else {}
    return tf.nest.flatten(layer(**inputs, **options))


def test_an_implicit_mask_is_an_explicit_mask(contract: ModuleType, plain_layer_class: type) -> None:
    _, layer, inputs = contract.example(plain_layer_class)
    masks = masks_of(contract, plain_layer_class, inputs)
    if not masks:
        pytest.skip("takes no mask: the next test is for it")
    for name, (mask_name, mask) in masks.items():
        others = {key: value for key, value in inputs.items() if key != mask_name}
        expected = called(layer, {**others, mask_name: tf.constant(mask)})
        found = called(layer, {**others, name: Masked()([inputs[name], tf.constant(mask)])})
        ignored = called(layer, others)
        for one, explicit, unmasked in zip(found, expected, ignored, strict=True):
            np.testing.assert_array_equal(one, explicit)
            assert not np.allclose(explicit, unmasked, atol=1e-4), f"{mask_name} has no effect"


def test_an_implicit_mask_reaches_the_layer_in_somebody_elses_model(
    contract: ModuleType, plain_layer_class: type
) -> None:
    _, layer, inputs = contract.example(plain_layer_class)
    masks = masks_of(contract, plain_layer_class, inputs)
    mask_names = {mask_name for mask_name, _ in masks.values()}
    given = {name: value for name, value in inputs.items() if name not in mask_names}
    values = {**given, **{mask_name: tf.constant(mask) for mask_name, mask in masks.values()}}
    symbols = {name: keras.Input(value.shape[1:], dtype=value.dtype, name=name) for name, value in values.items()}
    masked = {name: Masked()([symbols[name], symbols[mask_name]]) for name, (mask_name, _) in masks.items()}
    model = keras.Model(symbols, layer(**{name: masked.get(name, symbols[name]) for name in given}))
    for found, expected in zip(tf.nest.flatten(model(values)), tf.nest.flatten(layer(**values)), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_layer_that_takes_no_mask_passes_it_on(contract: ModuleType, plain_layer_class: type) -> None:
    _, layer, inputs = contract.example(plain_layer_class)
    if masks_of(contract, plain_layer_class, inputs):
        pytest.skip("takes masks")
    first = next(iter(inputs))
    mask = tf.constant(np.arange(len(inputs[first])) % 3 > 0)
    outputs = tf.nest.flatten(layer(**{**inputs, first: Masked()([inputs[first], mask])}))
    for output, expected in zip(outputs, tf.nest.flatten(layer(**inputs)), strict=True):
        np.testing.assert_array_equal(output, expected)
        np.testing.assert_array_equal(output._keras_mask, mask)


def test_what_has_an_item_for_each_item_passes_the_mask_on(contract: ModuleType, plain_layer_class: type) -> None:
    """Who averages the items of a layer must know which of them are padding."""
    _, layer, inputs = contract.example(plain_layer_class)
    masks = masks_of(contract, plain_layer_class, inputs)
    first = next(iter(inputs))
    if issubclass(plain_layer_class, BatchLoss) or first not in masks:
        pytest.skip("has no items")
    mask_name, mask = masks[first]
    output = tf.nest.flatten(layer(**{**inputs, mask_name: tf.constant(mask)}))[0]
    if output.shape[: mask.ndim] != mask.shape or plain_layer_class.compute_mask(layer, inputs[first], mask) is None:
        assert getattr(output, "_keras_mask", None) is None
        return
    real = mask & (inputs[first].numpy() != 0) if first == "ids" else mask
    np.testing.assert_array_equal(output._keras_mask, real)


def test_vectors_of_somebody_elses_embedding() -> None:
    """Its padding isn't zero, and only the mask tells it from words."""
    keras.utils.set_random_seed(2)
    ids = np.array([[3, 1, 2, 0, 0], [1, 0, 0, 0, 0]])
    words = keras.layers.Embedding(4, 6, mask_zero=True)
    encoder = SentenceEncoder(None, 6, 4, 2, 3)
    found = encoder(words(ids))
    vectors = np.where(ids[:, :, None] > 0, words(ids), 0.0)
    np.testing.assert_allclose(found, encoder(vectors), atol=1e-6)
