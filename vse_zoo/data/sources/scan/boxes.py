"""Boxes beside the features, as parts of the picture's width and height."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from vse_zoo.data.npy import open_npy
from vse_zoo.data.sources.scan.layout import Layout
from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json

__all__ = ["boxes_file", "relative_boxes"]

_NAMES = ("boxes.npy", "ims_bbx.npy")


def boxes_file(folder: Path, split: str) -> Path | None:
    """The file of a split's boxes, or None."""
    paths = [folder / f"{split}_{name}" for name in _NAMES]
    return next((path for path in paths if path.is_file()), None)


def relative_boxes(path: Path, split: str, layout: Layout, regions: int) -> np.ndarray:
    """(images, R, 4) float32 boxes (x0, y0, x1, y1), each number within 0…1.

    Boxes whose largest number is at most 1 are relative already. Others are pixels, divided by the pictures' sizes in
    ``{split}_img_sizes.npy`` or ``.json``: (width, height) for each row.

    Raises:
        DataError: the boxes don't fit the features, lie outside of their picture, or are pixels without sizes.
    """
    boxes = _per_image(path, open_npy(path), layout, (regions, 4)).astype(np.float32)
    if not np.isfinite(boxes).all():
        raise DataError(located(path, "found a number that isn't finite."))
    if boxes.max() > 1:
        sizes = _sizes(path, split, layout, float(boxes.max()))[:, None]
        # A pixel of tolerance: some detectors count a box's last pixel, some don't.
        relative, slack = boxes / np.concatenate([sizes, sizes], -1), 1 / np.concatenate([sizes, sizes], -1)
        outside = ((relative < -slack) | (relative > 1 + slack)).any(axis=(1, 2))
        if outside.any():
            bad = int(np.argmax(outside))
            problem = f"found a box outside of its picture of {'x'.join(f'{n:g}' for n in sizes[bad, 0])} pixels."
            raise DataError(located(path, problem, row=bad * layout.stride, do="Are the sizes (width, height)?"))
        boxes = relative.clip(0, 1)
    if boxes.min() < 0 or (boxes[..., :2] > boxes[..., 2:]).any():
        bad = int(np.argmax((boxes < 0).any((1, 2)) | (boxes[..., :2] > boxes[..., 2:]).any((1, 2))))
        problem = "found a box that isn't x0 ≤ x1, y0 ≤ y1 within its picture."
        raise DataError(located(path, problem, row=bad * layout.stride))
    return np.ascontiguousarray(boxes, np.float32)


def _sizes(boxes: Path, split: str, layout: Layout, largest: float) -> np.ndarray:
    """(images, 2) float32 widths and heights."""
    paths = [boxes.with_name(f"{split}_img_sizes{ending}") for ending in (".npy", ".json")]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        problem = f"found numbers up to {largest:g}, so pixels, but not the pictures' sizes."
        do = f"Save (width, height) for each row of features as {paths[0].name}, or as pairs in {paths[1].name}."
        raise DataError(located(boxes, problem, do=do))
    try:
        values = open_npy(path) if path.suffix == ".npy" else np.array(read_json(path), np.float32)
    except (TypeError, ValueError, json.JSONDecodeError) as error:
        raise DataError(located(path, f"found no list of pairs [width, height] ({error}).")) from None
    sizes = _per_image(path, values, layout, (2,)).astype(np.float32)
    if not (np.isfinite(sizes) & (sizes > 0)).all():
        bad = int(np.argmin((np.isfinite(sizes) & (sizes > 0)).all(1)))
        problem = f"found {sizes[bad].tolist()}, expected a width and a height."
        raise DataError(located(path, problem, row=bad * layout.stride))
    return sizes


def _per_image(path: Path, array: np.ndarray, layout: Layout, shape: tuple[int, ...]) -> np.ndarray:
    """The array's row for each image, of one that has a row an image or a row for each row of features."""
    rows = layout.images * layout.stride
    if array.shape[1:] != shape or len(array) not in (layout.images, rows) or array.dtype.kind not in "fiu":
        either = f"{(layout.images, *shape)}" + (f" or {(rows, *shape)}" if layout.stride > 1 else "")
        raise DataError(located(path, f"found shape {array.shape} of {array.dtype}, expected {either} numbers."))
    return array[:: layout.stride] if len(array) == rows else array
