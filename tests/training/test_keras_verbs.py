"""Keras' own ways to stop and go on: callbacks that restore, .keras files in another process; compiled steps."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from vse_zoo.data import TwoViewBatches, TwoViewData, write_two_view
from vse_zoo.models import TwoWayNet

EPOCHS = 3


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TwoViewData:
    random = np.random.default_rng(0)
    views = {"train": (random.normal(3, 1, (24, 6)), random.normal(-2, 1, (24, 7)))}
    return write_two_view(tmp_path_factory.mktemp("views") / "data", views, name="drawn", origin="drawn")


@pytest.fixture(scope="module")
def batches(data: TwoViewData) -> TwoViewBatches:
    return TwoViewBatches(data, "train", 4)


def compiled(**options: Any) -> TwoWayNet:
    keras.utils.set_random_seed(4)
    model = TwoWayNet([5, 3, 5], 6, 7, dropout=0.5, input_dropout=0.2)
    model.compile(keras.optimizers.Adam(0.01), **{"jit_compile": False, **options})
    model.build()
    return model


def weights(model: TwoWayNet) -> list[np.ndarray]:
    return [variable.numpy() for variable in (*model.weights, *model.optimizer.variables)]


def assert_same(one: TwoWayNet, other: TwoWayNet) -> None:
    for found, expected in zip(weights(one), weights(other), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.fixture(scope="module")
def whole(batches: TwoViewBatches) -> TwoWayNet:
    """A model that nothing interrupted."""
    model = compiled()
    model.fit(batches, epochs=EPOCHS, verbose=0)
    return model


def test_backup_and_restore_goes_on_to_the_bit(whole: TwoWayNet, batches: TwoViewBatches, tmp_path: Path) -> None:
    """It tells `fit` the epoch only when training begins: the batches must be that epoch's, dropout's masks too."""
    options: dict[str, Any] = {"epochs": EPOCHS, "verbose": 0}
    callbacks = [keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False)]
    stop = keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: 1 / (epoch - 2))
    with pytest.raises(ZeroDivisionError):
        compiled().fit(batches, callbacks=[*callbacks, stop], **options)
    resumed = compiled()
    for variable in resumed.weights:
        variable.assign(0 * variable)
    resumed.fit(batches, callbacks=callbacks, **options)
    assert_same(resumed, whole)


def test_model_checkpoint_keeps_all_that_is_needed(whole: TwoWayNet, batches: TwoViewBatches, tmp_path: Path) -> None:
    saved = keras.callbacks.ModelCheckpoint(str(tmp_path / "{epoch}.keras"))
    compiled().fit(batches, epochs=EPOCHS, callbacks=saved, verbose=0)
    resumed = keras.saving.load_model(tmp_path / "1.keras")
    resumed.fit(batches, epochs=EPOCHS, initial_epoch=1, verbose=0)
    assert_same(resumed, whole)


@pytest.mark.slow
def test_compiled_steps_of_several_batches(batches: TwoViewBatches, tmp_path: Path) -> None:
    """XLA and three batches a call: options that must come back, too."""
    model = compiled(jit_compile=True, steps_per_execution=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.fit(batches, verbose=0)
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert (loaded.jit_compile, loaded.steps_per_execution) == (True, 3)
    for each in (model, loaded):
        each.fit(batches, epochs=2, initial_epoch=1, verbose=0)
    assert_same(loaded, model)


def test_a_file_from_before_training_could_go_on_loads(tmp_path: Path) -> None:
    """Such files have no random states, and may have a loss that was never used."""
    model = compiled()
    config = {name: model.get_compile_config()[name] for name in ("optimizer", "jit_compile")}
    fresh = TwoWayNet.from_config(model.get_config())
    fresh.build()
    fresh.compile_from_config({**config, "loss": "mse", "metrics": ["accuracy"], "weighted_metrics": None})
    assert fresh.compiled
    assert fresh.optimizer.built
    model.compiled = False
    model.save_weights(tmp_path / "old.weights.h5")
    fresh.load_weights(tmp_path / "old.weights.h5")
    for one, other in zip(fresh.weights, model.weights, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_a_keras_file_goes_on_in_a_process_that_imports_the_package_alone(
    whole: TwoWayNet, data: TwoViewData, batches: TwoViewBatches, tmp_path: Path
) -> None:
    model = compiled()
    model.fit(batches, epochs=1, verbose=0)
    model.save(tmp_path / "model.keras")
    script = f"""
import vse_zoo
import keras
import numpy as np

model = keras.saving.load_model("model.keras")
batches = vse_zoo.data.TwoViewBatches(vse_zoo.data.TwoViewData({str(data.path)!r}), "train", 4)
model.fit(batches, epochs={EPOCHS}, initial_epoch=1, verbose=0)
np.savez("found.npz", *[variable.numpy() for variable in (*model.weights, *model.optimizer.variables)])
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)
    with np.load(tmp_path / "found.npz") as found:
        for one, other in zip(found.values(), weights(whole), strict=True):
            np.testing.assert_array_equal(one, other)
