"""Callbacks that make a run resumable to the bit and keep its best model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import keras
import tensorflow as tf

from vse_zoo import presets
from vse_zoo.files import replacing

__all__ = ["BestPreset", "Checkpoint", "EpochSeeds", "epochs_done"]

_STEPS = 1 << 20
"""Far more than a run draws, and 2,000 times that fits into 32 bits."""


class EpochSeeds(keras.callbacks.Callback):
    """Sets every dropout's random state from the seed and the epoch, so that a resumed epoch draws the same.

    Keras saves no seed generators with the weights.

    Args:
        seed: of the run.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Sets the states."""
        generators = [
            layer.seed_generator
            for layer in self.model._flatten_layers()
            if hasattr(layer, "seed_generator") and getattr(layer, "rate", 0) > 0
        ]
        strategy = self.model.distribute_strategy
        if strategy.num_replicas_in_sync == 1:
            self._start(generators, epoch)
        elif generators:
            # As a graph: TensorFlow warns of what several workers run eagerly.
            tf.function(lambda: strategy.run(self._start, (generators, epoch)))()

    def _start(self, generators: list[Any], epoch: int) -> None:
        """On each replica from another place: they would all draw the same masks otherwise."""
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        for number, generator in enumerate(generators):
            generator.state.assign([self.seed * 1_000 + number, epoch + replica * _STEPS])


class BestPreset(keras.callbacks.Callback):
    """Saves the model as a preset whenever a figure of the epoch's logs beats the best so far.

    Args:
        folder: the preset folder.
        monitor: the figure's name in the logs; more is better.
        best: the best value of earlier epochs, kept when a run is resumed.
        metadata: recorded with the preset, beside epoch and figures.
    """

    def __init__(self, folder: Path, monitor: str, best: float, metadata: dict[str, Any]) -> None:
        super().__init__()
        self.folder = folder
        self.monitor = monitor
        self.best = best
        self.metadata = metadata

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Saves, if this epoch is the best."""
        logs = logs or {}
        if logs[self.monitor] <= self.best:
            return
        self.best = logs[self.monitor]
        figures = {name: round(float(value), 4) for name, value in logs.items()}
        presets.save(self.model, self.folder, {**self.metadata, "epoch": epoch, "dev": figures})


class Checkpoint(keras.callbacks.Callback):
    """Saves weights, optimiser and the number of epochs after each epoch in one file, so that a kill can't part them.

    Args:
        path: ends in ".weights.h5". Put this callback last: the others are then done when an epoch counts as done.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Saves the whole training state."""
        with replacing(self.path) as temporary:
            self.model.save_weights(temporary)
            with h5py.File(temporary, "r+") as file:
                file.attrs["epochs_done"] = epoch + 1


def epochs_done(path: Path) -> int:
    """The number of epochs after which `Checkpoint` saved.

    The optimiser's steps don't tell it: it may take one in several batches, and none where float16 overflows.

    Args:
        path: of the file.
    """
    with h5py.File(path) as file:
        return int(file.attrs["epochs_done"])
