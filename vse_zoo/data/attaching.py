"""Checks, hashes and moves finished region files into a dataset folder."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from vse_zoo.data.arrays import BOXES, OFFSETS, REGIONS, Regions
from vse_zoo.data.metadata import RegionsInfo
from vse_zoo.data.npy import NpyRows, open_npy
from vse_zoo.errors import DataError, located
from vse_zoo.files import replacing
from vse_zoo.progress import progress

__all__ = ["check_finite", "described", "file_hash", "move"]

_CHUNK = 1 << 26


def described(
    files: dict[str, Path], names: Sequence[str], left_out: Collection[str], backbone: str, grid: Sequence[int] | None
) -> RegionsInfo:
    """The "regions" entry of dataset.json for finished files, by their names in the folder.

    Everything is read, in constant memory. A `DataError` names what doesn't fit the images ``names``, isn't finite or
    isn't a box; only images in ``left_out`` may have no region.
    """
    array = open_npy(files[REGIONS], "Run vse-zoo features again.")
    dense = OFFSETS not in files
    if array.ndim != (3 if dense else 2) or array.dtype.name not in ("float16", "float32") or not array.size:
        expected = f"({len(names)}, R, D)" if dense else "(total, D)"
        problem = f"found shape {array.shape} of {array.dtype}, expected {expected} of float16 or float32."
        raise DataError(located(files[REGIONS], problem))
    info = RegionsInfo(
        dtype="float16" if array.dtype == np.float16 else "float32",
        dim=array.shape[-1],
        count=array.shape[1] if dense else None,
        boxes=BOXES in files,
        backbone=backbone,
        grid=list(grid) if grid else None,
        hashes={},
    )
    if grid and info.count != grid[0] * grid[1]:
        problem = f"found {info.count or 'a varying number of'} regions an image, expected a grid of {tuple(grid)}."
        raise DataError(located(files[REGIONS], problem))
    regions = Regions(files[REGIONS].parent, info, len(names), files)
    _check_values(files, regions, names, left_out)
    return info.model_copy(update={"hashes": {name: file_hash(path) for name, path in files.items()}})


def _check_values(files: dict[str, Path], regions: Regions, names: Sequence[str], left_out: Collection[str]) -> None:
    """Reads features and boxes a few images at a time; only one such part is ever in memory."""
    unknown = sorted(set(left_out) - set(names))
    if unknown:
        problem = f"found {unknown[0]!r}, expected images of the dataset."
        raise DataError(located(files[REGIONS], problem, field="left_out"))
    without = [] if regions.offsets is None else np.flatnonzero(np.diff(regions.offsets) == 0).tolist()
    empty = [names[row] for row in without if names[row] not in left_out]
    if empty:
        raise DataError(located(files[OFFSETS], f"image {empty[0]!r} has no region, and isn't left out."))
    check_finite(regions.files[0])
    if regions.boxes is not None:
        boxes = np.asarray(regions.boxes).reshape(-1, 4)
        if not ((boxes >= 0) & (boxes <= 1)).all() or not (boxes[:, :2] <= boxes[:, 2:]).all():
            raise DataError(located(files[BOXES], "found numbers outside of x0 ≤ x1, y0 ≤ y1 within 0…1."))


def check_finite(rows: NpyRows) -> None:
    """Reads a whole file, a few rows at a time; a `DataError` names the first row with a number that isn't finite."""
    step = max(1, _CHUNK // rows.array[0].nbytes)
    with progress(f"Checking {rows.path.name}", len(rows)) as bar:
        for start in range(0, len(rows), step):
            part = np.empty((min(step, len(rows) - start), *rows.array.shape[1:]), rows.array.dtype)
            rows.read(start, part)
            if not np.isfinite(part).all():
                bad = start + int(np.flatnonzero(~np.isfinite(part.reshape(len(part), -1)).all(1))[0])
                raise DataError(located(rows.path, "found a number that isn't finite.", row=bad))
            bar.advance(len(part))


def move(source: Path, target: Path) -> None:
    """Moves a file; across file systems it is copied beside the target first: the target is whole or not there."""
    try:
        os.replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with replacing(target) as temporary:
            shutil.copyfile(source, temporary)
        source.unlink()


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
