"""Vectors in a folder, searched exactly; by a graph where there are so many that it pays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vse_zoo.search.best import NOTHING, best
from vse_zoo.search.graph import Graph
from vse_zoo.search.protocol import Hits
from vse_zoo.search.rows import RowFile

__all__ = ["LocalBackend"]

_CHUNK = 2**22
"""Numbers of the table that are multiplied together, 16 MiB: larger chunks are no faster and take memory."""
_GRAPH_FROM = 100_000
"""Vectors from which on a graph is made (benchmarks/search.py)."""
_MORE = 8
"""The graph gives so many times the results that are wanted; their exact scores choose among them."""


class LocalBackend:
    """A `vse_zoo.search.Backend` in a folder, memory-mapped; scores are exact.

    Args:
        folder: made if missing.
        shape: (E,), or (R, E).
        graph_from: single vectors from which on `finish` makes an HNSW graph, where usearch is installed: the search
            then may miss some of the best, and takes milliseconds.

    Raises:
        DataError: the folder's files are damaged.
    """

    def __init__(self, folder: Path, shape: Sequence[int], graph_from: int = _GRAPH_FROM) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._rows = RowFile(folder, shape)
        self._graph = Graph(folder, self._rows.shape[-1]) if len(self._rows.shape) == 1 else None
        self._graph_from = graph_from

    @property
    def shape(self) -> tuple[int, ...]:
        """(E,), or (R, E)."""
        return self._rows.shape

    def __len__(self) -> int:
        """The number of keys."""
        return len(self._rows)

    def add(self, keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Keeps vectors (n, *shape) of keys (n,); a `ValueError` where they aren't finite or don't fit."""
        if self._graph is not None and self._rows.holds_any(keys):
            self._graph.forget()
        self._rows.add(keys, vectors)

    def remove(self, keys: Iterable[int]) -> None:
        """Drops keys."""
        self._rows.remove(keys)

    def vectors(self, keys: NDArray[np.int64]) -> NDArray[np.float32]:
        """(n, *shape) of keys (n,), in their order; a key that isn't there is a `KeyError`."""
        return np.asarray(self._rows.table[self._rows.rows_of(keys)])

    def search(self, query: NDArray[np.float32], k: int) -> Hits:
        """The best ``k`` keys; see `vse_zoo.search.Backend`."""
        if self._graph is not None and self._graph.covers(self._rows.keys):
            keys = self._graph.search(query, _MORE * k)
            return best(keys, self.vectors(keys) @ query, k)
        return self.search_exactly(query, k)

    def search_exactly(self, query: NDArray[np.float32], k: int) -> Hits:
        """The same without the graph."""
        query = np.ascontiguousarray(query, np.float32)
        found = NOTHING
        for keys, vectors in self._chunks():
            chosen = best(keys, _scores(vectors, query), k)
            found = best(np.concatenate([found[0], chosen[0]]), np.concatenate([found[1], chosen[1]]), k)
        return found

    def finish(self) -> None:
        """Makes or updates the graph, where it pays."""
        if self._graph is not None and len(self) >= self._graph_from:
            self._graph.update(self._rows.keys, self.vectors)

    def close(self) -> None:
        """Unmaps the files."""
        self._rows.__dict__.pop("table", None)

    def _chunks(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        table, keys = self._rows.table, self._rows.keys
        size = max(1, _CHUNK // int(np.prod(self.shape)))
        for start in range(0, len(table), size):
            used = keys[start : start + size] > 0
            vectors = table[start : start + size]
            # Only where there are free rows are the others copied.
            yield keys[start : start + size][used], vectors if used.all() else vectors[used]


def _scores(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n,) scores of vectors (n, E) with a query (E,), or of sets (n, R, E) with one (W, E)."""
    if vectors.ndim == 2:
        return vectors @ query
    n, r, e = vectors.shape
    cosines = (vectors.reshape(n * r, e) @ query.T).reshape(n, r, len(query))
    return cosines.max(axis=1).sum(axis=1)
