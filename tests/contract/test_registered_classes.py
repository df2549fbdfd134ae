"""One contract over every class registered with Keras: layers, losses, models, preprocessors."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf


def assert_close(actual: Any, expected: Any, tolerance: float) -> None:
    for one, other in zip(tf.nest.flatten(actual), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(one, other, atol=tolerance, rtol=0)


def test_something_is_registered(contract: ModuleType) -> None:
    assert {"ContextAttention", "ContextAttentionVSE", "TripletLoss", "TextPreprocessor"} <= set(contract.registered())


def test_fits_a_kind(contract: ModuleType, cls: type) -> None:
    contract.kind_of(cls)


def test_a_class_of_no_kind_fails_with_advice(contract: ModuleType) -> None:
    class Odd(keras.layers.Layer):
        def call(self, oddity: Any) -> Any:
            return oddity

    with pytest.raises(pytest.fail.Exception, match=r"Odd.* fits no kind .*tests/contract/conftest\.py"):
        contract.kind_of(Odd)


def test_survives_its_config(contract: ModuleType, cls: type) -> None:
    _, thing, _ = contract.example(cls)
    config = keras.saving.serialize_keras_object(thing)
    copy = keras.saving.deserialize_keras_object(config)
    assert type(copy) is cls
    assert keras.saving.serialize_keras_object(copy) == config


def test_survives_a_keras_file(contract: ModuleType, layer_class: type, tmp_path: Path) -> None:
    kind, thing, inputs = contract.example(layer_class)
    path = tmp_path / "model.keras"
    if isinstance(thing, keras.Model):
        thing.save(path)
        copy = keras.saving.load_model(path)
    else:
        symbols = {name: keras.Input(value.shape[1:], dtype=value.dtype, name=name) for name, value in inputs.items()}
        keras.Model(symbols, kind.call(thing, symbols)).save(path)
        copy = keras.saving.load_model(path).get_layer(thing.name)
    assert type(copy) is layer_class
    assert_close(kind.call(copy, inputs), kind.call(thing, inputs), 1e-6)


def test_padding_changes_nothing(contract: ModuleType, layer_class: type) -> None:
    kind, thing, inputs = contract.example(layer_class)
    if kind.padded is None:
        pytest.skip(f"a {kind.name} has nothing to pad")
    longer = contract.tensors(kind.padded(tf.nest.map_structure(np.asarray, inputs)))
    expected = kind.call(thing, inputs)
    found = tf.nest.map_structure(_cut_to, kind.call(thing, longer), expected)
    assert_close(found, expected, 1e-6)


def _cut_to(longer: tf.Tensor, expected: tf.Tensor) -> tf.Tensor:
    """An output per item has outputs for the padding too."""
    return longer[tuple(slice(size) for size in expected.shape)]


def test_a_loss_is_a_float32_scalar_and_not_rounded_under_mixed_precision(
    contract: ModuleType, loss_class: type
) -> None:
    kind, full, inputs = contract.example(loss_class)
    mixed = contract.create(loss_class, dtype="mixed_float16")
    loss = kind.call(mixed, inputs)
    assert loss.dtype == tf.float32
    assert loss.shape == ()
    np.testing.assert_allclose(loss, kind.call(full, inputs), rtol=1e-6)


def test_a_loss_is_float32_under_a_mixed_precision_model(contract: ModuleType, model_class: type) -> None:
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        kind, model, inputs = contract.example(model_class)
        loss = model.compute_loss(x=inputs, y_pred=kind.call(model, inputs))
    finally:
        keras.config.set_dtype_policy(policy)
    assert loss.dtype == tf.float32
    assert np.isfinite(loss)


def test_zero_vectors_have_finite_gradients(contract: ModuleType, layer_class: type) -> None:
    kind, thing, inputs = contract.example(layer_class)
    inputs = tf.nest.map_structure(lambda part: tf.zeros_like(part) if part.dtype.is_floating else part, inputs)
    with tf.GradientTape() as tape:
        watched = contract.floats(inputs)
        tape.watch(watched)
        outputs = kind.call(thing, inputs)
        if isinstance(thing, keras.Model):
            outputs = thing.compute_loss(x=inputs, y_pred=outputs)
        total = tf.add_n([tf.reduce_sum(output**2 + output) for output in contract.floats(outputs)])
    gradients = tape.gradient(total, [*watched, *(weight.value for weight in thing.trainable_variables)])
    assert any(gradient is not None for gradient in gradients) or not gradients
    for gradient in gradients:
        assert gradient is None or np.all(np.isfinite(tf.convert_to_tensor(gradient)))


def test_rows_without_items_have_finite_outputs_and_gradients(contract: ModuleType, layer_class: type) -> None:
    """All masks False and all ids padding, as a damaged batch would have them."""
    kind, thing, inputs = contract.example(layer_class)
    inputs = tf.nest.map_structure(lambda part: part if part.dtype.is_floating else tf.zeros_like(part), inputs)
    with tf.GradientTape() as tape:
        outputs = contract.floats(kind.call(thing, inputs))
        total = tf.add_n([tf.reduce_sum(output**2) for output in outputs])
    assert all(np.all(np.isfinite(output)) for output in outputs)
    for gradient in tape.gradient(total, [weight.value for weight in thing.trainable_variables]):
        assert gradient is None or np.all(np.isfinite(tf.convert_to_tensor(gradient)))


def test_states_that_it_supports_masking(contract: ModuleType, layer_class: type) -> None:
    if not issubclass(layer_class, keras.Model):
        assert contract.create(layer_class).supports_masking, f"{layer_class.__name__}: set supports_masking = True"


def test_a_model_encodes_what_it_calls_embeddings(contract: ModuleType, model_class: type) -> None:
    model = contract.create(model_class)
    regions, mask = contract.items()
    images, texts = model.encode_image(regions, mask), model.encode_text(["a dog", "", "dog"], "en")
    assert model.similarity_kind in ("embedding", "pairwise")
    assert model.similarity(images, texts).shape == (len(regions), 3)
    if model.similarity_kind == "embedding":
        for vectors in (images, texts):
            assert vectors.dtype == np.float32
            np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
