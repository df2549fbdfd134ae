"""The arrays of a dataset folder, mapped into memory: regions, offsets of regions, boxes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vse_zoo.data.metadata import RegionsInfo
from vse_zoo.data.npy import open_npy
from vse_zoo.errors import DataError, located

__all__ = ["BOXES", "OFFSETS", "REGIONS", "Regions"]

REGIONS, OFFSETS, BOXES = "regions.npy", "offsets.npy", "boxes.npy"
_AGAIN = "Run vse-zoo features again."


class Regions:
    """Region features of all images, dense (N, R, D), or stacked (total, D) with offsets (N + 1).

    Args:
        folder: where the files are.
        info: the "regions" entry of dataset.json.
        images: N.
        files: other places of the files, by their names in the folder.

    Raises:
        DataError: the arrays do not fit one another or the description.
    """

    def __init__(self, folder: Path, info: RegionsInfo, images: int, files: dict[str, Path] | None = None) -> None:
        paths = {name: (files or {}).get(name, folder / name) for name in (REGIONS, OFFSETS, BOXES)}
        self.dim = info.dim
        self.grid = tuple(info.grid) if info.grid else None
        self.backbone = info.backbone
        self.features = open_npy(paths[REGIONS], _AGAIN)
        self.offsets = None if info.count else np.array(open_npy(paths[OFFSETS], _AGAIN))
        self.boxes = open_npy(paths[BOXES], _AGAIN) if info.boxes else None
        leading = (images, info.count) if info.count else self.features.shape[:1]
        _check(paths[REGIONS], self.features, (*leading, info.dim), info.dtype)
        if self.boxes is not None:
            _check(paths[BOXES], self.boxes, (*leading, 4), "float32")
        if self.offsets is not None:
            _check_offsets(paths[OFFSETS], self.offsets, images, len(self.features))
        self._images = images

    def gather(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(B,) image rows to (B, R, D) features as stored and a (B, R) mask, padded where counts differ."""
        rows = np.asarray(rows)
        if rows.size and not 0 <= rows.min() <= rows.max() < self._images:
            raise IndexError(f"image rows must be within 0…{self._images - 1}, got {rows.min()} to {rows.max()}.")
        # Sorted access reads the file forwards; a random order would seek for every image.
        order = np.argsort(rows, kind="stable")
        if self.offsets is None:
            features = np.empty((len(rows), *self.features.shape[1:]), self.features.dtype)
            for place in order:
                features[place] = self.features[rows[place]]
            return features, np.ones(features.shape[:2], bool)
        starts, ends = self.offsets[rows], self.offsets[rows + 1]
        mask = np.arange(max(1, (ends - starts).max(initial=1))) < (ends - starts)[:, None]
        features = np.zeros((*mask.shape, self.dim), self.features.dtype)
        for place in order:
            features[place, : ends[place] - starts[place]] = self.features[starts[place] : ends[place]]
        return features, mask

    def boxes_of(self, row: int) -> np.ndarray | None:
        """(R, 4) boxes of an image, relative (x0, y0, x1, y1), or None where the folder holds none."""
        if self.boxes is None:
            return None
        if not 0 <= row < self._images:
            raise IndexError(f"image rows must be within 0…{self._images - 1}, got {row}.")
        if self.offsets is None:
            return np.asarray(self.boxes[row])
        return np.asarray(self.boxes[self.offsets[row] : self.offsets[row + 1]])


def _check_offsets(path: Path, offsets: np.ndarray, images: int, total: int) -> None:
    _check(path, offsets, (images + 1,), "int64")
    if offsets[0] != 0 or offsets[-1] != total or (np.diff(offsets) < 0).any():
        problem = f"found numbers from {offsets[0]} to {offsets[-1]}, expected rising ones from 0 to {total}."
        raise DataError(located(path, problem, do=_AGAIN))


def _check(path: Path, array: np.ndarray, shape: tuple[int | None, ...], dtype: str) -> None:
    if array.shape != shape or array.dtype != np.dtype(dtype) or not array.flags.c_contiguous:
        problem = f"found shape {array.shape} of {array.dtype}, expected {shape} of {dtype} in C order."
        raise DataError(located(path, problem, do=_AGAIN))
