"""`fit`, `evaluate` and `predict` of the zoo's models: they take batch sources, and write plain lines into pipes."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from vse_zoo.data.batches import Batches, evaluation_batches, training_batches
from vse_zoo.models.compiled import CompiledModel

__all__ = ["FittedModel"]

_UNUSED = ("y", "sample_weight", "class_weight")


class FittedModel(CompiledModel):
    """A model that `vse_zoo.data.PairBatches` and `vse_zoo.data.TwoViewBatches` can be given to.

    Args:
        kwargs: those of `keras.Model`.
    """

    def fit(self, *args: Any, **kwargs: Any) -> keras.callbacks.History:
        """As `keras.Model.fit`; ``x`` and ``validation_data`` can be batch sources, such as `PairBatches`.

        A source says how many batches an epoch has, unless ``steps_per_epoch`` does. Epoch n has the same batches
        whether or not training began with it. Every validation sees the same batches, those of epoch 0. Under a
        strategy every replica gets its rows of each batch. With ``verbose="auto"``, where no progress bar can be shown,
        as in a pipe, training prints one line after each epoch.

        Args:
            args: those of `keras.Model.fit`.
            kwargs: those of `keras.Model.fit`.

        Raises:
            ValueError: an argument would not be used.
        """
        options = _by_name(keras.Model.fit, self, args, kwargs)
        self._refuse_unused(options)
        source, first = options.get("x"), options.get("initial_epoch", 0)
        if isinstance(source, Batches):
            steps = options.get("steps_per_epoch") or source.steps_per_epoch
            batches = training_batches(source, lambda: self._initial_epoch or first, steps, self.distribute_strategy)
            options |= {"x": batches, "steps_per_epoch": steps}
        options |= self._evaluated(options, "validation_data", "validation_steps")
        if not _in_memory(options.get("x")):
            options.setdefault("shuffle", False)
        if options.get("verbose", "auto") == "auto" and not _is_watched():
            options["callbacks"] = [*keras.tree.flatten(options.get("callbacks") or []), _EpochLine()]
            options["verbose"] = 0
        return super().fit(**options)

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """As `keras.Model.evaluate`; ``x`` can be a batch source, whose epoch 0 is evaluated.

        Args:
            args: those of `keras.Model.evaluate`.
            kwargs: those of `keras.Model.evaluate`.

        Raises:
            ValueError: an argument would not be used.
        """
        options = _by_name(keras.Model.evaluate, self, args, kwargs)
        self._refuse_unused(options)
        return super().evaluate(**_in_lines(options | self._evaluated(options)))

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """As `keras.Model.predict`; ``x`` can be a batch source, whose epoch 0 is predicted, in its order.

        Args:
            args: those of `keras.Model.predict`.
            kwargs: those of `keras.Model.predict`.
        """
        options = _by_name(keras.Model.predict, self, args, kwargs)
        return super().predict(**_in_lines(options | self._evaluated(options)))

    def train_step(self, data: Any) -> dict[str, Any]:
        """As `keras.Model.train_step`; subclasses override `compute_loss`."""
        return super().train_step(self._without_targets(data))

    def test_step(self, data: Any) -> dict[str, Any]:
        """As `keras.Model.test_step`."""
        return super().test_step(self._without_targets(data))

    def _evaluated(self, options: dict[str, Any], data: str = "x", number: str = "steps") -> dict[str, Any]:
        """The options for a batch source among them; none, if there is none."""
        source = options.get(data)
        if not isinstance(source, Batches):
            return {}
        steps = options.get(number) or source.steps_per_epoch
        return {data: evaluation_batches(source, steps, self.distribute_strategy), number: steps}

    def _without_targets(self, data: Any) -> Any:
        _, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        self._refuse_unused({"y": y, "sample_weight": sample_weight})
        return data

    def _refuse_unused(self, options: dict[str, Any]) -> None:
        for name in _UNUSED:
            if self.computes_loss_of_batch and options.get(name) is not None:
                problem = f"{type(self).__name__} computes its loss from the batch and would not use it"
                raise ValueError(f"{name}: found one, expected None: {problem}. Pass the batches alone.")


class _EpochLine(keras.callbacks.Callback):
    """Prints a line after each epoch: its number, seconds and figures, the loss first."""

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Starts the clock."""
        self._start = time.monotonic()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Prints the line."""
        parts = [f"Epoch {epoch + 1}/{self.params['epochs']}", f"{time.monotonic() - self._start:.0f}s"]
        figures = sorted((logs or {}).items(), key=lambda figure: figure[0] != "loss")
        parts += [f"{name}: {float(value):.5g}" for name, value in figures]
        print(" - ".join(parts), flush=True)


def _by_name(method: Callable[..., Any], model: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a Keras method by their names; a `TypeError` for one that it doesn't have."""
    found = dict(inspect.signature(method).bind(model, *args, **kwargs).arguments)
    del found["self"]
    return found | found.pop("kwargs", {})


def _in_lines(options: dict[str, Any]) -> dict[str, Any]:
    """The options of `evaluate` or `predict`, with a line in the place of a bar where nobody watches."""
    quiet = options.get("verbose", "auto") == "auto" and not _is_watched()
    return options | {"verbose": 2} if quiet else options


def _is_watched() -> bool:
    """Whether Keras' progress bar can move, as Keras itself finds out: in a terminal, a notebook or PyCharm."""
    terminal = hasattr(sys.stdout, "isatty") and sys.stdout.isatty()
    return terminal or "ipykernel" in sys.modules or "PYCHARM_HOSTED" in os.environ


def _in_memory(data: Any) -> bool:
    """Whether Keras can shuffle the data itself, rather than warn that it can't."""
    return not isinstance(data, tf.data.Dataset | tf.distribute.DistributedDataset)
