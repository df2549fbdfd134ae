"""Mixed precision: finite losses and gradients near float32's, loss scales that recover, presets in float32."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from vse_zoo import presets
from vse_zoo.data import Dataset, write_two_view
from vse_zoo.errors import ConfigError
from vse_zoo.losses import ContrastiveLoss
from vse_zoo.models import ContextAttentionVSE, TransportVSE, TwoWayNet
from vse_zoo.preprocessing import TextPreprocessor
from vse_zoo.training import Checkpoint, ContextAttentionConfig, Run, load_config, read_history
from vse_zoo.training.configs.precision import PrecisionTrainConfig
from vse_zoo.workflow import evaluate_folder
from vse_zoo.workflow import train as run_recipe

MIXED = ("mixed_bfloat16", "mixed_float16")
# Half the distance from 1 to the next number.
ROUNDOFF = {"mixed_bfloat16": 2.0**-9, "mixed_float16": 2.0**-12}
RANDOM = np.random.default_rng(0)
PREPROCESSOR = TextPreprocessor({"en": ["a", "dog", "cat"], "de": ["ein", "hund", "katze"]})
PICTURES = {
    "regions": RANDOM.normal(size=(8, 4, 6)).astype("float32"),
    "region_mask": np.arange(4) < RANDOM.integers(1, 5, (8, 1)),
    "text": {name: np.where(np.arange(5) < RANDOM.integers(1, 6, (8, 1)), RANDOM.integers(1, 5, (8, 5)), 0)
             for name in ("en", "de")},
    "text_mask": {name: np.ones(8, bool) for name in ("en", "de")},
    "image_id": np.arange(8),
}  # fmt: skip
MATRICES = {"x": RANDOM.normal(size=(16, 5)).astype("float32"), "y": RANDOM.normal(size=(16, 7)).astype("float32")}


def attention() -> ContextAttentionVSE:
    sizes: dict[str, Any] = {"units": 8, "word_dim": 8, "heads": 2, "attention_dim": 4, "word_skip": True}
    return ContextAttentionVSE(PREPROCESSOR, 6, **sizes, ranking_loss=ContrastiveLoss(0.2, learnable=True))


def transport() -> TransportVSE:
    return TransportVSE(PREPROCESSOR, 6, units=8, word_dim=8, word_skip=True, region_context=True, language_weight=0.2)


def two_way() -> TwoWayNet:
    return TwoWayNet((6, 3, 6), 5, 7, dropout=0.0, canonical_weight=0.1, ranking_weight=0.1)


MODELS = {"attention": (attention, PICTURES), "transport": (transport, PICTURES), "two_way": (two_way, MATRICES)}


def built(name: str, precision: str) -> Any:
    keras.utils.set_random_seed(3)
    with PrecisionTrainConfig(precision=precision).policy():
        model = MODELS[name][0]()
        model.build()
    return model


def compiled(name: str, precision: str) -> Any:
    model = built(name, precision)
    model.compile(keras.optimizers.AdamW(0.01), jit_compile=False)
    return model


def loss_and_gradients(model: Any, name: str) -> tuple[float, np.ndarray]:
    """The loss of a training step, and all gradients in one vector."""
    batch = tf.nest.map_structure(tf.constant, MODELS[name][1])
    with tf.GradientTape() as tape:
        loss = model.compute_loss(x=batch, y_pred=model(batch, training=True))
    assert loss.dtype == tf.float32
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_variables])
    dense = [np.ravel(tf.convert_to_tensor(gradient)) for gradient in gradients if gradient is not None]
    assert all(gradient.dtype == np.float32 for gradient in dense)
    return float(loss), np.concatenate(dense)


def test_the_policy_holds_for_the_block_only() -> None:
    with PrecisionTrainConfig(precision="mixed_float16").policy():
        assert keras.config.dtype_policy().name == "mixed_float16"
    assert keras.config.dtype_policy().name == "float32"
    with pytest.raises(KeyError), PrecisionTrainConfig(precision="mixed_bfloat16").policy():
        raise KeyError
    assert keras.config.dtype_policy().name == "float32"


def test_an_unknown_precision_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[train]\nprecision = "float16"\n')
    with pytest.raises(ConfigError, match=r"train\.precision.*found 'float16'.*'mixed_float16'"):
        load_config(path, ContextAttentionConfig)


@pytest.mark.parametrize("name", MODELS)
def test_losses_and_gradients_are_near_those_of_float32(name: str) -> None:
    """Chains of a dozen rounded operations: the loss within 16 roundoffs, gradients, which add up more, within 64."""
    full, expected = loss_and_gradients(built(name, "float32"), name)
    for precision in MIXED:
        model = built(name, precision)
        assert {weight.dtype for weight in model.trainable_variables} == {"float32"}
        loss, gradients = loss_and_gradients(model, name)
        assert np.all(np.isfinite(gradients))
        assert loss == pytest.approx(full, rel=16 * ROUNDOFF[precision])
        assert loss != full
        assert np.linalg.norm(gradients - expected) < 64 * ROUNDOFF[precision] * np.linalg.norm(expected)


@pytest.mark.parametrize("name", MODELS)
def test_embeddings_are_float32_unit_vectors(name: str) -> None:
    model = built(name, "mixed_float16")
    if name == "two_way":
        found, expected = (each.encode_x(MATRICES["x"]) for each in (model, built(name, "float32")))
    else:
        found, expected = (each.encode_text(["a dog", ""]) for each in (model, built(name, "float32")))
    for one, other in zip(found, expected, strict=True):
        one, other = (np.asarray(value) for value in (one, other))
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, atol=16 * ROUNDOFF["mixed_float16"] * np.abs(other).max())


def test_a_loss_scale_that_overflows_is_lowered_until_steps_are_taken() -> None:
    """Tiny inputs: the gradient of a norm is its inverse, times the loss scale beyond float16's 65,504."""
    model = compiled("attention", "mixed_float16")
    model.optimizer.build(model.trainable_variables)
    before = [weight.numpy() for weight in model.trainable_variables]
    batch = {**PICTURES, "regions": 1e-4 * PICTURES["regions"]}
    data = tf.data.Dataset.from_tensors(batch).repeat()
    losses, scales, steps = [], [], []
    for _ in range(20):
        losses.append(model.fit(data, steps_per_epoch=1, verbose=0).history["loss"][0])
        scales.append(float(model.optimizer.dynamic_scale))
        steps.append(int(model.optimizer.iterations))
        if steps[-1] == 0:
            assert all(np.array_equal(a, b) for a, b in zip(before, model.trainable_variables, strict=True))
    assert scales[0] == 2.0**14
    assert 0 < steps[-1] < 20
    assert scales[-1] == 2.0 ** (15 - (20 - steps[-1]))
    assert np.all(np.isfinite(losses))
    assert losses[-1] < losses[0]


