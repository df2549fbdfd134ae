"""Dataset folder to tf.data batches (the batch contract), shuffled by index over the whole split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.tokens import Tokens
from vse_zoo.errors import DataError, located

__all__ = ["PairBatches"]


class PairBatches:
    """Image–caption batches of one split; batch n is a pure function of the seed and n, so any epoch can be resumed.

    The zoo's models take it as it is in ``fit``, ``evaluate`` and ``predict``.

    Each pair holds an image and one caption of every language; captions of two languages meet at random, anew each
    epoch. A language without a caption for an image gives one unknown word there, and False in ``text_mask``.

    Args:
        dataset: an opened dataset folder with regions.
        split: its name.
        tokenize: sentences and a language to ragged int32 word ids, every row of length ≥ 1
            (`TextPreprocessor.ragged`).
        languages: those to read; all of the dataset by default.
        batch_size: pairs a batch. What is left over at the end of an epoch waits for another epoch's order.
        captions: "all": every caption once an epoch; "one": one random caption of each image.
        seed: of all randomness.
        length_pool: batches whose pairs are sorted by length together, so that the sentences of a batch are of similar
            length and nearly all padding goes. With 1 a batch holds all lengths, which a model needs that must learn to
            compare long sentences with short ones.
        states: for each language a .npy file (all words, D) of vectors, one for each of ``tokenize``'s ids; ``text``
            then holds (B, T, D) of them instead of ids, zero at padding.
        views: draw each picture anew every time from itself and its other views (`Dataset.views`).

    Raises:
        DataError: the split is empty, has no caption in any of the languages, or lacks the views that are asked for.
    """

    def __init__(
        self,
        dataset: Dataset,
        split: str,
        tokenize: Callable[[Sequence[str], str], tf.RaggedTensor],
        languages: Sequence[str] | None = None,
        batch_size: int = 128,
        captions: str = "all",
        seed: int = 0,
        length_pool: int = 32,
        states: Mapping[str, Path] | None = None,
        views: bool = False,
    ) -> None:
        if captions not in ("all", "one"):
            raise ValueError(f"captions must be 'all' or 'one', got {captions!r}.")
        self.languages = tuple(languages or dataset.languages)
        self._dataset = dataset
        self._seed = seed
        self._length_pool = length_pool
        self._rows = dataset.indices(split)
        self._views = dataset.views if views else None
        files = states or {}
        self._tokens = {name: Tokens.read(dataset, split, name, tokenize, files.get(name)) for name in self.languages}
        pairs = np.max([tokens.counts for tokens in self._tokens.values()], axis=0, initial=0)
        pairs = np.minimum(pairs, 1) if captions == "one" else pairs
        if not pairs.sum():
            names = ", ".join(self.languages)
            raise DataError(located(dataset.path, f"split {split!r} has no caption in: {names}."))
        self._images = np.repeat(np.arange(len(self._rows)), pairs)
        self._slots = np.concatenate([np.arange(count) for count in pairs])
        self.batch_size = min(batch_size, len(self._images))
        self.steps_per_epoch = len(self._images) // self.batch_size
        self._plan = lru_cache(maxsize=2)(self._plan_epoch)

    def dataset(self, start_epoch: int = 0) -> tf.data.Dataset:
        """Endless batches from the start of an epoch on; its number may be a tensor. ``model.fit`` calls it itself."""
        steps = tf.data.Dataset.range(start_epoch * self.steps_per_epoch, np.iinfo(np.int64).max)
        batches = steps.map(self._tensors, num_parallel_calls=2, deterministic=True)
        return batches.prefetch(4)

    def batch(self, step: int) -> dict[str, Any]:
        """Batch number ``step``, counted from the first epoch's first, as NumPy arrays in the batch contract."""
        epoch, position = divmod(int(step), self.steps_per_epoch)
        images, captions, views = self._plan(epoch)
        chosen = slice(position * self.batch_size, (position + 1) * self.batch_size)
        rows = self._rows[images[chosen]]
        regions, region_mask = self._dataset.regions(rows)
        if self._views:
            self._views.put(regions, images[chosen], views[chosen])
        texts = {name: tokens.padded(captions[name][chosen]) for name, tokens in self._tokens.items()}
        masks = {name: captions[name][chosen] >= 0 for name in self.languages}
        ids = rows.astype("int32")
        return {"regions": regions, "region_mask": region_mask, "text": texts, "text_mask": masks, "image_id": ids}

    def _plan_epoch(self, epoch: int) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
        """The epoch's pairs in order: positions in the split, per language caption numbers (−1: none), and views
        (−1: the picture itself).
        """
        random = np.random.default_rng((self._seed, epoch))
        captions = {
            name: tokens.shuffled(random)[self._images, self._slots % np.maximum(tokens.counts, 1)[self._images]]
            for name, tokens in self._tokens.items()
        }
        lengths = np.max([self._tokens[name].lengths[captions[name]] for name in self.languages], axis=0)
        order = self._bucketed(random.permutation(len(self._images)), lengths, random)
        views = random.integers(-1, self._views.count if self._views else 0, len(order))
        return self._images[order], {name: numbers[order] for name, numbers in captions.items()}, views

    def _bucketed(self, order: np.ndarray, lengths: np.ndarray, random: np.random.Generator) -> np.ndarray:
        order = order[: self.steps_per_epoch * self.batch_size]
        pool = self._length_pool * self.batch_size
        pools = [order[i : i + pool] for i in range(0, len(order), pool)]
        ordered = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in pools])
        batches = ordered.reshape(self.steps_per_epoch, self.batch_size)
        return batches[random.permutation(self.steps_per_epoch)].reshape(-1)

    def _tensors(self, step: tf.Tensor) -> dict[str, Any]:
        example = self.batch(0)
        arrays = tf.nest.flatten(example)
        flat = tf.numpy_function(lambda n: tf.nest.flatten(self.batch(n)), [step], [array.dtype for array in arrays])
        for tensor, array in zip(flat, arrays, strict=True):
            tensor.set_shape([None, *([None] if array.ndim > 1 else []), *array.shape[2:]])
        return tf.nest.pack_sequence_as(example, flat)
