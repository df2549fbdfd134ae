"""Gradient accumulation: n batches are one step along their mean gradient, counted, clipped and resumed as such."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.errors import ConfigError
from vse_zoo.losses import ContrastiveLoss
from vse_zoo.models import ContextAttentionVSE
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.training import read_history
from vse_zoo.training.configs.optimizer import OptimizerConfig

STEPS, BATCHES = 3, 9
RANDOM = np.random.default_rng(0)
START = RANDOM.normal(size=7)
GRADIENTS = 3 * RANDOM.normal(size=(BATCHES, 7))


def adamw(rates: list[float], means: np.ndarray, decay: float) -> np.ndarray:
    """Loshchilov and Hutter, 2019, with Keras' ε, that of the end of section 2 of Kingma and Ba, 2015."""
    weights, first, second = START.copy(), np.zeros(7), np.zeros(7)
    for step, (rate, gradient) in enumerate(zip(rates, means, strict=True), start=1):
        weights -= rate * decay * weights
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        weights -= rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step) * first / (np.sqrt(second) + 1e-7)
    return weights


def nesterov(rates: list[float], means: np.ndarray, decay: float) -> np.ndarray:
    weights, velocity = START.copy(), np.zeros(7)
    for rate, gradient in zip(rates, means, strict=True):
        weights -= rate * decay * weights
        velocity = 0.9 * velocity - rate * gradient
        weights += 0.9 * velocity - rate * gradient
    return weights


@pytest.mark.parametrize(("kind", "reference"), [("adamw", adamw), ("sgd", nesterov)])
@pytest.mark.parametrize("clip", [0.0, 2.0])
def test_n_batches_are_one_step_along_their_mean(kind: Any, reference: Callable[..., np.ndarray], clip: float) -> None:
    """The rate is that of the step's last batch; what is clipped is the mean."""
    config = OptimizerConfig(
        kind=kind,
        learning_rate=0.1,
        schedule="staircase",
        step_epoch=1,
        step_factor=0.5,
        weight_decay=0.01,
        clip_norm=clip,
        gradient_accumulation_steps=STEPS,
    )
    optimizer = config.optimizer(steps_per_epoch=4, epochs=3)
    variable = keras.Variable(START.astype("float32"))
    optimizer.build([variable])
    seen = []
    for gradient in GRADIENTS:
        optimizer.apply([tf.constant(gradient, tf.float32)], [variable])
        seen.append(np.array(variable))
    means = GRADIENTS.reshape(-1, STEPS, 7).mean(axis=1)
    if clip:
        means = means * np.minimum(1.0, clip / np.linalg.norm(means, axis=1, keepdims=True))
    rates = [0.1 * 0.5 ** (batch // 4) for batch in range(STEPS - 1, BATCHES, STEPS)]
    np.testing.assert_allclose(seen[-1], reference(rates, means, 0.01), atol=2e-6)
    # Nothing moves within a step, and the number of steps is that of updates.
    assert [np.array_equal(one, other) for one, other in pairwise(seen)].count(False) == 3
    assert np.array_equal(seen[STEPS - 2], START.astype("float32"))
    assert int(optimizer.iterations) == BATCHES // STEPS


def test_a_model_steps_along_the_mean_of_its_batches_gradients() -> None:
    """Word vectors, too, whose gradients are sparse. Negatives are those of each batch."""
    keras.utils.set_random_seed(0)
    preprocessor = TextPreprocessor({"en": ["a", "dog", "cat"]})
    loss = ContrastiveLoss(0.1, learnable=True)
    model = ContextAttentionVSE(preprocessor, 6, units=4, heads=2, attention_dim=3, word_dim=5, ranking_loss=loss)
    model.build()
    batches = [batch(seed) for seed in range(STEPS)]
    gradients = [gradient(model, one) for one in batches]
    before = [weight.numpy() for weight in model.trainable_variables]
    config = OptimizerConfig(
        kind="sgd", momentum=0, weight_decay=0, clip_norm=0, learning_rate=0.1, gradient_accumulation_steps=STEPS
    )
    model.compile(config.optimizer(STEPS, 20), jit_compile=False)
    data = tf.data.Dataset.from_generator(lambda: iter(batches), output_signature=signature(batches[0]))
    model.fit(data, steps_per_epoch=STEPS, verbose=0)
    for weight, start, parts in zip(model.trainable_variables, before, zip(*gradients, strict=True), strict=True):
        np.testing.assert_allclose(weight, start - 0.1 * np.mean(parts, axis=0), atol=1e-6, err_msg=weight.path)


def batch(seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {
        "regions": random.normal(size=(4, 3, 6)).astype("float32"),
        "region_mask": np.ones((4, 3), bool),
        "text": {"en": random.integers(1, 5, (4, 3 + seed)).astype("int32")},
        "text_mask": {"en": np.ones(4, bool)},
        "image_id": np.arange(4, dtype="int32"),
    }


def signature(example: dict[str, Any]) -> Any:
    specs = tf.nest.map_structure(lambda array: tf.TensorSpec(array.shape, array.dtype), example)
    return {**specs, "text": {"en": tf.TensorSpec((4, None), tf.int32)}}


def gradient(model: Any, arrays: dict[str, Any]) -> list[np.ndarray]:
    inputs = tf.nest.map_structure(tf.constant, arrays)
    with tf.GradientTape() as tape:
        loss = model.compute_loss(x=inputs, y_pred=model(inputs, training=True))
    found = tape.gradient(loss, [weight.value for weight in model.trainable_variables])
    return [tf.convert_to_tensor(each).numpy() for each in found]


@pytest.mark.parametrize("steps", [1, 2])
def test_one_is_no_accumulation(steps: int) -> None:
    optimizer = OptimizerConfig(gradient_accumulation_steps=steps).optimizer(10, 20)
    assert optimizer.gradient_accumulation_steps == (None if steps == 1 else steps)


def test_under_a_strategy_it_is_refused() -> None:
    expected = r"field 'optimizer\.gradient_accumulation_steps': found 2, expected 1 under a strategy"
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        OptimizerConfig().optimizer(10, 20)
        with pytest.raises(ConfigError, match=expected):
            OptimizerConfig(gradient_accumulation_steps=2).optimizer(10, 20)


@pytest.mark.slow
def test_a_step_that_an_interruption_cuts_is_resumed(
    train: Callable[..., None],
    config_file: Path,
    interrupt: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    assert_same_weights: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    """Fourteen batches an epoch, four a step: each epoch ends within a step."""
    config = tmp_path / "accumulating.toml"
    config.write_text(config_file.read_text().replace("[train]", "gradient_accumulation_steps = 4\n[train]"))
    train(tmp_path / "whole", config=config)
    for epoch in (1, 2):
        interrupt(ZeroDivisionError(), epoch)
        with pytest.raises(ZeroDivisionError):
            train(tmp_path / "run", config=config, resume=True)
        monkeypatch.undo()
        assert len(read_history(tmp_path / "run")) == epoch
    train(tmp_path / "run", config=config, resume=True)
    for name in ("last.weights.h5", "best/model.weights.h5"):
        assert_same_weights(tmp_path / "run" / name, tmp_path / "whole" / name)
    assert read_history(tmp_path / "run") == read_history(tmp_path / "whole")
