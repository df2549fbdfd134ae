"""HDF5 arrays with a row an image, the number of regions fixed or varying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from vse_zoo.errors import DataError, located
from vse_zoo.features.precomputed.entries import Entry, ImageRegions, Place, image_regions
from vse_zoo.features.precomputed.names import BOXES, COUNT, HEIGHT, IDS, RELATIVE_BOXES, WIDTH, chosen

__all__ = ["row_entries"]

_POSITIONS = ("pos_boxes",)


@dataclass(frozen=True)
class _Rows:
    """The arrays of a file; ``ranges`` (N, 2) are the rows of each image in (total, D), None for (N, R, D)."""

    features: h5py.Dataset
    boxes: h5py.Dataset | None
    ranges: np.ndarray | None
    counts: np.ndarray | None
    sizes: np.ndarray | None

    def read(self, place: Place) -> ImageRegions:
        """The regions of the image of the place's row."""
        row = place.row
        assert row is not None
        rows: Any = row
        if self.ranges is not None:
            start, end = self.ranges[row].tolist()
            if not 0 <= start <= end <= len(self.features):
                problem = f"found rows {start} to {end}, expected rising ones within 0…{len(self.features)}."
                raise place.error(problem, _POSITIONS[0])
            rows = slice(start, end)
        with place.readable():
            features = self.features[rows]
            boxes = None if self.boxes is None else self.boxes[rows]
        if self.counts is not None:
            count = int(self.counts[row])
            if not 0 <= count <= len(features):
                raise place.error(f"found {count} boxes, expected at most {len(features)}.", "num_boxes")
            features, boxes = features[:count], None if boxes is None else boxes[:count]
        size = None if self.sizes is None else tuple(self.sizes[row].tolist())
        if boxes is not None and boxes.shape[1] > 4:
            boxes, size = boxes[:, :4], None
        return image_regions(place, features, boxes, size)


def row_entries(
    path: Path, file: h5py.File, key: str, names: Sequence[str] | None, default_names: Sequence[str], boxes: bool
) -> Iterator[Entry]:
    """The images of a file with the features ``key``; see `hdf5_entries`."""
    place = Place(path)
    features = file[key]
    held = [name for name in file if name != key]
    ids = chosen(place, held, IDS)
    ranges = _ranges(file, place, features, chosen(place, held, _POSITIONS))
    count = len(features if ranges is None else ranges)
    if ids is not None and names is not None:
        raise DataError(located(path, f"found {ids}, and --names.", do="Leave --names away."))
    images = _ids(file, place, ids, count) if ids else _named(path, names, default_names, count)
    rows = _Rows(
        features,
        _boxes(file, place, features.shape[:-1], held) if boxes else None,
        ranges,
        _array(file, place, chosen(place, held, COUNT), count) if ranges is None else None,
        _sizes(file, place, held, count),
    )
    for row, image in enumerate(images):
        at = Place(path, row)
        yield Entry(image, at, partial(rows.read, at))


def _boxes(file: h5py.File, place: Place, leading: tuple[int, ...], held: list[str]) -> h5py.Dataset | None:
    """The boxes that are relative, where the file holds some; otherwise those in pixels."""
    for names, numbers in ((RELATIVE_BOXES, 6), (BOXES, 4)):
        if name := chosen(place, held, names):
            data = file[name]
            if data.shape != (*leading, numbers):
                raise place.error(f"found shape {data.shape}, expected {(*leading, numbers)}.", name)
            return data
    return None


def _ranges(file: h5py.File, place: Place, features: h5py.Dataset, positions: str | None) -> np.ndarray | None:
    if features.ndim == 3:
        return None
    if positions is None:
        return np.arange(len(features))[:, None] + np.arange(2)
    return _array(file, place, positions, None, 2)


def _sizes(file: h5py.File, place: Place, held: list[str], count: int) -> np.ndarray | None:
    width, height = (_array(file, place, chosen(place, held, names), count) for names in (WIDTH, HEIGHT))
    return None if width is None or height is None else np.stack([width.ravel(), height.ravel()], axis=1)


def _array(file: h5py.File, place: Place, name: str | None, count: int | None, width: int = 1) -> np.ndarray | None:
    """A small array of ``count`` rows, read whole."""
    if name is None:
        return None
    with place.readable(name):
        array = np.asarray(file[name])
    rows = len(array) if count is None and array.ndim else count
    if array.size != (rows or 0) * width or array.shape[:1] != (rows,) or array.dtype.kind not in "fiu":
        raise place.error(f"found shape {array.shape} of {array.dtype}, expected {(rows, width)} numbers.", name)
    return array


def _ids(file: h5py.File, place: Place, name: str, count: int) -> list[str]:
    data = file[name]
    if data.shape not in ((count,), (count, 1)) or (
        data.dtype.kind not in "iuS" and not h5py.check_string_dtype(data.dtype)
    ):
        raise place.error(f"found shape {data.shape} of {data.dtype}, expected {count} texts or whole numbers.", name)
    with place.readable(name):
        values = (data if data.dtype.kind in "iu" else data.asstr())[()].ravel()
    return [str(value).strip() for value in values]


def _named(path: Path, names: Sequence[str] | None, default_names: Sequence[str], count: int) -> Sequence[str]:
    found = default_names if names is None else names
    if len(found) != count:
        whose = "images in the dataset" if names is None else "lines in the file of names"
        problem = f"found {count} rows and no image_ids, expected {len(found)}, as there are {whose}."
        raise DataError(located(path, problem, do="Name the image of each row with --names."))
    return found
