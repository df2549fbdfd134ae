"""Batches for Keras' verbs: where an epoch begins, and what is repeated."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from vse_zoo.data.batches import Batches, evaluation_batches, training_batches


class Numbers:
    """A source whose batch n is n."""

    batch_size, steps_per_epoch = 1, 3

    def dataset(self, start_epoch: Any = 0) -> tf.data.Dataset:
        first = tf.cast(start_epoch, tf.int64) * self.steps_per_epoch
        return tf.data.Dataset.range(first, 1 << 40)


def first(batches: tf.data.Dataset, count: int) -> list[int]:
    return [int(batch) for batch in batches.take(count)]


def test_what_counts_as_a_source() -> None:
    assert isinstance(Numbers(), Batches)
    for other in (Numbers().dataset(), {"x": 1}, [1], tf.zeros(3)):
        assert not isinstance(other, Batches)


@pytest.mark.parametrize(("epoch", "steps", "expected"), [(0, 3, 0), (2, 3, 6), (2, 2, 4), (3, 5, 15), (1, 1, 1)])
def test_training_begins_with_the_epochs_first_batch(epoch: int, steps: int, expected: int) -> None:
    """Epochs of another length than the source's, too: epoch 2 of two steps begins with batch 4."""
    batches = training_batches(Numbers(), lambda: epoch, steps, tf.distribute.get_strategy())
    assert first(batches, 4) == list(range(expected, expected + 4))


def test_the_epoch_is_asked_for_when_batches_are_read() -> None:
    epochs = [0]
    batches = training_batches(Numbers(), lambda: epochs[0], 3, tf.distribute.get_strategy())
    epochs[0] = 5
    assert first(batches, 1) == [15]


def test_every_evaluation_sees_the_same_batches() -> None:
    assert first(evaluation_batches(Numbers(), 2, tf.distribute.get_strategy()), 5) == [0, 1, 0, 1, 0]
    assert first(evaluation_batches(Numbers(), 4, tf.distribute.get_strategy()), 5) == [0, 1, 2, 3, 0]
