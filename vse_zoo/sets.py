"""Sets of vectors: what a pairwise model encodes a picture (its regions) or a sentence (its words) to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ItemSets"]


@dataclass(frozen=True, eq=False)
class ItemSets:
    """N sets of unit vectors, padded to the largest.

    Args:
        items: (N, R, E) float32; padding is zero.
        mask: (N, R) bool, True on real items; every set has at least one.

    Raises:
        ValueError: the two don't fit one another, or a set is empty.
    """

    items: NDArray[np.float32]
    mask: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.items.ndim != 3 or self.mask.shape != self.items.shape[:2]:
            raise ValueError(f"items and mask: found {self.items.shape}, {self.mask.shape}; expected (N, R, E), (N, R).")
        if not self.mask.any(axis=1).all():
            raise ValueError(f"mask, row {int(np.argmin(self.mask.any(axis=1)))}: the set is empty.")

    def __len__(self) -> int:
        """The number of sets."""
        return len(self.items)

    def __getitem__(self, rows: Any) -> ItemSets:
        """The sets of those rows: a slice, a list of numbers or a bool array."""
        return ItemSets(self.items[rows], self.mask[rows])

    @property
    def counts(self) -> NDArray[np.int64]:
        """(N,) numbers of real items."""
        return self.mask.sum(axis=1)

    @classmethod
    def concatenate(cls, parts: Sequence[ItemSets]) -> ItemSets:
        """All sets of the parts in order, padded to the largest of them."""
        width = max(part.items.shape[1] for part in parts)
        widths = [((0, 0), (0, width - part.items.shape[1])) for part in parts]
        items = [np.pad(part.items, (*pad, (0, 0))) for part, pad in zip(parts, widths, strict=True)]
        masks = [np.pad(part.mask, pad) for part, pad in zip(parts, widths, strict=True)]
        return cls(np.concatenate(items), np.concatenate(masks))
