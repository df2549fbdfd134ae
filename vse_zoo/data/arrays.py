"""The arrays of a dataset folder, opened without being read: regions, offsets of regions, boxes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from vse_zoo.data.metadata import RegionsInfo, RegionsPart
from vse_zoo.data.npy import NpyRows, open_npy
from vse_zoo.errors import DataError, located

__all__ = ["BOXES", "OFFSETS", "REGIONS", "Regions"]

REGIONS, OFFSETS, BOXES = "regions.npy", "offsets.npy", "boxes.npy"
_AGAIN = "Run vse-zoo features again."


class Regions:
    """Region features of all images, dense (N, R, D), or stacked (total, D) with offsets (N + 1).

    Dense features may be in several files one after another (``info.parts``), with every image ``stride`` times.

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
        self.offsets = None if info.count else np.array(open_npy(paths[OFFSETS], _AGAIN))
        self.boxes = open_npy(paths[BOXES], _AGAIN) if info.boxes else None
        self.files = [_kept(folder, part, info) for part in info.parts] or [NpyRows(paths[REGIONS], _AGAIN)]
        self._firsts = np.cumsum([0, *(part.images for part in info.parts)])[: len(self.files)]
        self._strides = np.array([part.stride for part in info.parts] or [1])
        leading = (images, info.count) if info.count else self.files[0].array.shape[:1]
        if not info.parts:
            _check(paths[REGIONS], self.files[0].array, (*leading, info.dim), info.dtype)
        if self.boxes is not None:
            _check(paths[BOXES], self.boxes, (*leading, 4), "float32")
        if self.offsets is not None:
            _check_offsets(paths[OFFSETS], self.offsets, images, len(self.files[0]))
        self._images, self._count, self._dtype = images, info.count, np.dtype(info.dtype)

    def gather(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(B,) image rows to (B, R, D) features as stored and a (B, R) mask, padded where counts differ."""
        rows = np.asarray(rows)
        if rows.size and not 0 <= rows.min() <= rows.max() < self._images:
            raise IndexError(f"image rows must be within 0…{self._images - 1}, got {rows.min()} to {rows.max()}.")
        # Sorted access reads the file forwards; a random order would seek for every image.
        order = np.argsort(rows, kind="stable")
        if self.offsets is None:
            features = np.empty((len(rows), self._count or 0, self.dim), self._dtype)
            parts = np.searchsorted(self._firsts, rows, side="right") - 1
            starts = (rows - self._firsts[parts]) * self._strides[parts]
            for place in order:
                self.files[parts[place]].read(starts[place], features[place])
            return features, np.ones(features.shape[:2], bool)
        starts, ends = self.offsets[rows], self.offsets[rows + 1]
        mask = np.arange(max(1, (ends - starts).max(initial=1))) < (ends - starts)[:, None]
        features = np.zeros((*mask.shape, self.dim), self._dtype)
        for place in order:
            self.files[0].read(starts[place], features[place, : ends[place] - starts[place]])
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


def _kept(folder: Path, part: RegionsPart, info: RegionsInfo) -> NpyRows:
    """The file of a part, if it is the one that was recorded."""
    path = folder / Path(part.path).expanduser()
    if not path.is_file():
        do = "Put it back, write its new place into dataset.json (regions, parts, path), or run vse-zoo prepare again."
        raise DataError(located(path, f"the file is missing; {folder} reads its regions there.", do=do))
    found = path.stat().st_size, path.stat().st_mtime_ns
    if found != (part.size, part.modified_ns):
        problem = f"found {_state(*found)}, expected {_state(part.size, part.modified_ns)}: it changed since {folder}"
        raise DataError(located(path, f"{problem} was written.", do="Run vse-zoo prepare again."))
    rows = NpyRows(path, "Run vse-zoo prepare again.")
    shape: tuple[int | None, ...] = (part.images * part.stride, info.count, info.dim)
    if info.count == 1 and rows.array.ndim == 2:
        shape = (part.images * part.stride, info.dim)
    _check(path, rows.array, shape, info.dtype, "Run vse-zoo prepare again.")
    return rows


def _state(size: int, modified_ns: int) -> str:
    return f"{size} bytes of {datetime.fromtimestamp(modified_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _check_offsets(path: Path, offsets: np.ndarray, images: int, total: int) -> None:
    _check(path, offsets, (images + 1,), "int64")
    if offsets[0] != 0 or offsets[-1] != total or (np.diff(offsets) < 0).any():
        problem = f"found numbers from {offsets[0]} to {offsets[-1]}, expected rising ones from 0 to {total}."
        raise DataError(located(path, problem, do=_AGAIN))


def _check(path: Path, array: np.ndarray, shape: tuple[int | None, ...], dtype: str, do: str = _AGAIN) -> None:
    if array.shape != shape or array.dtype != np.dtype(dtype) or not array.flags.c_contiguous:
        problem = f"found shape {array.shape} of {array.dtype}, expected {shape} of {dtype} in C order."
        raise DataError(located(path, problem, do=do))
