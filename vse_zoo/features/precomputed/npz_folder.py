"""A folder of one .npz file an image, as bottom-up-attention.pytorch and the VQA programs of its time keep them.

``x`` or ``features`` holds (n, D), or (D, n) with boxes that tell; ``bbox`` or ``boxes`` (n, 4) in pixels; ``image_w``
and ``image_h`` the picture's size. The file's name is the image's id. Nothing pickled is ever read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from vse_zoo.features.precomputed.entries import Entry, ImageRegions, Place, image_regions
from vse_zoo.features.precomputed.names import BOXES, COUNT, FEATURES, HEIGHT, WIDTH, chosen

__all__ = ["npz_entries"]


def npz_entries(folder: Path, boxes: bool = True) -> Iterator[Entry]:
    """The .npz files in a folder and its subfolders, not yet opened; ``boxes``: read them too."""
    for path in sorted(folder.rglob("*.npz")):
        place = Place(path)
        yield Entry(path.relative_to(folder).as_posix().removesuffix(".npz"), place, partial(_read, place, boxes))


def _read(place: Place, with_boxes: bool) -> ImageRegions:
    with place.readable(), np.load(place.path, allow_pickle=False) as archive:
        held = set(archive.files)
        name = chosen(place, held, FEATURES)
        if name is None:
            found = ", ".join(archive.files) or "no array"
            raise place.error(f"found {found}, expected one of: {', '.join(FEATURES)}.")
        boxes_name = chosen(place, held, BOXES)
        count_name = chosen(place, held, COUNT)
        features = _array(place, archive, name)
        boxes = _array(place, archive, boxes_name) if boxes_name else None
        count = _array(place, archive, count_name).tolist() if count_name else None if boxes is None else len(boxes)
        if features.ndim == 2 and features.shape[0] != count and features.shape[1] == count:
            features = features.T
        if count is not None and features.shape[:1] != (count,):
            raise place.error(f"found shape {features.shape}, expected ({count}, D) of {count} boxes.", name)
        if boxes is None or not with_boxes:
            return image_regions(place, features, names=(name, ""))
        return image_regions(place, features, boxes, _size(place, archive), (name, boxes_name or ""))


def _size(place: Place, archive: Any) -> tuple[Any, Any] | None:
    width, height = (chosen(place, archive.files, names) for names in (WIDTH, HEIGHT))
    if width is None or height is None:
        return None
    return _array(place, archive, width), _array(place, archive, height)


def _array(place: Place, archive: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(archive[name])
    except ValueError as error:
        if "pickle" not in str(error):
            raise
        problem = "found a pickled object, which could run code and isn't read; expected an array of numbers."
        raise place.error(problem, name, "Save it again as an array.") from None
