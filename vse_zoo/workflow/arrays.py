"""Region features in one array with a row an image: .npy, .npz or .mat."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.npy import open_npy
from vse_zoo.data.tables import Note, lines
from vse_zoo.data.two_view.array_files import ArrayFile
from vse_zoo.errors import DataError, located
from vse_zoo.features.precomputed import join
from vse_zoo.progress import progress
from vse_zoo.workflow.work_folder import work_folder

__all__ = ["attach_array"]

_CHUNK = 1 << 25


def attach_array(
    dataset: Dataset,
    file: Path,
    *,
    names: Path | None,
    key: str | None,
    encoding: str | None,
    half: bool,
    note: Note,
) -> Dataset:
    """Copies the rows that the dataset's images have in an array; see `vse_zoo.workflow.features`.

    Raises:
        DataError: an image has no row, or the array doesn't fit the names, may be read in two ways or isn't finite.
    """
    array = _array(file, key)
    images = dataset.image_names
    if names is None:
        array = _images_first(file, array, len(images), f"the dataset's {len(images)} images")
        rows = np.arange(len(images))
    else:
        named = _row_numbers(names, encoding)
        array = _images_first(file, array, len(named), f"the {len(named)} lines of {names}")
        joined = join(names, named, images, note)
        if missing := [image for image in images if image not in joined]:
            problem = f"found no line {missing[0]!r}, an image of the dataset ({len(missing)} are missing)."
            raise DataError(located(names, problem, do="Name every image, as in captions.jsonl."))
        rows = np.array([named[joined[image]] for image in images])
    with work_folder(dataset.path) as work:
        regions = _copy(file, array, rows, work / "regions.npy", half)
        return dataset.attach_regions(regions, None, backbone=f"precomputed: {file.name}", grid=None, left_out={})


def _array(file: Path, key: str | None) -> np.ndarray:
    if file.suffix == ".npy":
        if key is not None:
            raise DataError(located(file, f"found key {key!r}, but a .npy file holds one array without a name."))
        return open_npy(file)
    held = ArrayFile(file)
    if key is None and len(held.names) != 1:
        found = ", ".join(held.names) or "no array"
        raise DataError(located(file, f"found {found}, expected one array.", do="Name one with --key."))
    return np.asarray(held.read(key or held.names[0]))


def _images_first(file: Path, array: np.ndarray, count: int, whose: str) -> np.ndarray:
    """(N, R, D) of any array that can be read in exactly one way, N being ``count``."""
    columns = file.suffix == ".mat" and array.ndim == 2
    fits = array.ndim in (2, 3) and array.size > 0 and array.dtype.kind in "fiu" and array.shape[0] == count
    turned = columns and array.shape[1] == count
    if fits and turned and count > 1:
        do = "Save it as .npy, images first."
        raise DataError(located(file, f"found shape {array.shape}: rows or columns may be {whose}.", do=do))
    if not fits and not turned:
        expected = f"({count}, D) or ({count}, R, D){f' or (D, {count})' if columns else ''} for {whose}"
        raise DataError(located(file, f"found shape {array.shape} of {array.dtype}, expected {expected}."))
    array = array if fits else array.T
    return array[:, None] if array.ndim == 2 else array


def _row_numbers(names: Path, encoding: str | None) -> dict[str, int]:
    """The row that each line names."""
    found: dict[str, int] = {}
    for row, name in enumerate(map(str.strip, lines(names, encoding))):
        if not name or name in found:
            problem = f"found {name!r} again" if name else "found an empty line"
            raise DataError(located(names, f"{problem}, expected one image a line, each once.", row=row + 1))
        found[name] = row
    return found


def _copy(file: Path, array: np.ndarray, rows: np.ndarray, path: Path, half: bool) -> Path:
    """Writes the chosen rows as a .npy file of float32, or of float16 as it was or on demand, a few at a time."""
    dtype = np.float16 if half or array.dtype == np.float16 else np.float32
    target = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(len(rows), *array.shape[1:]))
    step = max(1, _CHUNK // (8 * array[0].size))
    with progress("Copying regions", len(rows)) as bar, np.errstate(over="ignore"):
        for start in range(0, len(rows), step):
            chosen = rows[start : start + step]
            part = array[chosen].astype(dtype)  # beyond the type's range it is infinite, and refused as such
            finite = np.isfinite(part).all(axis=(1, 2))
            if not finite.all():
                bad = int(chosen[int(np.argmin(finite))])
                raise DataError(located(file, f"found a number that isn't finite in {dtype.__name__}.", row=bad))
            target[start : start + step] = part
            bar.advance(len(part))
    target.flush()
    return path
