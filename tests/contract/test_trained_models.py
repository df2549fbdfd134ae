"""One contract over every model: Keras' own verbs do what a Keras user expects, or refuse it."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo import presets
from vse_zoo.losses import CanonicalDistance, ContrastiveLoss, Decorrelation, DiversityLoss, TripletLoss

STEPS = 2
OTHERS: dict[str, Any] = {
    "ranking_loss": lambda: ContrastiveLoss(0.3, learnable=True),
    "diversity_loss": lambda: DiversityLoss(0.4),
    "canonical": lambda: CanonicalDistance(0.2),
    "decorrelation": lambda: Decorrelation("norm"),
}
"""Losses that aren't the defaults, by the arguments that take them. A new kind of loss needs an entry here."""


class Source:
    """A batch source: batch n is a function of n."""

    batch_size, steps_per_epoch = 4, STEPS

    def __init__(self, contract: ModuleType) -> None:
        self._batch = contract.batch()

    def batch(self, step: int) -> dict[str, Any]:
        shifted = self._batch["regions"] + np.float32(0.1 * int(step))
        return {**self._batch, "regions": shifted * self._batch["region_mask"][..., None]}

    def dataset(self, start_epoch: Any = 0) -> tf.data.Dataset:
        first = tf.cast(start_epoch, tf.int64) * self.steps_per_epoch
        signature = tf.nest.map_structure(lambda array: tf.TensorSpec(array.shape, array.dtype), self._batch)
        flat = [spec.dtype for spec in tf.nest.flatten(signature)]

        def read(step: tf.Tensor) -> Any:
            arrays = tf.numpy_function(lambda number: tf.nest.flatten(self.batch(number)), [step], flat)
            for tensor, spec in zip(arrays, tf.nest.flatten(signature), strict=True):
                tensor.set_shape(spec.shape)
            return tf.nest.pack_sequence_as(signature, arrays)

        return tf.data.Dataset.range(first, first + 10_000).map(read)


@pytest.fixture
def source(contract: ModuleType) -> Source:
    return Source(contract)


def trained(contract: ModuleType, cls: type, **options: Any) -> Any:
    """A model with dropout, compiled. Eagerly, since traced steps have the same state and take seconds to trace."""
    model = contract.create(cls, dropout=0.4)
    optimizer = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.05, 8), momentum=0.9, clipnorm=1.0)
    model.compile(optimizer, run_eagerly=True, jit_compile=False, **options)
    return model


def state(model: Any) -> list[np.ndarray]:
    return [variable.numpy() for variable in (*model.variables, *model.optimizer.variables)]


