"""HDF5 files of region features: arrays with a row an image, or a group or data set an image.

Rows: ``features`` (N, R, D), or (total, D) with ``pos_boxes`` (N, 2) of each image's first and last row + 1 (adaptive
files of bottom-up-attention-vqa); beside it boxes of the same shape, ``num_boxes``, ``image_w``, ``image_h`` and
``image_ids`` (N,). Images: ``<id>/features`` and ``<id>/boxes``, or ``<id>`` or ``<id>_features`` and ``<id>_bbox``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import h5py

from vse_zoo.errors import DataError, located
from vse_zoo.features.precomputed.entries import Entry, Place
from vse_zoo.features.precomputed.hdf5_groups import group_entries
from vse_zoo.features.precomputed.hdf5_rows import row_entries
from vse_zoo.features.precomputed.names import FEATURES

__all__ = ["hdf5_entries", "open_hdf5"]


def open_hdf5(path: Path) -> h5py.File:
    """The opened file; a `DataError` if there is none, or it isn't whole."""
    if not path.is_file():
        raise DataError(located(path, "no such file."))
    try:
        return h5py.File(path)
    except OSError as error:
        raise DataError(located(path, f"not a whole HDF5 file ({error}).")) from None


def hdf5_entries(
    path: Path,
    file: h5py.File,
    names: Sequence[str] | None,
    default_names: Sequence[str],
    key: str | None = None,
    boxes: bool = True,
) -> Iterator[Entry]:
    """The images of an opened file, in either layout; they are read while it stays open.

    Args:
        path: for the errors.
        file: the opened file.
        names: given images of its rows, where it holds no ids.
        default_names: those where nothing is given either.
        key: what the file calls the features of all rows, if by no usual name.
        boxes: read them too.

    Raises:
        DataError: it has neither layout, or arrays don't fit one another.
    """
    with Place(path).readable():
        yield from _entries(path, file, names, default_names, key, boxes)


def _entries(
    path: Path,
    file: h5py.File,
    names: Sequence[str] | None,
    default_names: Sequence[str],
    key: str | None,
    boxes: bool,
) -> Iterator[Entry]:
    arrays = {name for name, value in file.items() if isinstance(value, h5py.Dataset)}
    found = [key] if key else [name for name in FEATURES if name in arrays and file[name].ndim in (2, 3)]
    if key and (key not in arrays or file[key].ndim not in (2, 3)):
        held = ", ".join(f"{name} {file[name].shape}" for name in sorted(arrays)[:10]) or "no array"
        raise DataError(located(path, f"found {held}, expected {key!r} of (N, R, D) or (total, D)."))
    if len(found) > 1:
        raise DataError(located(path, f"found {' and '.join(found)}, expected one.", do="Name one with --key."))
    if found:
        yield from row_entries(path, file, found[0], names, default_names, boxes)
        return
    if names is not None:
        do = "Leave --names away: the groups' names are the ids."
        raise DataError(located(path, "found no array with a row an image.", do=do))
    yield from group_entries(path, file, boxes)
