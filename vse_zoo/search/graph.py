"""A graph of near neighbours (Malkov and Yashunin, 2018, arXiv:1603.09320) beside the vectors, by usearch."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vse_zoo.files import read_json, replacing, write_json
from vse_zoo.progress import progress

__all__ = ["Graph"]

_SETTINGS: dict[str, Any] = {
    "metric": "ip",
    "dtype": "f16",
    "connectivity": 16,
    "expansion_add": 128,
    "expansion_search": 128,
}
_TOGETHER = 4096


class Graph:
    """``graph.usearch`` and a note of the keys that are in it; without usearch, or with other keys, it covers nothing.

    Args:
        folder: of the two files.
        size: E of the vectors.
    """

    def __init__(self, folder: Path, size: int) -> None:
        self._path, self._note = folder / "graph.usearch", folder / "graph.json"
        self._size = size
        self._covered: tuple[NDArray[np.int64], bool] | None = None

    def covers(self, keys: NDArray[np.int64]) -> bool:
        """Whether its vectors are those of the keys (rows,), of which 0 are none."""
        if self._covered is None or self._covered[0] is not keys:
            made = self._note.is_file() and self._path.is_file() and _installed()
            self._covered = keys, made and read_json(self._note).get("keys") == _digest(keys)
        return self._covered[1]

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """Up to ``k`` keys near a query (E,)."""
        return self._mapped.search(query, k).keys.astype(np.int64)

    def forget(self) -> None:
        """Removes the files."""
        self._note.unlink(missing_ok=True)
        self._path.unlink(missing_ok=True)
        self._covered = None
        self.__dict__.pop("_mapped", None)

    def update(self, keys: NDArray[np.int64], vectors: Callable[[NDArray[np.int64]], NDArray[np.float32]]) -> None:
        """Brings the graph up to the keys (rows,), of which 0 are none, by the vectors of those that it lacks."""
        if not _installed() or self.covers(keys):
            return
        graph = self._load(view=False)
        there, wanted = np.array(list(graph.keys), np.int64), keys[keys > 0]
        graph.remove(np.setdiff1d(there, wanted))
        new = np.setdiff1d(wanted, there)
        with progress("graph", len(new)) as bar:
            for start in range(0, len(new), _TOGETHER):
                some = new[start : start + _TOGETHER]
                graph.add(some, vectors(some))
                bar.advance(len(some))
        self._note.unlink(missing_ok=True)
        with replacing(self._path) as temporary:
            graph.save(str(temporary))
        write_json(self._note, {"keys": _digest(keys)})
        self._covered = None
        self.__dict__.pop("_mapped", None)

    @cached_property
    def _mapped(self) -> Any:
        return self._load(view=True)

    def _load(self, view: bool) -> Any:
        import usearch.index  # optional: pip install 'vse-zoo[search]'

        graph = usearch.index.Index(ndim=self._size, **_SETTINGS)
        if self._path.is_file():
            (graph.view if view else graph.load)(str(self._path))
        return graph


def _installed() -> bool:
    return importlib.util.find_spec("usearch") is not None


def _digest(keys: NDArray[np.int64]) -> str:
    return hashlib.sha256(np.sort(keys[keys > 0]).tobytes()).hexdigest()
