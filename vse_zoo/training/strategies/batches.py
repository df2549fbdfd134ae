"""Batches of a run, each divided among the replicas of a strategy."""

from __future__ import annotations

from typing import Any, Protocol

import tensorflow as tf

from vse_zoo.errors import ConfigError

__all__ = ["replica_batches"]


class Batches(Protocol):
    """What `PairBatches` and `TwoViewBatches` have in common."""

    @property
    def batch_size(self) -> int:
        """Rows of a batch."""

    def dataset(self, start_epoch: int = 0) -> tf.data.Dataset:
        """Endless batches from the start of an epoch on."""


def replica_batches(batches: Batches, start_epoch: int, strategy: Any) -> Any:
    """What ``model.fit`` takes: the batches, of which replica r of n gets the rows from ``B r / n`` to ``B (r+1) / n``.

    Each worker makes every batch whole and takes its own rows: batch n is the same on all of them, so that nothing
    depends on how TensorFlow would shard or batch anew, and padding is alike, as gathering needs.

    Args:
        batches: of the run.
        start_epoch: the epoch to start with.
        strategy: that in whose scope the model was built.

    Raises:
        ConfigError: a batch has fewer rows than there are replicas.
    """
    count = strategy.num_replicas_in_sync
    if count == 1:
        return batches.dataset(start_epoch)
    if batches.batch_size < count:
        problem = f"found batches of {batches.batch_size}, expected at least {count}, a row for each replica"
        raise ConfigError(f"field 'train.batch_size': {problem}.")

    def of_worker(context: Any) -> tf.data.Dataset:
        own = count // context.num_input_pipelines
        first = context.input_pipeline_id * own
        parts = tf.data.Dataset.range(first, first + own)
        divided = batches.dataset(start_epoch).flat_map(lambda batch: parts.map(lambda part: _part(batch, part, count)))
        return divided.prefetch(2 * own)

    return strategy.distribute_datasets_from_function(of_worker)


def _part(batch: Any, part: Any, count: int) -> Any:
    rows = tf.shape(tf.nest.flatten(batch)[0], tf.int64)[0]
    return tf.nest.map_structure(lambda tensor: tensor[rows * part // count : rows * (part + 1) // count], batch)
