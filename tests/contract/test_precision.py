"""Every layer and model under mixed_float16, mixed_bfloat16 and float64: its dtypes, and its values against float32."""

from __future__ import annotations

import inspect
import re
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


def pair(contract: ModuleType, cls: type, policy: str) -> tuple[Any, Any, dict[str, Any], Any]:
    """The layer in float32, the same under the policy, inputs, and the kind's call."""
    kind, full, inputs = contract.example(cls)
    _, other, _ = contract.example(cls, dtype=policy)
    inputs = around_the_mean(full, inputs)
    other.set_weights(full.get_weights())
    return full, other, inputs, kind.call


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
    full, other, inputs, call = pair(contract, plain_layer_class, policy)
    found, expected = call(other, inputs), call(full, inputs)
    assert {output.dtype.name for output in contract.floats(found)} == {expected_dtype(plain_layer_class, policy)}
    exact = issubclass(plain_layer_class, FullPrecisionLayer) and policy != "float64"
    assert_near(found, expected, 0.0 if exact else 16 * ROUNDOFF[policy])


@pytest.mark.parametrize("policy", POLICIES)
def test_a_model_gives_the_values_of_float32(contract: ModuleType, model_class: type, policy: str) -> None:
    """Within 32 roundoffs: outputs, loss, and the float32 embeddings that users see."""
    full, other, inputs, call = pair(contract, model_class, policy)
    found, expected = call(other, inputs), call(full, inputs)
    assert_near(found, expected, 32 * ROUNDOFF[policy])
    losses = [model.compute_loss(x=inputs, y_pred=outputs) for model, outputs in ((other, found), (full, expected))]
    assert losses[0].dtype.name == full_precision(policy).compute_dtype
    assert_near(*losses, 32 * ROUNDOFF[policy])
    for encode in (encoded_images, encoded_texts):
        vectors, reference = encode(other, inputs), encode(full, inputs)
        assert vectors.dtype == np.float32
        assert_near(vectors, reference, 32 * ROUNDOFF[policy])


def encoded_images(model: Any, inputs: dict[str, Any]) -> np.ndarray:
    images = model.encode_image(inputs["regions"].numpy(), inputs["region_mask"].numpy())
    return getattr(images, "items", images)


def encoded_texts(model: Any, inputs: dict[str, Any]) -> np.ndarray:
    texts = model.encode_text(["a dog", "dog"])
    return getattr(texts, "items", texts)


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
