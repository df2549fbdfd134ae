"""The captions of one split and language as word ids, in two flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from vse_zoo.data.dataset import Dataset

__all__ = ["Tokens"]

_UNKNOWN = 1


@dataclass(frozen=True)
class Tokens:
    """Caption number c has the ids ``values[starts[c] : starts[c] + lengths[c]]``; number −1 is "no caption".

    Args:
        values: all word ids, int32; the last stands for the missing caption.
        starts: (C + 1,) where each caption begins; the last entry is the missing one's.
        lengths: (C + 1,) words of each caption.
        numbers: (N, most) caption numbers of each image of the split, −1 beyond its own.
        counts: (N,) captions of each image.
    """

    values: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray

    @classmethod
    def read(
        cls, dataset: Dataset, split: str, language: str, tokenize: Callable[[Sequence[str], str], tf.RaggedTensor]
    ) -> Tokens:
        """Tokenises every caption of a split once."""
        texts, images = dataset.captions(split, language)
        ragged = tokenize(texts, language) if texts else tf.RaggedTensor.from_row_lengths(tf.zeros(0, tf.int32), [])
        values = np.append(ragged.flat_values.numpy(), np.int32(_UNKNOWN))
        splits = ragged.row_splits.numpy()
        positions = np.searchsorted(dataset.indices(split), images)
        counts = np.bincount(positions, minlength=len(dataset.indices(split)))
        numbers = np.full((len(counts), max(1, counts.max(initial=0))), -1)
        numbers[np.arange(numbers.shape[1]) < counts[:, None]] = np.argsort(positions, kind="stable")
        return cls(values, splits, np.append(np.diff(splits), 1), numbers, counts)

    def shuffled(self, random: np.random.Generator) -> np.ndarray:
        """``numbers`` with every image's own captions in random order, the −1 still last."""
        keys = np.where(self.numbers >= 0, random.random(self.numbers.shape), np.inf)
        return np.take_along_axis(self.numbers, np.argsort(keys, axis=1), axis=1)

    def padded(self, captions: np.ndarray) -> np.ndarray:
        """(B,) caption numbers to (B, T) int32 ids, padded with 0 to the longest."""
        lengths = self.lengths[captions]
        columns = np.arange(lengths.max())
        places = self.starts[captions][:, None] + columns
        inside = columns < lengths[:, None]
        return np.where(inside, self.values[np.where(inside, places, 0)], 0).astype("int32")
