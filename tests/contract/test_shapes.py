"""Layers in somebody else's model: the shapes they announce, symbolic calls, `TimeDistributed`, a step of `fit`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

OPTIONS = ("return_weights", "return_plans")


def symbols_of(inputs: dict[str, Any]) -> dict[str, Any]:
    """Keras inputs like the example's, for a batch of any size."""
    return {name: keras.Input(value.shape[1:], dtype=value.dtype, name=name) for name, value in inputs.items()}


def options_of(contract: ModuleType, cls: type) -> list[dict[str, bool]]:
    """Calls that return different things."""
    return [{}, *({name: True} for name in OPTIONS if name in contract.arguments(cls))]


def described(structure: Any) -> list[tuple[str, tuple[int | None, ...]]]:
    """Dtype and shape of each tensor or announced tensor."""
    return [(keras.backend.standardize_dtype(part.dtype), tuple(part.shape)) for part in tf.nest.flatten(structure)]


@pytest.mark.parametrize("policy", ["float32", "mixed_float16", "float64"])
def test_a_layer_that_is_not_built_announces_what_comes_out(
    contract: ModuleType, plain_layer_class: type, policy: str
) -> None:
    inputs = contract.tensors(contract.kind_of(plain_layer_class).inputs())
    announcing, called = (contract.create(plain_layer_class, dtype=policy) for _ in range(2))
    specs = {name: keras.KerasTensor(value.shape, value.dtype.name) for name, value in inputs.items()}
    for options in options_of(contract, plain_layer_class):
        expected = described(called(**inputs, **options))
        assert described(announcing.compute_output_spec(**specs, **options)) == expected
    shapes = [spec.shape for name, spec in specs.items() if not name.endswith("mask")]
    found = announcing.compute_output_shape(*shapes)
    first = announcing.compute_output_spec(**specs)
    assert found == (first.shape if hasattr(first, "shape") else tuple(part.shape for part in first))


def test_a_symbolic_call_gives_what_it_announced(contract: ModuleType, plain_layer_class: type) -> None:
    for options in options_of(contract, plain_layer_class):
        _, layer, inputs = contract.example(plain_layer_class)
        symbols = symbols_of(inputs)
        outputs, expected = layer(**symbols, **options), layer(**inputs, **options)
        for (dtype, announced), (found_dtype, found_shape) in zip(described(outputs), described(expected), strict=True):
            assert dtype == found_dtype
            assert all(size in (None, found) for size, found in zip(announced, found_shape, strict=True))
        found = keras.Model(symbols, outputs)(inputs)
        for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_time_distributed_runs_a_layer_at_each_step(contract: ModuleType, plain_layer_class: type) -> None:
    inputs = contract.tensors(contract.kind_of(plain_layer_class).inputs())
    values = [value for name, value in inputs.items() if not name.endswith("mask")]
    if len(values) > 1 or plain_layer_class.compute_output_shape(contract.create(plain_layer_class), (4, 5, 6)) == ():
        pytest.skip("TimeDistributed is for layers with one input and an output for each row of the batch")
    steps = ops.stack([values[0], ops.flip(values[0], axis=0)], axis=1)
    layer = contract.create(plain_layer_class)
    wrapped = keras.layers.TimeDistributed(layer)
    outputs = wrapped(keras.Input(steps.shape[1:], dtype=steps.dtype))
    found = wrapped(steps)
    assert wrapped.compute_output_shape((None, *steps.shape[1:])) == outputs.shape == (None, *found.shape[1:])
    for step in range(2):
        np.testing.assert_allclose(found[:, step], layer(steps[:, step]), atol=1e-6)


class Base(keras.layers.Layer):
    """The inputs times a trained factor for each dimension."""

    def build(self, input_shape: Any) -> None:
        self.weight = self.add_weight(shape=input_shape[-1:], initializer="ones", name="weight")

    def call(self, inputs: Any) -> Any:
        return inputs * self.weight

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class Head(keras.layers.Layer):
    """A number for each row of the batch from all that a layer gives."""

    def build(self, input_shape: Any) -> None:
        self.weight = self.add_weight(shape=(), initializer="ones", name="weight")

    def call(self, parts: list[Any]) -> Any:
        *outputs, like = parts
        numbers = [output + ops.square(output) for output in outputs]
        means = [ops.mean(number, axis=tuple(range(1, len(number.shape)))) for number in numbers]
        zeros = ops.mean(ops.zeros_like(like, dtype="float32"), axis=tuple(range(1, len(like.shape))))
        return self.weight * sum(means, zeros)

    def compute_output_shape(self, input_shape: Any) -> tuple[int | None]:
        return (input_shape[-1][0],)


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_step_of_fit_inside_somebody_elses_model(contract: ModuleType, plain_layer_class: type, jit: bool) -> None:
    """What comes before the layer is trained through it; under XLA too where the layer supports it."""
    _, layer, inputs = contract.example(plain_layer_class)
    symbols = symbols_of(inputs)
    bases = {name: Base() for name, symbol in symbols.items() if "float" in symbol.dtype}
    outputs = layer(**{name: bases[name](symbol) if name in bases else symbol for name, symbol in symbols.items()})
    model = keras.Model(symbols, Head()([*contract.floats(outputs), next(iter(symbols.values()))]))
    model.compile("sgd", "mse", jit_compile=jit and layer.supports_jit)
    trained = [*layer.trainable_weights, *(base.weight for base in bases.values())]
    before = [weight.numpy() for weight in trained]
    rows = len(next(iter(inputs.values())))
    history = model.fit(inputs, 3.0 * np.ones(rows), batch_size=rows, verbose=0)
    assert np.isfinite(history.history["loss"][0])
    moved = {weight.path for weight, old in zip(trained, before, strict=True) if not np.array_equal(weight, old)}
    assert {base.weight.path for base in bases.values()} <= moved
    assert not layer.trainable_weights or moved & {weight.path for weight in layer.trainable_weights}
    assert all(np.all(np.isfinite(weight)) for weight in trained)
