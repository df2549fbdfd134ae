"""Vectors on disk, a row a key: appended or put where a row is free, mapped into memory to be read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vse_zoo.errors import DataError, located
from vse_zoo.search.protocol import check_vectors

__all__ = ["RowFile"]

FREE = 0


class RowFile:
    """``vectors.f32``, float32 rows one after another, and ``keys.i64``, each row's key or 0 where it is free.

    Vectors are on disk before their keys are, so that a kill in between leaves free rows.

    Args:
        folder: of the two files, which are made if missing.
        shape: of a key's vectors.

    Raises:
        DataError: the files don't fit one another.
    """

    def __init__(self, folder: Path, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)
        self._bytes = int(np.prod(self.shape)) * 4
        self._vectors, self._keys = folder / "vectors.f32", folder / "keys.i64"
        for path in (self._vectors, self._keys):
            if not path.exists():  # the folder may be read-only
                path.touch()
        self.keys: NDArray[np.int64] = np.fromfile(self._keys, np.int64)
        if self._vectors.stat().st_size < len(self.keys) * self._bytes:
            found = f"found {self._vectors.stat().st_size:,} bytes, expected {len(self.keys):,} rows of {self._bytes}."
            raise DataError(located(self._vectors, found, do="Index the photos again, into a new folder."))

    def __len__(self) -> int:
        """The number of keys, without free rows."""
        return int(np.count_nonzero(self.keys))

    @cached_property
    def table(self) -> NDArray[np.float32]:
        """All rows (rows, *shape), free ones too, as they are on disk."""
        shape = (len(self.keys), *self.shape)
        return np.memmap(self._vectors, np.float32, "r", shape=shape) if len(self.keys) else np.zeros(shape, np.float32)

    def add(self, keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Writes vectors (n, *shape) of keys (n,)."""
        check_vectors(keys, vectors, self.shape)
        rows = [self._row_for(int(key)) for key in keys]
        self._write(self._vectors, rows, np.ascontiguousarray(vectors, np.float32), self._bytes)
        self._set_keys(rows, keys)
        if len(self.keys) > len(self.table):
            del self.table

    def remove(self, keys: Iterable[int]) -> None:
        """Frees the rows of keys, those that are there."""
        rows = [self._rows.pop(key) for key in {int(key) for key in keys} if key in self._rows]
        self._set_keys(rows, np.zeros(len(rows), np.int64))
        self._free.extend(rows)

    def holds_any(self, keys: NDArray[np.int64]) -> bool:
        """Whether one of the keys is there."""
        return any(key in self._rows for key in keys.tolist())

    def rows_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each key; an unknown one is a `KeyError`."""
        return np.array([self._rows[int(key)] for key in keys], np.int64)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {int(self.keys[row]): int(row) for row in np.flatnonzero(self.keys)}

    @cached_property
    def _free(self) -> list[int]:
        return np.flatnonzero(self.keys == FREE)[::-1].tolist()

    def _row_for(self, key: int) -> int:
        if key not in self._rows:
            self._rows[key] = self._free.pop() if self._free else len(self._rows)
        return self._rows[key]

    def _set_keys(self, rows: list[int], keys: NDArray[np.int64]) -> None:
        if not rows:
            return
        self._write(self._keys, rows, np.ascontiguousarray(keys, np.int64), 8)
        lacking = max(rows) + 1 - len(self.keys)
        self.keys = np.concatenate([self.keys, np.zeros(max(lacking, 0), np.int64)])
        self.keys[rows] = keys

    @staticmethod
    def _write(path: Path, rows: list[int], values: NDArray[np.generic], size: int) -> None:
        with path.open("r+b") as file:
            for row, value in zip(rows, values, strict=True):
                file.seek(row * size)
                file.write(value.tobytes())
            file.flush()
            os.fsync(file.fileno())
