"""HDF5 files with a group, or a data set, for each image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import h5py

from vse_zoo.errors import DataError, located
from vse_zoo.features.precomputed.entries import Entry, ImageRegions, Place, image_regions
from vse_zoo.features.precomputed.names import BOXES, FEATURES, HEIGHT, WIDTH, chosen

__all__ = ["group_entries"]

_FEATURES = "_features"
_OTHERS = tuple(f"_{name}" for name in (*BOXES, *WIDTH, *HEIGHT))


def group_entries(path: Path, file: h5py.File, boxes: bool) -> Iterator[Entry]:
    """The images of a file, each by its group ``<id>`` or data sets ``<id>…``; groups may lie within groups."""
    found = False
    for entry in _within(path, file, "", boxes):
        found = True
        yield entry
    if not found:
        problem = f"found no features, expected an array named {' or '.join(FEATURES)}, or a group for each image."
        raise DataError(located(path, problem, do="Name an array with --key."))


def _within(
    path: Path, group: h5py.Group, above: str, boxes: bool, around: Sequence[h5py.Group] = ()
) -> Iterator[Entry]:
    if group in around:  # a link back, which would go on for ever
        return
    for name, value in group.items():
        image = above + name
        if isinstance(value, h5py.Group):
            if any(field in value for field in FEATURES):
                place = Place(path, group=image)
                yield Entry(image, place, partial(_read, value, place, None, "", boxes))
            else:
                yield from _within(path, value, image + "/", boxes, (*around, group))
        elif not name.endswith(_OTHERS):
            stem = name.removesuffix(_FEATURES)
            place = Place(path, group=above.removesuffix("/"))
            yield Entry(above + stem, place, partial(_read, group, place, name, f"{stem}_", boxes))


def _read(group: h5py.Group, place: Place, features: str | None, prefix: str, with_boxes: bool) -> ImageRegions:
    """The image of the data set ``features``, or of a group's own; the names of the others begin with ``prefix``."""
    with place.readable(features):
        held = {name for name in (*FEATURES, *BOXES, *WIDTH, *HEIGHT) if prefix + name in group}
        own = features or chosen(place, held, FEATURES)
        boxes, width, height = (chosen(place, held, names) for names in (BOXES, WIDTH, HEIGHT))
        numbers = group[own][()]
        if boxes is None or not with_boxes:
            return image_regions(place, numbers, names=(own or "", ""))
        size = (group[prefix + width][()], group[prefix + height][()]) if width and height else None
        return image_regions(place, numbers, group[prefix + boxes][()], size, (own or "", prefix + boxes))
