"""What an index needs of whatever keeps and searches its vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Backend", "Hits", "check_vectors"]

Hits = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Keys (n,) and their scores (n,), best first; equal scores by key."""


class Backend(Protocol):
    """Vectors by key. Every key, at least 1, has one unit vector (E,), or a set of R of them (R, E).

    After a kill a step may be done again: adding a key that is there replaces it, and removing one that isn't does
    nothing. A key that was removed never comes back.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """(E,), or (R, E)."""

    def __len__(self) -> int:
        """The number of keys."""

    def add(self, keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Keeps vectors (n, *shape) of keys (n,), all different; once it returns, a kill doesn't lose them."""

    def remove(self, keys: Iterable[int]) -> None:
        """Drops keys."""

    def vectors(self, keys: NDArray[np.int64]) -> NDArray[np.float32]:
        """(n, *shape) of keys (n,), in their order; a key that isn't there is a `KeyError`."""

    def search(self, query: NDArray[np.float32], k: int) -> Hits:
        """The best ``k`` keys, or all where there are fewer.

        A query (E,) is scored by its inner product with each vector; a query of W vectors (W, E) by
        Σ_w max_r ⟨query_w, vector_r⟩ with each set (the MaxSim of late interaction).
        """

    def finish(self) -> None:
        """Called when much was added or removed, and nothing will be for a while."""

    def close(self) -> None:
        """Gives back files and connections."""


def check_vectors(keys: NDArray[np.int64], vectors: NDArray[np.float32], shape: Sequence[int]) -> None:
    """A `ValueError` unless vectors (n, *shape) are finite and keys (n,) at least 1: what `Backend.add` takes."""
    if vectors.shape != (len(keys), *shape) or (keys < 1).any() or not np.isfinite(vectors).all():
        found = f"{vectors.shape}, least key {keys.min(initial=1)}"
        raise ValueError(f"vectors: found {found}; expected finite ones ({len(keys)}, {tuple(shape)}), keys from 1.")
