"""The folder of a training run: configuration, log, checkpoint of the last epoch, preset of the best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from vse_zoo import presets
from vse_zoo.data import Dataset, TwoViewData
from vse_zoo.data.batches import Batches
from vse_zoo.errors import ConfigError, located
from vse_zoo.files import read_json, remove_leftovers, write_json
from vse_zoo.training.callbacks import BestPreset, Checkpoint, EpochSeeds, epochs_done
from vse_zoo.training.configs.optimizer import WithOptimizer
from vse_zoo.training.dev import DevCorrelation, DevRetrieval
from vse_zoo.training.history import read_history, write_history
from vse_zoo.training.strategies.batches import replica_batches
from vse_zoo.training.strategies.workers import check_alike, is_chief, wait_for_all

__all__ = ["Run"]


class Run:
    """A run that can be resumed at the last finished epoch.

    ``run.json`` (configuration and data), ``log.csv``, ``last.weights.h5`` (with the optimiser), ``best/`` (a preset),
    ``tensorboard/``. Make it in the `strategy_scope` of the model: with several workers the chief alone writes it.

    Args:
        folder: of the run.
        config: its configuration.
        data: what it trains on.
        resume: continue what is there; otherwise a folder that holds a run is an error.

    Raises:
        ConfigError: the folder holds a run with a finished epoch and ``resume`` is off, or that run had another
            configuration or other data.
    """

    def __init__(self, folder: Path, config: WithOptimizer, data: Dataset | TwoViewData, resume: bool = False) -> None:
        self.folder = folder
        self.config = config
        self.epoch = 0
        self._strategy = tf.distribute.get_strategy()
        self._writes = is_chief(self._strategy)
        record = {"config": config.model_dump(mode="json"), "dataset": data.identity}
        path = folder / "run.json"
        if folder.is_file():
            raise ConfigError(located(folder, "found a file, expected a folder.", do="Name another folder."))
        if self.begun and not resume:
            raise ConfigError(
                located(folder, "there is a run here already.", do="Use --resume, or name another folder.")
            )
        if self.begun and read_json(path) != record:
            raise ConfigError(
                located(path, "the run there has another configuration or other data.", do="Name another folder.")
            )
        # Before a model is made: workers that differ would wait for different things of each other.
        done = epochs_done(self._checkpoint) if self.begun else 0
        check_alike(self._strategy, {"epochs done": done, "what they train, and on which data": record})
        if self._writes:
            for place in (folder, self.best):
                remove_leftovers(place)
            write_json(path, record)
        self._metadata = record

    def restore(self, model: keras.Model) -> None:
        """Loads the last finished epoch into a built and compiled model; `epoch` is the one to go on with."""
        if self.begun:
            model.optimizer.build(model.trainable_variables)
            model.load_weights(self._checkpoint)
            self.epoch = epochs_done(self._checkpoint)
        if self._writes:
            # A kill between log and checkpoint leaves the row of an epoch that will be run again.
            write_history(self.folder, read_history(self.folder)[: self.epoch])

    def batches(self, batches: Batches) -> Any:
        """The batches to go on with, divided among replicas, for a model or loop that can't take ``batches`` itself."""
        return replica_batches(batches, self.epoch, self._strategy)

    def callbacks(self, dev: DevRetrieval | DevCorrelation) -> list[keras.callbacks.Callback]:
        """Dev figures, logs, best preset and checkpoint, in the order that they need; none of it on other workers."""
        if not self._writes:
            return [EpochSeeds(self.config.train.seed)]
        best = max((float(row[dev.monitor]) for row in read_history(self.folder)), default=-math.inf)
        return [
            EpochSeeds(self.config.train.seed),
            dev,
            keras.callbacks.CSVLogger(str(self.folder / "log.csv"), append=True),
            keras.callbacks.TensorBoard(str(self.folder / "tensorboard"), write_graph=False),
            BestPreset(self.best, dev.monitor, best, self._metadata),
            Checkpoint(self._checkpoint),
        ]

    @contextmanager
    def interruptible(self, model: keras.Model) -> Iterator[None]:
        """Around ``model.fit``: workers end together.

        On Ctrl-C, leaves a usable preset even within the first epoch, says how to go on, and exits with 130.
        """
        try:
            yield
        except KeyboardInterrupt:
            if not self._writes:
                raise SystemExit(130) from None
            if not (self.best / "model.weights.h5").exists():
                presets.save(model, self.best, {**self._metadata, "note": "interrupted within the first epoch"})
            print(f"\nInterrupted. The best model so far is in {self.best}; go on with --resume.")
            raise SystemExit(130) from None
        wait_for_all(self._strategy)

    @property
    def begun(self) -> bool:
        """Whether an epoch is finished, to go on after."""
        return self._checkpoint.exists()

    @property
    def best(self) -> Path:
        """The preset folder of the best epoch."""
        return self.folder / "best"

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "last.weights.h5"
