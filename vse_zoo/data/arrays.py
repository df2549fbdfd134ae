"""The arrays of a dataset folder, mapped into memory: regions, offsets of regions, boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vse_zoo.errors import DataError, located

__all__ = ["Regions", "open_array"]

_AGAIN = "Run vse-zoo features again."


def open_array(path: Path) -> np.ndarray:
    """Maps a .npy file; a missing, damaged or truncated one is a `DataError`."""
    if not path.is_file():
        raise DataError(located(path, "the file is missing.", do=_AGAIN))
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DataError(located(path, f"not a whole .npy file ({error}).", do=_AGAIN)) from None


class Regions:
    """Region features of all images, dense (N, R, D), or stacked (total, D) with offsets (N + 1).

    Args:
        folder: the dataset folder.
        description: the "regions" entry of dataset.json.
        images: N.

    Raises:
        DataError: the arrays do not fit one another or the description.
    """

    def __init__(self, folder: Path, description: dict[str, Any], images: int) -> None:
        self._path = folder / "regions.npy"
        self.features = open_array(self._path)
        self.offsets = None if description["count"] else open_array(folder / "offsets.npy")
        self.boxes = open_array(folder / "boxes.npy") if description["boxes"] else None
        self.dim = int(description["dim"])
        self.grid = tuple(description["grid"]) if description.get("grid") else None
        self.backbone = str(description["backbone"])
        self._check(description, images)

    def _check(self, description: dict[str, Any], images: int) -> None:
        count = description["count"]
        if self.offsets is None:
            expected: tuple[int, ...] = (images, count, self.dim)
        else:
            expected = (int(self.offsets[-1]), self.dim)
            if self.offsets.shape != (images + 1,) or self.offsets[0] != 0 or (np.diff(self.offsets) < 0).any():
                raise DataError(located(self._path.with_name("offsets.npy"), f"not {images + 1} rising offsets.", do=_AGAIN))
        if self.features.shape != expected or str(self.features.dtype) != description["dtype"]:
            found = f"found shape {self.features.shape} of {self.features.dtype}"
            problem = f"{found}, expected {expected} of {description['dtype']}."
            raise DataError(located(self._path, problem, do=_AGAIN))
        if self.boxes is not None and self.boxes.shape != (*expected[:-1], 4):
            problem = f"found shape {self.boxes.shape}, expected {(*expected[:-1], 4)}."
            raise DataError(located(self._path.with_name("boxes.npy"), problem, do=_AGAIN))

    def gather(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(B,) image rows to (B, R, D) features in the stored precision and a (B, R) mask, padded where counts differ."""
        if self.offsets is None:
            # Sorted access reads the file forwards; a random order would seek for every image.
            order = np.argsort(rows, kind="stable")
            features = np.empty((len(rows), *self.features.shape[1:]), self.features.dtype)
            features[order] = self.features[rows[order]]
            return features, np.ones(features.shape[:2], bool)
        counts = self.offsets[rows + 1] - self.offsets[rows]
        mask = np.arange(max(1, counts.max(initial=1))) < counts[:, None]
        features = np.zeros((*mask.shape, self.dim), self.features.dtype)
        for place, row in enumerate(rows):
            features[place, : counts[place]] = self.features[self.offsets[row] : self.offsets[row + 1]]
        return features, mask

    def boxes_of(self, row: int) -> np.ndarray | None:
        """(R, 4) boxes of an image, relative (x0, y0, x1, y1), or None where the folder holds none."""
        if self.boxes is None:
            return None
        if self.offsets is None:
            return np.asarray(self.boxes[row])
        return np.asarray(self.boxes[self.offsets[row] : self.offsets[row + 1]])
