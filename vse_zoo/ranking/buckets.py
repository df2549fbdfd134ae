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
    """Sets at one width, without their items, of which there is no padded copy.

    Args:
        members: (C,) their numbers among the rows that were asked for.
        rows: (C, R) int64 tensor, where their items stand among those of all sets; padding repeats a set's last item.
        mask: (C, R) bool tensor.
    """

    members: NDArray[np.int64]
    rows: Any
    mask: Any


def in_one_bucket(sets: ItemSets, rows: NDArray[np.int64]) -> Bucket:
    """The sets of those rows in order, as wide as the largest."""
    return _bucket(sets, rows, np.arange(len(rows)), int(sets.counts[rows].max()))


def in_buckets(sets: ItemSets, rows: NDArray[np.int64]) -> tuple[list[Bucket], NDArray[np.int64]]:
    """The sets of those rows by size; widths with few sets join the next one. Also (n, 2): each one's bucket and its
    place in it.
    """
    widths = _width(sets.counts[rows])
    found: list[Bucket] = []
    places = np.empty((len(rows), 2), np.int64)
    waiting = np.zeros(0, np.int64)
    for size in np.unique(widths):
        waiting = np.concatenate([waiting, np.flatnonzero(widths == size)])
        if len(waiting) < _FEWEST and size < widths.max():
            continue
        places[waiting] = np.stack([np.full(len(waiting), len(found)), np.arange(len(waiting))], axis=1)
        found.append(_bucket(sets, rows, waiting, int(size)))
        waiting = np.zeros(0, np.int64)
    return found, places


def _width(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least width that is offered for each size: multiples of 4 up to 16, then of 8."""
    step = np.where(sizes <= 16, 4, 8)
    return -(-sizes // step) * step


def _bucket(sets: ItemSets, rows: NDArray[np.int64], members: NDArray[np.int64], size: int) -> Bucket:
    counts, place = sets.counts[rows[members], None], np.arange(size)
    items = sets.offsets[rows[members], None] + np.minimum(place, counts - 1)
    return Bucket(members, tf.constant(items), tf.constant(place < counts))
