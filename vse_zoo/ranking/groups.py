"""Pairs grouped by image, in batches of a fixed shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Batch", "batches"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Groups of one image with several texts.

    Args:
        images: (g,) an image each.
        texts: (g, G) its texts; slots that are left over repeat a text.
        slots: (p,) positions in the flattened (g·G,) of real pairs.
        pairs: (p,) the numbers of these pairs, as they were given.
    """

    images: NDArray[np.int64]
    texts: NDArray[np.int64]
    slots: NDArray[np.int64]
    pairs: NDArray[np.int64]


def batches(images: NDArray[np.int64], texts: NDArray[np.int64], groups: int, each: int) -> Iterator[Batch]:
    """Pairs (images[i], texts[i]) in batches of ``groups`` groups of ``each`` texts."""
    order = np.lexsort([texts, images])
    rows = images[order]
    start = np.searchsorted(rows, rows)  # where the run of the same image starts
    within = np.arange(len(rows)) - start
    first = within % each == 0
    group = np.cumsum(first) - 1
    slot = group * each + within % each
    for low in range(0, int(group[-1]) + 1 if len(group) else 0, groups):
        here = np.flatnonzero((group >= low) & (group < low + groups))
        slots = slot[here] - low * each
        image, text = np.full(groups, rows[here[0]]), np.full(groups * each, texts[order[here[0]]])
        image[slots // each], text[slots] = rows[here], texts[order[here]]
        yield Batch(image, text.reshape(groups, each), slots, order[here])
