"""Callbacks that make a run resumable to the bit and keep its best model by retrieval on the dev split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras

from vse_zoo import presets
from vse_zoo.data.dataset import Dataset
from vse_zoo.errors import DataError, located
from vse_zoo.evaluation import evaluate
from vse_zoo.files import replacing

__all__ = ["BestPreset", "Checkpoint", "DevRetrieval", "EpochSeeds"]


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
            if isinstance(layer, keras.layers.Dropout) and layer.rate > 0
        ]
        for number, generator in enumerate(generators):
            generator.state.assign([self.seed * 1_000 + number, epoch])


class DevRetrieval(keras.callbacks.Callback):
    """Adds ``val_rsum`` and the recalls on a split to each epoch's logs.

    rsum is the sum of R@1, R@5 and R@10 in both directions, over the languages.

    Args:
        dataset: the dataset folder.
        split: its split to choose models by.
    """

    def __init__(self, dataset: Dataset, split: str = "dev") -> None:
        super().__init__()
        self.dataset = dataset
        self.split = split

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Refuses a split without captions now, not after an epoch; a `DataError` says which language lacks them."""
        for language in self.model.languages:
            if not self.dataset.captions(self.split, language)[0]:
                problem = f"split {self.split!r} has no caption in {language!r}; the best epoch is chosen by it."
                raise DataError(located(self.dataset.path, problem, do="Prepare the data with such a split."))

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Evaluates; the figures go into ``logs``, for the callbacks that come after."""
        figures = evaluate(self.model, self.dataset, self.split, self.model.languages)
        assert logs is not None
        for language, found in figures.items():
            logs[f"val_{language}_i2t_r1"] = found.i2t.r1
            logs[f"val_{language}_t2i_r1"] = found.t2i.r1
        logs["val_rsum"] = sum(found.rsum for found in figures.values())


class BestPreset(keras.callbacks.Callback):
    """Saves the model as a preset whenever ``val_rsum`` beats the best so far.

    Args:
        folder: the preset folder.
        best: the best value of earlier epochs, kept when a run is resumed.
        metadata: recorded with the preset, beside epoch and figures.
    """

    def __init__(self, folder: Path, best: float, metadata: dict[str, Any]) -> None:
        super().__init__()
        self.folder = folder
        self.best = best
        self.metadata = metadata

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Saves, if this epoch is the best."""
        logs = logs or {}
        if logs["val_rsum"] <= self.best:
            return
        self.best = logs["val_rsum"]
        figures = {name: round(float(value), 4) for name, value in logs.items()}
        presets.save(self.model, self.folder, {**self.metadata, "epoch": epoch, "dev": figures})


class Checkpoint(keras.callbacks.Callback):
    """Saves weights and optimiser after each epoch in one file, so that a kill can't part them.

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
