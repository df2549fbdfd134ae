"""Endless batches for Keras' `fit`, `evaluate` and `predict`, divided among replicas where there are several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import tensorflow as tf

from vse_zoo.errors import ConfigError

__all__ = ["Batches", "distributed", "evaluation_batches", "training_batches"]


@runtime_checkable
class Batches(Protocol):
    """What `PairBatches` and `TwoViewBatches` have in common: batch n is a function of n alone."""

    @property
    def batch_size(self) -> int:
        """Rows of a batch."""

    @property
    def steps_per_epoch(self) -> int:
        """Batches of an epoch."""

    def dataset(self, start_epoch: Any = 0) -> tf.data.Dataset:
        """Endless batches from the start of an epoch on; its number is an int, or a scalar int64 tensor."""


def training_batches(batches: Batches, epoch: Callable[[], int], steps: int, strategy: Any) -> Any:
    """Endless batches from the start of an epoch on.

    Args:
        batches: those of all epochs.
        epoch: gives the number of the epoch. It is asked when the first batch is read, since callbacks such as
            `keras.callbacks.BackupAndRestore` set it late.
        steps: batches that count as an epoch.
        strategy: that in whose scope the model was built.
    """

    def make() -> tf.data.Dataset:
        first = tf.data.Dataset.range(1).map(
            lambda _: tf.ensure_shape(tf.numpy_function(lambda: np.int64(epoch() * steps), [], tf.int64), [])
        )
        own = batches.steps_per_epoch
        return first.flat_map(lambda step: batches.dataset(step // own).skip(step % own))

    return distributed(make, batches.batch_size, strategy)


def evaluation_batches(batches: Batches, steps: int, strategy: Any) -> Any:
    """The first batches of the first epoch again and again, so that each evaluation sees the same ones.

    Args:
        batches: those of all epochs.
        steps: how many of them are an evaluation.
        strategy: that in whose scope the model was built.
    """
    return distributed(lambda: batches.dataset(0).take(steps).repeat(), batches.batch_size, strategy)


def distributed(make: Callable[[], tf.data.Dataset], batch_size: int, strategy: Any) -> Any:
    """The batches, of which replica r of n gets the rows from ``B r / n`` to ``B (r+1) / n``.

    Each worker makes every batch whole and takes its own rows: batch n is the same on all of them, so that nothing
    depends on how TensorFlow would shard or batch anew, and padding is alike, as gathering needs.

    Args:
        make: makes the global batches.
        batch_size: rows of a global batch.
        strategy: that in whose scope the model was built.

    Raises:
        ConfigError: a batch has fewer rows than there are replicas.
    """
    count = strategy.num_replicas_in_sync
    if count == 1:
        return make()
    if batch_size < count:
        problem = f"found batches of {batch_size}, expected at least {count}, a row for each replica"
        raise ConfigError(f"field 'train.batch_size': {problem}.")

    def of_worker(context: Any) -> tf.data.Dataset:
        own = count // context.num_input_pipelines
        first = context.input_pipeline_id * own
        parts = tf.data.Dataset.range(first, first + own)
        divided = make().flat_map(lambda batch: parts.map(lambda part: _part(batch, part, count)))
        return divided.prefetch(2 * own)

    return strategy.distribute_datasets_from_function(of_worker)


def _part(batch: Any, part: Any, count: int) -> Any:
    rows = tf.shape(tf.nest.flatten(batch)[0], tf.int64)[0]
    return tf.nest.map_structure(lambda tensor: tensor[rows * part // count : rows * (part + 1) // count], batch)
