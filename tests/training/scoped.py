"""Loads presets in and out of a strategy's scope and trains one there, on two virtual CPUs; keeps what comes out.

    python scoped.py OUT FOLDER

A script, since virtual CPUs must be made before TensorFlow runs. ``FOLDER`` gets a .keras file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import vse_zoo
from vse_zoo.data import TwoViewBatches, write_two_view
from vse_zoo.models import TwoWayNet
from vse_zoo.training import strategy_scope

PRESETS = ("context_attention_scenes", "two_way_net_mnist")
EPOCHS = 3


def numbers(model: Any) -> Iterator[np.ndarray]:
    """What a model makes of fixed input."""
    random = np.random.default_rng(0)
    if model.preprocessor is None:
        yield model.encode_x(random.normal(size=(3, model.x_dim)).astype("float32"))
        return
    images = model.encode_image(random.normal(size=(3, 4, model.region_dim)).astype("float32"))
    yield model.similarity(images, model.encode_text(["a red circle", "a square"], "en"))


def made() -> TwoWayNet:
    keras.utils.set_random_seed(3)
    model = TwoWayNet([5, 3, 5], 6, 7, dropout=0.0, momentum=0.8)
    model.build()
    # Gradients aren't clipped, so that their size shows.
    model.compile(keras.optimizers.SGD(1e-4, momentum=0.9), jit_compile=False)
    return model


def weights(model: Any) -> list[np.ndarray]:
    return [variable.numpy() for variable in (*model.weights, *model.optimizer.variables)]


def trained(batches: TwoViewBatches, strategy: str, folder: Path) -> list[np.ndarray]:
    """Weights, figures and predictions of three epochs; with a strategy, a .keras file is loaded after the first."""
    with strategy_scope(strategy):
        model = made()
    figures = model.fit(batches, epochs=1 if strategy == "mirrored" else EPOCHS, verbose=0).history
    if strategy == "mirrored":
        model.save(folder / "model.keras")
        with strategy_scope(strategy):
            model = keras.saving.load_model(folder / "model.keras")
            # A second time, as after freezing a layer: its gradients must not be summed twice.
            model.compile(model.optimizer, jit_compile=False)
        later = model.fit(batches, epochs=EPOCHS, initial_epoch=1, validation_data=batches, verbose=0).history
        figures = {name: values + later[name] for name, values in figures.items()}
    evaluated = model.evaluate(batches, verbose=0, return_dict=True)
    predicted = model.predict(batches, verbose=0)
    return [*weights(model), *(np.array(figures[name]) for name in figures), *map(np.array, evaluated.values()),
            *predicted.values()]  # fmt: skip


def main(out: str, folder: str) -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    tf.config.list_logical_devices = {"CPU": tf.config.list_logical_devices("CPU"), "GPU": []}.get
    found = {}
    for name in PRESETS:
        with strategy_scope("mirrored") as strategy:
            inside = vse_zoo.load(name)
        assert inside.distribute_strategy is strategy
        assert strategy.num_replicas_in_sync == 2
        for place, model in (("out", vse_zoo.load(name)), ("in", inside)):
            found |= {f"load/{place}/{name}/{n}": array for n, array in enumerate(numbers(model))}
    random = np.random.default_rng(0)
    views = {"train": (random.normal(3, 1, (25, 6)), random.normal(-2, 1, (25, 7)))}
    batches = TwoViewBatches(write_two_view(Path(folder) / "data", views, name="drawn", origin="drawn"), "train", 5)
    for strategy in ("none", "mirrored"):
        arrays = trained(batches, strategy, Path(folder))
        found |= {f"train/{strategy}/{n}": array for n, array in enumerate(arrays)}
    np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
