"""The captions of one split and language as word ids, in two flat arrays, or as vectors in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tensorflow as tf

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.npy import NpyRows
from vse_zoo.errors import DataError, located

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
        states: (all words, D) vectors of the words, which take the place of the ids; or None.
    """

    values: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray
    states: NpyRows | None = None

    @classmethod
    def read(
        cls,
        dataset: Dataset,
        split: str,
        language: str,
        tokenize: Callable[[Sequence[str], str], tf.RaggedTensor],
        states: Path | None = None,
    ) -> Tokens:
        """Tokenises every caption of a split once; a `DataError` if ``states`` are of other captions."""
        texts, images = dataset.captions(split, language)
        ragged = tokenize(texts, language) if texts else tf.RaggedTensor.from_row_lengths(tf.zeros(0, tf.int32), [])
        values = np.append(ragged.flat_values.numpy(), np.int32(_UNKNOWN))
        splits = ragged.row_splits.numpy()
        positions = np.searchsorted(dataset.indices(split), images)
        counts = np.bincount(positions, minlength=len(dataset.indices(split)))
        numbers = np.full((len(counts), max(1, counts.max(initial=0))), -1)
        numbers[np.arange(numbers.shape[1]) < counts[:, None]] = np.argsort(positions, kind="stable")
        rows = NpyRows(states) if states else None
        if rows is not None and len(rows) != splits[-1]:
            problem = (
                f"found vectors of {len(rows)} words, the captions of {split!r} in {language!r} have {splits[-1]}."
            )
            raise DataError(located(rows.path, problem))
        return cls(values, splits, np.append(np.diff(splits), 1), numbers, counts, rows)

    def shuffled(self, random: np.random.Generator) -> np.ndarray:
        """``numbers`` with every image's own captions in random order, the −1 still last."""
        keys = np.where(self.numbers >= 0, random.random(self.numbers.shape), np.inf)
        return np.take_along_axis(self.numbers, np.argsort(keys, axis=1), axis=1)

    def padded(self, captions: np.ndarray) -> np.ndarray:
        """(B,) caption numbers to (B, T) int32 ids, or (B, T, D) vectors, padded with 0 to the longest.

        The missing caption has no vector.
        """
        lengths = self.lengths[captions]
        columns = np.arange(lengths.max())
        if self.states is not None:
            vectors = np.zeros((*captions.shape, len(columns), *self.states.array.shape[1:]), self.states.array.dtype)
            for out, number in zip(vectors, captions, strict=True):
                if number >= 0:
                    self.states.read(self.starts[number], out[: self.lengths[number]])
            return vectors
        places = self.starts[captions][:, None] + columns
        inside = columns < lengths[:, None]
        return np.where(inside, self.values[np.where(inside, places, 0)], 0).astype("int32")
