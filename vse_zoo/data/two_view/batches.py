"""Two-view folder to tf.data batches, shuffled by index over the whole split."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import tensorflow as tf

from vse_zoo.data.two_view.folder import TwoViewData

__all__ = ["TwoViewBatches"]

# Batches read by one call from TensorFlow into Python, a call that costs as much as reading a small batch.
_BLOCK = 16
_BLOCK_BYTES = 1 << 23


class TwoViewBatches:
    """Batches ``{"x": (B, x_dim), "y": (B, y_dim)}`` float32 of one split, every row at most once an epoch.

    Batch n is a pure function of the seed and n, so any epoch can be resumed. All batches are full: what is left over
    at the end of an epoch waits for another epoch's order. The zoo's models take it as it is in ``fit``, ``evaluate``
    and ``predict``.

    Args:
        data: an opened two-view folder.
        split: its name.
        batch_size: rows a batch; all of a split that has fewer.
        seed: of the order.

    Raises:
        DataError: there is no such split.
    """

    def __init__(self, data: TwoViewData, split: str, batch_size: int = 128, seed: int = 0) -> None:
        self._views = data.views(split)
        self._seed = seed
        rows = len(self._views[0])
        self.batch_size = min(batch_size, rows)
        self.steps_per_epoch = rows // self.batch_size
        self._plan = lru_cache(maxsize=2)(self._plan_epoch)

    def dataset(self, start_epoch: int = 0) -> tf.data.Dataset:
        """Endless batches from the start of an epoch on; its number may be a tensor. ``model.fit`` calls it itself."""
        batch_bytes = 4 * self.batch_size * sum(view.shape[1] for view in self._views)
        block = min(_BLOCK, max(1, _BLOCK_BYTES // batch_bytes))
        first = tf.data.Dataset.range(start_epoch * self.steps_per_epoch, np.iinfo(np.int64).max, block)
        blocks = first.map(lambda step: self._tensors(step, block), num_parallel_calls=2, deterministic=True)
        # Slices of a block are views of it: nothing is copied again.
        return blocks.flat_map(tf.data.Dataset.from_tensor_slices).prefetch(4)

    def batch(self, step: int) -> dict[str, np.ndarray]:
        """Batch number ``step``, counted from the first epoch's first, as NumPy arrays."""
        x, y = self._read(int(step), 1)
        return {"x": x[0], "y": y[0]}

    def _plan_epoch(self, epoch: int) -> np.ndarray:
        """(steps, B) rows of the epoch's batches."""
        order = np.random.default_rng((self._seed, epoch)).permutation(len(self._views[0]))
        return order[: self.steps_per_epoch * self.batch_size].reshape(self.steps_per_epoch, self.batch_size)

    def _read(self, step: int, count: int) -> list[np.ndarray]:
        """``count`` batches from number ``step`` on: x and y, (count, B, D) each."""
        places = [divmod(number, self.steps_per_epoch) for number in range(step, step + count)]
        rows = np.stack([self._plan(epoch)[position] for epoch, position in places])
        return [np.asarray(np.take(view, rows, axis=0), np.float32) for view in self._views]

    def _tensors(self, step: tf.Tensor, count: int) -> dict[str, tf.Tensor]:
        read = tf.numpy_function(lambda first: self._read(int(first), count), [step], [tf.float32, tf.float32])
        for tensor, view in zip(read, self._views, strict=True):
            tensor.set_shape((count, self.batch_size, view.shape[1]))
        return dict(zip(("x", "y"), read, strict=True))