def assert_equal_states(one: Any, other: Any) -> None:
    for found, expected in zip(state(one), state(other), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_training_goes_on_after_a_keras_file_as_if_it_had_never_stopped(
    contract: ModuleType, model_class: type, source: Source, tmp_path: Path
) -> None:
    model = trained(contract, model_class)
    model.fit(source, verbose=0)
    model.save(tmp_path / "model.keras")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = keras.models.load_model(tmp_path / "model.keras")
    assert_equal_states(loaded, model)
    resumed, whole = (each.fit(source, epochs=2, initial_epoch=1, verbose=0).history for each in (loaded, model))
    assert resumed == whole
    assert_equal_states(loaded, model)
    assert int(loaded.optimizer.iterations) == 2 * STEPS


@pytest.mark.slow
def test_dropout_and_momentum_matter(contract: ModuleType, model_class: type, source: Source, tmp_path: Path) -> None:
    """Otherwise the test above would show little: with other random states, or no momentum, the weights are others."""
    model = trained(contract, model_class)
    model.fit(source, epochs=1, verbose=0)
    model.save(tmp_path / "model.keras")
    same, reseeded, reset = (keras.models.load_model(tmp_path / "model.keras") for _ in range(3))
    for variable in reseeded._random_states():
        variable.assign(variable + 1)
    for variable in reset.optimizer.variables[2:]:
        variable.assign(tf.zeros_like(variable.value))
    for each in (same, reseeded, reset):
        each.fit(source, epochs=2, initial_epoch=1, verbose=0)
    for other in (reseeded, reset):
        pairs = zip(same.weights, other.weights, strict=True)
        assert any((one.numpy() != another.numpy()).any() for one, another in pairs)


@pytest.mark.usefixtures("without_graphs")
def test_what_is_frozen_and_what_does_not_decay_comes_back(
    contract: ModuleType, model_class: type, source: Source, tmp_path: Path
) -> None:
    model = contract.create(model_class)
    leaves = (layer for layer in model._flatten_layers() if len(list(layer._flatten_layers())) == 1)
    next(layer for layer in leaves if layer.trainable_variables).trainable = False
    optimizer = keras.optimizers.AdamW(0.01, weight_decay=0.1)
    kept, named = model.trainable_variables[0], model.trainable_variables[-1]
    optimizer.exclude_from_weight_decay([kept], [named.name])
    model.compile(optimizer, run_eagerly=True, jit_compile=False)
    model.fit(source, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert [weight.trainable for weight in loaded.weights] == [weight.trainable for weight in model.weights]
    for weight, other in zip(loaded.trainable_variables, model.trainable_variables, strict=True):
        assert loaded.optimizer._use_weight_decay(weight.value) == optimizer._use_weight_decay(other.value)
    assert not loaded.optimizer._use_weight_decay(loaded.trainable_variables[0].value)
    assert not loaded.optimizer._use_weight_decay(loaded.trainable_variables[-1].value)


def test_a_preset_loads_alike_again_after_another_and_in_threads(
    contract: ModuleType, model_class: type, tmp_path: Path
) -> None:
    model = contract.create(model_class)
    model.save_to_preset(tmp_path)
    expected = list(model.encode_text(["a dog", ""], "en"))
    with ThreadPoolExecutor(3) as pool:
        loaded = [presets.load(tmp_path), *pool.map(lambda _: presets.load(tmp_path), range(3)), presets.load(tmp_path)]
    for each in loaded:
        for one, other in zip(each.weights, model.weights, strict=True):
            np.testing.assert_array_equal(one, other)
    with ThreadPoolExecutor(1) as pool:
        encoded = pool.submit(loaded[-1].encode_text, ["a dog", ""], "en").result()
    for one, other in zip(encoded, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("policy", "scaled"),
    [
        ("mixed_float16", True),
        pytest.param("mixed_float16", False, marks=pytest.mark.slow),
        pytest.param("mixed_bfloat16", True, marks=pytest.mark.slow),
    ],
)
def test_a_keras_file_keeps_the_precision_and_the_loss_scale(
    contract: ModuleType, model_class: type, policy: str, scaled: bool, source: Source, tmp_path: Path
) -> None:
    keras.config.set_dtype_policy(policy)
    try:
        model = trained(contract, model_class, auto_scale_loss=scaled)
    finally:
        keras.config.set_dtype_policy("float32")
    model.fit(source, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    policies = [[layer.dtype_policy.name for layer in each._flatten_layers()] for each in (loaded, model)]
    assert policies[0] == policies[1]
    assert type(loaded.optimizer) is type(model.optimizer)
    for each in (loaded, model):
        each.fit(source, epochs=2, initial_epoch=1, verbose=0)
    assert_equal_states(loaded, model)


def test_a_preset_computes_alike_whatever_the_policy_is(
    contract: ModuleType, model_class: type, tmp_path: Path
) -> None:
    contract.create(model_class).save_to_preset(tmp_path)
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        loaded = presets.load(tmp_path)
    finally:
        keras.config.set_dtype_policy("float32")
    assert {layer.dtype_policy.name for layer in loaded._flatten_layers()} == {"float32"}
    mixed = presets.load(tmp_path, dtype="mixed_bfloat16")
    assert {layer.dtype_policy.name for layer in mixed._flatten_layers()} >= {"mixed_bfloat16"}
    for one, other in zip(mixed.weights, loaded.weights, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_what_compile_would_not_use_is_refused(contract: ModuleType, model_class: type) -> None:
    model = contract.create(model_class)
    given: list[tuple[str, Any]] = [("loss", "mse"), ("loss", TripletLoss()), ("loss_weights", [1.0])]
    for name, value in [*given, ("metrics", ["mse"]), ("weighted_metrics", [])]:
        expected = rf"{name}: found .*expected None: {model_class.__name__} computes its loss from the batch"
        with pytest.raises(ValueError, match=expected) as caught:
            model.compile("adam", **{name: value})
        assert all(f"{argument}=…" in str(caught.value) for argument in model.loss_arguments)
    assert not model.compiled


def test_targets_and_weights_of_samples_are_refused(contract: ModuleType, model_class: type) -> None:
    model, batch = trained(contract, model_class), contract.batch()
    rows = np.ones(contract.BATCH, "float32")
    for given in ({"y": rows}, {"sample_weight": rows}, {"y": rows, "sample_weight": rows}):
        for verb in (model.fit, model.evaluate):
            with pytest.raises(ValueError, match=rf"{next(iter(given))}: found one.*Pass the batches alone"):
                verb(batch, verbose=0, **given)
    with pytest.raises(ValueError, match="class_weight: found one"):
        model.fit(batch, class_weight={0: 1.0}, verbose=0)
    pairs = tf.data.Dataset.from_tensors((contract.tensors(batch), tf.constant(rows)))
    for verb in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match="y: found one"):
            verb(pairs, verbose=0)


def loss_of(model: Any, contract: ModuleType) -> float:
    batch = contract.tensors(contract.batch())
    return float(model.compute_loss(x=batch, y_pred=model(batch)))


def weights(model: Any) -> list[tuple[str, Any]]:
    """Names and shapes in order, without the numbers that Keras gives to the models and losses of one process."""
    return [(weight.name, weight.shape) for weight in model.weights]


@pytest.mark.usefixtures("without_graphs")
@pytest.mark.filterwarnings("ignore:Gradients do not exist")  # where a loss has the weight 0
def test_losses_are_replaced(contract: ModuleType, model_class: type, source: Source, tmp_path: Path) -> None:
    """By `load`, by `compile` and in the constructor's arguments alike, also where the new loss has a weight."""
    model = contract.create(model_class)
    model.save_to_preset(tmp_path / "preset")
    others = {name: OTHERS[name]() for name in model.loss_arguments}
    described = {name: keras.saving.serialize_keras_object(loss) for name, loss in others.items()}
    made = model_class.from_config({**model.get_config(), **described})
    made.build()
    loaded = presets.load(tmp_path / "preset", **others)
    model.compile(run_eagerly=True, jit_compile=False, **{name: OTHERS[name]() for name in others})
    for each in (model, loaded):
        assert weights(each) == weights(made)
        assert all(type(getattr(each, name)) is type(loss) for name, loss in others.items())
        each.set_weights(made.get_weights())
        assert loss_of(each, contract) == loss_of(made, contract)
    model.fit(source, verbose=0)
    model.save(tmp_path / "model.keras")
    assert_equal_states(keras.models.load_model(tmp_path / "model.keras"), model)
    model.save_to_preset(tmp_path / "again")
    assert loss_of(presets.load(tmp_path / "again"), contract) == loss_of(model, contract)


def test_losses_with_weights_can_be_replaced_by_losses_without(
    contract: ModuleType, model_class: type, tmp_path: Path
) -> None:
    model = contract.create(model_class, ranking_loss=ContrastiveLoss(0.3))
    model.save_to_preset(tmp_path)
    loaded = presets.load(tmp_path, ranking_loss=TripletLoss())
    kept = [weight for weight in model.weights if weight.name != "log_temperature"]
    assert len(loaded.weights) == len(kept) == len(model.weights) - 1
    for one, other in zip(loaded.weights, kept, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_loss_that_is_replaced_after_compiling_asks_for_compiling_again(
    contract: ModuleType, model_class: type, source: Source
) -> None:
    model = trained(contract, model_class)
    model.replace_losses(ranking_loss=TripletLoss(0.5))
    with pytest.raises(ValueError, match=r"compile\(\)"):
        model.fit(source, verbose=0)


def test_a_loss_that_is_no_layer_is_refused(contract: ModuleType, model_class: type, tmp_path: Path) -> None:
    model = contract.create(model_class)
    before = model.ranking_loss
    for loss in ("mse", keras.losses.MeanSquaredError(), lambda scores, ids: 0.0):
        with pytest.raises(TypeError, match=r"ranking_loss: found .*expected a layer"):
            model.compile(ranking_loss=loss)
    unknown = f"odd_loss: {model_class.__name__} has no such argument.*ranking_loss"
    with pytest.raises(TypeError, match=unknown):
        model.compile(odd_loss=TripletLoss(), ranking_loss=TripletLoss())
    assert model.ranking_loss is before
    model.save_to_preset(tmp_path)
    with pytest.raises(TypeError, match=unknown):
        presets.load(tmp_path, odd_loss=TripletLoss())


def test_batch_sources_are_taken_as_they_are(
    contract: ModuleType, model_class: type, source: Source, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (trained(contract, model_class) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = one.fit(source, validation_data=source, verbose=0).history
        other.fit(source.dataset(), steps_per_epoch=STEPS, verbose=0)
        figures = one.evaluate(source, verbose=0, return_dict=True)
        predicted = one.predict(source, verbose=0)
    assert_equal_states(one, other)
    assert figures == {name.removeprefix("val_"): values[0] for name, values in found.items() if "val_" in name}
    expected = [one(contract.tensors(source.batch(step))) for step in range(STEPS)]
    for name, values in predicted.items():
        np.testing.assert_allclose(values, np.concatenate([each[name] for each in expected]), atol=1e-6)
    assert capsys.readouterr().out == ""