def mixed_config(folder: Path, source: Path, precision: str, more: str = "") -> Path:
    path = folder / f"{precision}.toml"
    path.write_text(source.read_text().replace("[train]", f'{more}[train]\nprecision = "{precision}"'))
    return path


def test_the_preset_of_a_mixed_model_is_float32(tmp_path: Path) -> None:
    model = built("attention", "mixed_float16")
    model.save_to_preset(tmp_path / "preset")
    assert "mixed" not in (tmp_path / "preset" / "config.json").read_text()
    loaded = presets.load(tmp_path / "preset")
    assert {layer.dtype_policy.name for layer in loaded._flatten_layers()} == {"float32"}
    texts = ["a dog", "cat"]
    np.testing.assert_array_equal(loaded.encode_text(texts), built("attention", "float32").encode_text(texts))


@pytest.mark.slow
def test_a_run_in_float16_is_resumed_and_evaluated(
    tiny: Dataset,
    train: Callable[..., None],
    config_file: Path,
    interrupt: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    assert_same_weights: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    """Accumulating, in epochs of a number of batches that isn't a multiple: also what is accumulated is resumed."""
    config = mixed_config(tmp_path, config_file, "mixed_float16", "gradient_accumulation_steps = 4\n")
    train(tmp_path / "whole", config=config, epochs=2)
    interrupt(ZeroDivisionError(), 1)
    with pytest.raises(ZeroDivisionError):
        train(tmp_path / "run", config=config, epochs=2)
    monkeypatch.undo()
    train(tmp_path / "run", config=config, epochs=2, resume=True)
    assert keras.config.dtype_policy().name == "float32"
    assert_same_weights(tmp_path / "run" / "last.weights.h5", tmp_path / "whole" / "last.weights.h5")
    assert read_history(tmp_path / "run") == read_history(tmp_path / "whole")
    assert presets.metadata(tmp_path / "run")["config"]["train"]["precision"] == "mixed_float16"
    model = presets.load(tmp_path / "run")
    assert evaluate_folder(model, "run", tiny.path, "test").values["languages"].keys() == {"en", "de"}


def test_an_epoch_counts_whatever_steps_were_skipped(tiny: Dataset, tmp_path: Path) -> None:
    """Batches whose gradient overflowed are no steps of the optimiser: they can't count epochs."""
    model, again = (compiled("attention", "mixed_float16") for _ in range(2))
    model.optimizer.build(model.trainable_variables)
    model.optimizer.inner_optimizer.iterations.assign(19)
    model.optimizer.dynamic_scale.assign(2.0**9)
    checkpoint = Checkpoint(Run(tmp_path, ContextAttentionConfig(), tiny).folder / "last.weights.h5")
    checkpoint.set_model(model)
    checkpoint.on_epoch_end(1)
    run = Run(tmp_path, ContextAttentionConfig(), tiny, resume=True)
    run.restore(again)
    assert run.epoch == 2
    assert float(again.optimizer.dynamic_scale) == 2.0**9


PICTURE_RECIPES = {
    "context_attention": "[model]\nunits = 8\nheads = 2\nattention_dim = 4\nword_dim = 8",
    "optimal_transport": "[model]\nunits = 8\nword_dim = 8",
    "two_way_net": "[model]\nlayer_sizes = [4]\n[sentences]\nword_dim = 3\ncomponents = 2\nminimum_count = 1",
}


@pytest.mark.slow
@pytest.mark.parametrize("precision", MIXED)
@pytest.mark.parametrize("recipe", PICTURE_RECIPES)
def test_every_recipe_trains_and_exports(recipe: str, precision: str, tiny: Dataset, tmp_path: Path) -> None:
    count = "" if recipe == "two_way_net" else "minimum_count = 1\n"
    optimizer, train = "[optimizer]\nschedule = 'cosine'\n", f"[train]\nbatch_size = 5\nprecision = '{precision}'\n"
    (tmp_path / "mine.toml").write_text(f"{PICTURE_RECIPES[recipe]}\n{optimizer}{train}{count}")
    run_recipe(recipe, tiny.path, tmp_path / "run", config=str(tmp_path / "mine.toml"), epochs=1)
    (row,) = read_history(tmp_path / "run")
    assert np.isfinite(float(row["loss"]))
    model = presets.load(tmp_path / "run")
    assert "en" in evaluate_folder(model, "run", tiny.path, "test").values["languages"]
    model.export_saved_model(tmp_path / "served")
    served = tf.saved_model.load(tmp_path / "served" / "1").signatures["encode_text_en"]
    found = next(iter(served(tf.constant(["red dog"])).values()))
    assert np.all(np.isfinite(found))


@pytest.mark.slow
@pytest.mark.parametrize("precision", MIXED)
def test_two_matrices_train_under_xla(precision: str, tmp_path: Path) -> None:
    splits = {split: (RANDOM.normal(size=(64, 5)), RANDOM.normal(size=(64, 7))) for split in ("train", "dev", "test")}
    data = write_two_view(tmp_path / "data", splits, name="tiny", origin="drawn")
    (tmp_path / "mine.toml").write_text(
        f"[model]\nlayer_sizes = [6, 3, 6]\n[train]\nbatch_size = 16\nprecision = '{precision}'\n"
    )
    run_recipe("two_way_net", data.path, tmp_path / "run", config=str(tmp_path / "mine.toml"), epochs=2)
    assert all(np.isfinite(float(row["loss"])) for row in read_history(tmp_path / "run"))
    x, _ = data.views("test")
    assert np.all(np.isfinite(presets.load(tmp_path / "run").encode_x(x)))


@pytest.mark.slow
@pytest.mark.parametrize("precision", MIXED)
def test_two_replicas_train_as_one_device(precision: str, tmp_path: Path) -> None:
    """What they gather of each other is in half precision."""
    script = Path(__file__).with_name("replicas.py")
    start = f"import keras, runpy; keras.config.set_dtype_policy('{precision}')"
    call = f"runpy.run_path('{script.name}')['main']('{tmp_path / 'out.npz'}', 'context_attention', '1,2')"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", f"{start}; {call}"], cwd=script.parent, env=environment, check=True)
    found = np.load(tmp_path / "out.npz")
    one, two = (
        next(found[name] for name in found if name.startswith(f"{count}/") and name.endswith(" figure loss"))
        for count in (1, 2)
    )
    assert np.all(np.isfinite(one))
    np.testing.assert_allclose(one, two, rtol=16 * ROUNDOFF[precision])
