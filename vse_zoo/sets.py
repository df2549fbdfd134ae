"""Sets of vectors: what a pairwise model encodes a picture (its regions) or a sentence (its words) to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ItemSets", "joined"]


@dataclass(frozen=True, eq=False)
class ItemSets:
    """N sets of unit vectors, one after another without padding; iterating gives each set's items (n, E).

    Args:
        items: (total, E) float32, the items of all sets.
        counts: (N,) int64, how many belong to each; every set has at least one.

    Raises:
        ValueError: the two don't fit one another, or a set is empty.
    """

    items: NDArray[np.float32]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.items.ndim != 2 or self.counts.ndim != 1:
            found = f"found {self.items.shape}, {self.counts.shape}"
            raise ValueError(f"items and counts: {found}; expected (total, E), (N,).")
        if (self.counts < 1).any():
            row = int(np.argmax(self.counts < 1))
            raise ValueError(f"row {row}: the set is empty: found {self.counts[row]} items, expected at least one.")
        if self.counts.sum() != len(self.items):
            raise ValueError(f"counts: they add up to {self.counts.sum()}, expected {len(self.items)} items.")

    def __len__(self) -> int:
        """The number of sets."""
        return len(self.counts)

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        """Each set's items (n, E)."""
        return (self.items[start:stop] for start, stop in pairwise(self.offsets.tolist()))

    def __getitem__(self, rows: Any) -> ItemSets:
        """The sets of those rows: a slice, a list of numbers or a bool array; rows may repeat. Consecutive rows share
        these sets' memory.
        """
        chosen = np.arange(len(self))[rows]
        if chosen.ndim != 1:
            raise ValueError(f"rows: found {rows!r}, expected a slice, a list of numbers or a bool array.")
        starts, counts = self.offsets[chosen], self.counts[chosen]
        if len(chosen) and (np.diff(chosen) == 1).all():
            return ItemSets(self.items[starts[0] : starts[-1] + counts[-1]], counts)
        shift = starts - (np.cumsum(counts) - counts)
        return ItemSets(self.items[np.repeat(shift, counts) + np.arange(counts.sum())], counts)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """(N + 1,) where each set's items start, and the end."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64, copy=False)

    def padded(self, width: int | None = None) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Items (N, R, E), zero after the last of each set, and their mask (N, R); R is the largest set's size, or
        ``width``.
        """
        mask = np.arange(self.counts.max(initial=0) if width is None else width) < self.counts[:, None]
        items = np.zeros((*mask.shape, self.items.shape[1]), np.float32)
        items[mask] = self.items
        return items, mask

    @classmethod
    def of(cls, items: NDArray[Any], mask: NDArray[np.bool_]) -> ItemSets:
        """Sets of padded items (N, R, E) and their mask (N, R): the real items in order, wherever they stand."""
        if items.ndim != 3 or mask.shape != items.shape[:2]:
            raise ValueError(f"items and mask: found {items.shape}, {mask.shape}; expected (N, R, E), (N, R).")
        return cls(items[mask].astype(np.float32, copy=False), mask.sum(axis=1))

    @classmethod
    def concatenate(cls, parts: Sequence[ItemSets]) -> ItemSets:
        """All sets of the parts in order."""
        return cls(np.concatenate([part.items for part in parts]), np.concatenate([part.counts for part in parts]))


def joined(parts: Sequence[Any]) -> Any:
    """The encodings of a whole list from those of its parts in order: arrays (n, E), or `ItemSets`."""
    return ItemSets.concatenate(parts) if isinstance(parts[0], ItemSets) else np.concatenate(parts)
