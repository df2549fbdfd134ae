"""Features of other views of the training pictures: mirrored and cropped copies, which training draws from."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vse_zoo.data.arrays import Regions
from vse_zoo.data.attaching import check_finite
from vse_zoo.data.npy import NpyRows
from vse_zoo.errors import DataError, located

__all__ = ["SPLIT", "VIEWS", "Views"]

VIEWS = "views.npy"
SPLIT = "train"
"""The split whose pictures have views."""
_AGAIN = "Run vse-zoo views again."


class Views:
    """(images · count, R, D): row ``position · count + number`` is a view of the picture at a position in the split.

    Args:
        path: the .npy file.
        count: views of each picture.
        regions: of the pictures themselves; a view has as many, of the same type.
        images: of the split.

    Raises:
        DataError: the file isn't whole or doesn't fit.
    """

    def __init__(self, path: Path, count: int, regions: Regions, images: int) -> None:
        self.count = count
        self._file = NpyRows(path, _AGAIN)
        found, own = self._file.array, regions.files[0].array
        shape = (images * count, *own.shape[1:])
        if regions.offsets is not None or found.shape != shape or found.dtype != own.dtype:
            problem = f"found shape {found.shape} of {found.dtype}, expected {shape} of {own.dtype}."
            raise DataError(located(path, problem, do=_AGAIN))

    def put(self, regions: np.ndarray, positions: np.ndarray, numbers: np.ndarray) -> None:
        """Fills rows of ``regions`` (B, R, D) with the views ``numbers`` (B,) of pictures at ``positions`` (B,).

        A number −1 leaves a row as it is.
        """
        rows = positions * self.count + numbers
        # Sorted access reads the file forwards.
        for place in np.argsort(rows, kind="stable"):
            if numbers[place] >= 0:
                self._file.read(rows[place], regions[place])

    def check(self) -> None:
        """Reads all of it; a `DataError` names the first row with a number that isn't finite."""
        check_finite(self._file)
