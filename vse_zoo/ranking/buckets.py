"""Sets of similar size side by side, so that fixed shapes waste little on padding and few shapes are compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from vse_zoo.sets import ItemSets

__all__ = ["Bucket", "in_buckets", "in_one_bucket"]

_FEWEST = 256
"""Sets that are worth shapes of their own."""


@dataclass(frozen=True, eq=False)
class Bucket:
    """Sets padded to one width.

    Args:
        members: (C,) their numbers.
        items: (C, R, E) float32 tensor.
        mask: (C, R) bool tensor.
    """

    members: NDArray[np.int64]
    items: Any
    mask: Any


def in_one_bucket(sets: ItemSets) -> Bucket:
    """All sets in order, cut after the last real item of the largest."""
    return _bucket(sets, np.arange(len(sets)), int(_extents(sets).max()))


def in_buckets(sets: ItemSets) -> tuple[list[Bucket], NDArray[np.int64]]:
    """All sets by size; widths with few sets join the next one. Also (N, 2): each set's bucket and its place in it."""
    widths = _width(_extents(sets))
    found: list[Bucket] = []
    places = np.empty((len(sets), 2), np.int64)
    waiting = np.zeros(0, np.int64)
    for size in np.unique(widths):
        waiting = np.concatenate([waiting, np.flatnonzero(widths == size)])
        if len(waiting) < _FEWEST and size < widths.max():
            continue
        places[waiting] = np.stack([np.full(len(waiting), len(found)), np.arange(len(waiting))], axis=1)
        found.append(_bucket(sets, waiting, int(size)))
        waiting = np.zeros(0, np.int64)
    return found, places


def _extents(sets: ItemSets) -> NDArray[np.int64]:
    """(N,) places up to each set's last real item."""
    return sets.mask.shape[1] - np.argmax(sets.mask[:, ::-1], axis=1)


def _width(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least width that is offered for each size: multiples of 4 up to 16, then of 8."""
    step = np.where(sizes <= 16, 4, 8)
    return -(-sizes // step) * step


def _bucket(sets: ItemSets, members: NDArray[np.int64], size: int) -> Bucket:
    more = ((0, 0), (0, max(0, size - sets.mask.shape[1])))
    mask = np.pad(sets.mask[members, :size], more)
    items = np.pad(sets.items[members, :size], (*more, (0, 0))) * mask[..., None]
    return Bucket(members, tf.constant(items, tf.float32), tf.constant(mask))
