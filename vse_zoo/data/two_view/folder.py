"""The two-view folder: two matrices a split, row n of one belongs to row n of the other, mapped into memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from vse_zoo.data.attaching import file_hash
from vse_zoo.data.npy import open_npy
from vse_zoo.data.two_view.array_files import Matrix
from vse_zoo.data.two_view.metadata import AGAIN, METADATA, VIEWS, TwoViewMetadata, array_name
from vse_zoo.data.two_view.writing import write_folder
from vse_zoo.errors import DataError, located

__all__ = ["TwoViewData", "write_two_view"]


class TwoViewData:
    """An opened two-view folder; opening reads two_view.json and array headers only, whatever the size.

    Args:
        path: the folder.

    Raises:
        DataError: the folder is not one, or is damaged; the message says what and where.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._metadata = TwoViewMetadata.read(self.path)
        self.name = self._metadata.name
        self.origin = self._metadata.origin
        self.x_dim = self._metadata.x_dim
        self.y_dim = self._metadata.y_dim
        self.splits = self._metadata.splits
        self._views = {split: (self._open(split, "x"), self._open(split, "y")) for split in self.splits}

    @classmethod
    def open(cls, path: str | Path) -> TwoViewData:
        """Opens a folder; the same as the constructor."""
        return cls(path)

    @staticmethod
    def is_at(path: str | Path) -> bool:
        """Whether there is a two-view folder, whole or not."""
        return (Path(path) / METADATA).is_file()

    @property
    def content_hash(self) -> str:
        """SHA-256 over the names and hashes of all arrays; a training run records it."""
        lines = [f"{name} {digest}\n" for name, digest in sorted(self._metadata.hashes.items())]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @property
    def identity(self) -> dict[str, str]:
        """What a training run records to know the data again."""
        return {"name": self.name, "content_hash": self.content_hash}

    def views(self, split: str) -> tuple[np.ndarray, np.ndarray]:
        """A split's x (N, x_dim) and y (N, y_dim), memory-mapped; a `DataError` for an unknown split."""
        if split not in self.splits:
            problem = f"split: found {split!r}, expected one of: {', '.join(self.splits)}."
            raise DataError(located(self.path, problem))
        return self._views[split]

    def verify(self) -> None:
        """Hashes every array again; a `DataError` names the first that changed."""
        for name, digest in self._metadata.hashes.items():
            if file_hash(self.path / name) != digest:
                raise DataError(located(self.path / name, "its content has changed.", do=AGAIN))

    def _open(self, split: str, view: str) -> np.ndarray:
        path = self.path / array_name(split, view)
        array = open_npy(path, do=AGAIN)
        expected = (self.splits[split], self.x_dim if view == VIEWS[0] else self.y_dim)
        if array.shape != expected or array.dtype.name not in ("float32", "float16") or not array.flags.c_contiguous:
            found = f"found shape {array.shape} of {array.dtype}"
            problem = f"{found}, expected {expected} of float32 or float16 in C order."
            raise DataError(located(path, problem, do=AGAIN))
        return array


def write_two_view(
    path: str | Path,
    splits: Mapping[str, tuple[Matrix, Matrix]],
    *,
    name: str,
    origin: str,
    overwrite: bool = False,
) -> TwoViewData:
    """Writes a two-view folder, whole or not at all, a few rows at a time: memory-mapped arrays may be of any size.

    Args:
        path: the folder to make.
        splits: x (N, x_dim) and y (N, y_dim) of each split; numbers of any kind, stored as float32 (float16 stays).
        name: the data's.
        origin: where the numbers come from and what was done to them, for people to read.
        overwrite: replace the two-view data that is there.

    Raises:
        DataError: the folder holds something already, or an array is empty, isn't finite or doesn't fit the others.
            The folder is as it was then.
    """
    write_folder(Path(path), splits, name=name, origin=origin, overwrite=overwrite)
    return TwoViewData(path)
