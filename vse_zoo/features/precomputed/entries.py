"""What every reader of precomputed features yields, and the checks that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vse_zoo.errors import DataError, located

__all__ = ["Entry", "ImageRegions", "Place", "image_regions"]

# How far a box may lie outside its picture, in pixels: detectors round, and some count pixels from 1.
_PIXEL = 1.0
# Coordinates that are all below 1 are relative, whatever is said of them, in any picture of more pixels than this.
_TINY = 16
_RELATIVE = "Store boxes in pixels beside the picture's width and height, or relative ones without; or pass --no-boxes."


@dataclass(frozen=True)
class Place:
    """Where an image's features stand: a file, its row (from 1 in text, from 0 in arrays), or a group within it."""

    path: Path
    row: int | None = None
    group: str = ""

    def error(self, problem: str, field: str | None = None, do: str | None = None) -> DataError:
        """The error that names this place."""
        inside = "/".join(part for part in (self.group, field) if part)
        return DataError(located(self.path, problem, row=self.row, field=inside or None, do=do))

    @contextmanager
    def readable(self, field: str | None = None) -> Iterator[None]:
        """Whatever NumPy and h5py raise for a damaged file, as a `DataError` of this place."""
        try:
            yield
        except DataError:
            raise
        except Exception as error:  # on damaged files their parsers fail in many ways, by no common base class
            raise self.error(f"can't be read ({error}).", field) from None


@dataclass(frozen=True)
class ImageRegions:
    """An image's regions: features (n, D) of float16 or float32, boxes (n, 4) float32, relative (x0, y0, x1, y1)."""

    features: np.ndarray
    boxes: np.ndarray | None

    def equals(self, other: ImageRegions) -> bool:
        """Whether both hold the same numbers."""
        if (self.boxes is None) != (other.boxes is None) or not np.array_equal(self.features, other.features):
            return False
        return self.boxes is None or other.boxes is None or np.array_equal(self.boxes, other.boxes)


@dataclass(frozen=True)
class Entry:
    """One image of a file, not yet read: its id there, its place, and what reads it.

    ``read()`` gives `ImageRegions`, or raises a `DataError` if this image is damaged; the others can still be read.
    """

    image: str
    place: Place
    read: Callable[[], ImageRegions]


def image_regions(
    place: Place,
    features: Any,
    boxes: Any = None,
    size: tuple[Any, Any] | None = None,
    names: tuple[str, str] = ("features", "boxes"),
) -> ImageRegions:
    """Checked regions of one image.

    Args:
        place: for the error.
        features: (n, D).
        boxes: (n, 4) x0, y0, x1, y1 in pixels of a picture of ``size``, or relative where ``size`` is None; or None.
        size: the picture's width and height.
        names: what the file calls features and boxes.

    Raises:
        DataError: there is no region, a number isn't finite, or a box lies more than a pixel out of the picture.
    """
    of_features, of_boxes = names
    features = np.asarray(features)
    if features.ndim != 2 or features.dtype.kind not in "fiu":
        found = f"found shape {features.shape} of {features.dtype}"
        raise place.error(f"{found}, expected (regions, D) of numbers.", of_features)
    if not features.size:
        raise place.error("found zero boxes, expected at least one.", of_features)
    with np.errstate(over="ignore"):  # beyond float32 a number is infinite, and refused as such
        features = features.astype(np.float16 if features.dtype == np.float16 else np.float32)
    if not np.isfinite(features).all():
        region = int(np.argmin(np.isfinite(features).all(axis=1)))
        raise place.error(f"found a number that isn't finite in region {region}.", of_features)
    return ImageRegions(features, None if boxes is None else _relative(place, boxes, len(features), size, of_boxes))


def _relative(place: Place, boxes: Any, count: int, size: tuple[Any, Any] | None, field: str) -> np.ndarray:
    """(n, 4) float32 boxes within [0, 1]."""
    boxes = np.asarray(boxes)
    if boxes.shape != (count, 4) or boxes.dtype.kind not in "fiu":
        problem = f"found shape {boxes.shape} of {boxes.dtype}, expected ({count}, 4) as there are {count} features."
        raise place.error(problem, field)
    width, height = (1.0, 1.0) if size is None else (_length(place, value, field) for value in size)
    scale = np.array([width, height, width, height])
    boxes = boxes.astype(np.float64)
    slack = 1e-5 if size is None else _PIXEL
    inside = (boxes >= -slack) & (boxes <= scale + slack)  # NaN is nowhere
    good = inside.all(axis=1) & (boxes[:, :2] <= boxes[:, 2:]).all(axis=1)
    if not good.all():
        box = np.round(boxes[int(np.argmin(good))], 2).tolist()
        where = "[0, 1], as no width and height are given" if size is None else f"a picture of {width:g}×{height:g}"
        problem = f"found the box {box} of region {int(np.argmin(good))}, expected x0 ≤ x1, y0 ≤ y1 within {where}."
        raise place.error(problem, field, _RELATIVE if size is None else None)
    if boxes.max() <= 1 and min(width, height) > _TINY:
        problem = f"found all boxes within one pixel of a picture of {width:g}×{height:g}: they may be relative."
        raise place.error(problem, field, _RELATIVE)
    return (np.clip(boxes, 0, scale) / scale).astype(np.float32)


def _length(place: Place, value: Any, field: str) -> float:
    try:
        length = float(np.asarray(value).reshape(()))
    except (TypeError, ValueError):
        length = np.nan
    if not (np.isfinite(length) and length > 0):
        raise place.error(f"found a picture of size {value!r}, expected its width and height in pixels.", field)
    return length
