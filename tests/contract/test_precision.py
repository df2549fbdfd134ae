"""Every layer and model under mixed_float16, mixed_bfloat16 and float64: its dtypes, and its values against float32."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.layers.full_precision import FullPrecisionLayer, full_precision

POLICIES = ("mixed_float16", "mixed_bfloat16", "float64")
# Half the distance from 1 to the next number. A float64 layer is held to the rounding of the float32 layer beside it.
ROUNDOFF = {"mixed_float16": 2.0**-12, "mixed_bfloat16": 2.0**-9, "float64": 2.0**-24}
MEAN, SCALE = 40.0, 20.0
"""Of the inputs of layers with statistics: what tells the inputs apart is below the roundoff of half precision."""


def around_the_mean(thing: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Gives a layer with statistics the mean 40 and the deviation 0.05, and the inputs the same."""
    statistics = [weight for weight in thing.weights if weight.name in ("mean", "scale")]
    for weight in statistics:
        weight.assign(np.full(weight.shape, MEAN if weight.name == "mean" else SCALE))
    return {name: _shifted(value) if statistics else value for name, value in inputs.items()}


def _shifted(value: Any) -> Any:
    return MEAN + value / SCALE if tf.is_tensor(value) and value.dtype.is_floating else value


@dataclass(frozen=True, eq=False)
class Example:
    """A layer or model in float32, inputs, and what it gives."""

    kind: Any
    thing: Any
    inputs: dict[str, Any]
    outputs: Any

    @classmethod
    @cache
    def of(cls, contract: ModuleType, kind: type) -> Example:
        """One for all policies."""
        found, thing, inputs = contract.example(kind)
        inputs = around_the_mean(thing, inputs)
        return cls(found, thing, inputs, found.call(thing, inputs))

    def under(self, contract: ModuleType, policy: str) -> Example:
        """The same with the same weights, under a policy."""
        thing = contract.create(type(self.thing), dtype=policy)
        if not thing.built:
            self.kind.call(thing, self.inputs)
        thing.set_weights(self.thing.get_weights())
        return Example(self.kind, thing, self.inputs, self.kind.call(thing, self.inputs))

    def numbers(self) -> dict[str, Any]:
        """Of a model: the loss of the outputs, and the embeddings that users see."""
        images = self.thing.encode_image(self.inputs["regions"].numpy(), self.inputs["region_mask"].numpy())
        texts = self.thing.encode_text(["a dog", "dog"])
        loss = self.thing.compute_loss(x=self.inputs, y_pred=self.outputs)
        return {"loss": loss, "images": getattr(images, "items", images), "texts": getattr(texts, "items", texts)}


def expected_dtype(cls: type, policy: str) -> str:
    """The dtype that the class's documentation states: float32 under mixed precision, or what the layers compute in."""
    returned = inspect.getdoc(cls).split("Returns:")[1]
    at_least_float32 = "float32" in re.split(r"[;.]", returned)[0]
    return str((full_precision(policy) if at_least_float32 else keras.DTypePolicy(policy)).compute_dtype)


def own_layers(thing: Any) -> list[Any]:
    """A layer's sublayers at any depth, but for those that its maker gave it."""
    given = {id(getattr(thing, name, None)) for name in inspect.signature(type(thing)).parameters}
    own = [layer for layer in thing._layers if id(layer) not in given]
    return own + [inner for layer in own for inner in own_layers(layer)]


def assert_near(found: Any, expected: Any, tolerance: float) -> None:
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        one, other = (np.asarray(value).astype(np.float64) for value in (one, other))
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(other).max(initial=1e-30))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_layer_gives_its_dtype_and_the_values_of_float32(
    contract: ModuleType, plain_layer_class: type, policy: str
) -> None:
    """Within 16 roundoffs, as of a dozen operations; a layer of full precision gives the same number to the bit."""
    full = Example.of(contract, plain_layer_class)
    found = full.under(contract, policy).outputs
    assert {output.dtype.name for output in contract.floats(found)} == {expected_dtype(plain_layer_class, policy)}
    exact = issubclass(plain_layer_class, FullPrecisionLayer) and policy != "float64"
    assert_near(found, full.outputs, 0.0 if exact else 16 * ROUNDOFF[policy])


@pytest.mark.parametrize("policy", POLICIES)
def test_a_model_gives_the_values_of_float32(contract: ModuleType, model_class: type, policy: str) -> None:
    """Within 32 roundoffs: outputs, loss, and the float32 embeddings that users see."""
    full = Example.of(contract, model_class)
    other = full.under(contract, policy)
    assert_near(other.outputs, full.outputs, 32 * ROUNDOFF[policy])
    numbers = other.numbers()
    assert_near(numbers, full.numbers(), 32 * ROUNDOFF[policy])
    assert numbers["loss"].dtype.name == full_precision(policy).compute_dtype
    assert numbers["images"].dtype == numbers["texts"].dtype == np.float32


@pytest.mark.parametrize("policy", POLICIES)
def test_the_policy_is_that_of_all_layers_within(contract: ModuleType, layer_class: type, policy: str) -> None:
    thing = contract.create(layer_class, dtype=policy)
    allowed = {keras.DTypePolicy(policy).compute_dtype, full_precision(policy).compute_dtype}
    for layer in own_layers(thing):
        assert layer.compute_dtype in allowed, f"{layer.path}: pass on dtype=self.dtype_policy"


class Reader(keras.layers.Layer):
    """Reads a layer's weights in its own call, as `keras.layers.TimeDistributed` does."""

    def call(self, inputs: Any, layer: Any) -> list[str]:
        return [weight.value.dtype.name for weight in layer.weights]


@pytest.mark.parametrize("policy", ["mixed_float16", "float16"])
def test_weights_of_full_precision_are_not_rounded_whoever_reads_them(
    contract: ModuleType, plain_layer_class: type, policy: str
) -> None:
    _, thing, _ = contract.example(plain_layer_class, dtype=policy)
    if not issubclass(plain_layer_class, FullPrecisionLayer) or not thing.weights:
        pytest.skip("has no weights, or rounds them")
    read = Reader(dtype=policy)(np.zeros(1), layer=thing)
    assert read == [weight.dtype for weight in thing.weights]
    assert set(read) <= {"float32", "bool"}
