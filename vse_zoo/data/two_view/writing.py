"""Writes two-view folders; two_view.json comes last, so that a folder that opens is a whole one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from vse_zoo.data.attaching import file_hash
from vse_zoo.data.two_view.array_files import Matrix
from vse_zoo.data.two_view.metadata import LABEL, METADATA, VIEWS, TwoViewMetadata, array_name
from vse_zoo.errors import DataError, located
from vse_zoo.progress import progress

__all__ = ["write_folder"]

_UNFINISHED = ".unfinished"
_CHUNK = 1 << 25

Splits = Mapping[str, tuple[Matrix, Matrix]]


def write_folder(folder: Path, splits: Splits, *, name: str, origin: str, overwrite: bool) -> None:
    """The work of `vse_zoo.data.two_view.write_two_view`: everything into a folder inside, then moved."""
    _refuse(folder, overwrite)
    _check_shapes(folder, splits)
    made = not folder.exists()
    work = folder / _UNFINISHED
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        hashes = _write_arrays(folder, work, splits)
        x, y = next(iter(splits.values()))
        values = {
            "format": 1,
            "name": name,
            "origin": origin,
            "x_dim": x.shape[1],
            "y_dim": y.shape[1],
            "splits": {split: views[0].shape[0] for split, views in splits.items()},
            "hashes": hashes,
        }
        metadata = TwoViewMetadata.checked(folder / METADATA, values)
        # A crash from here on leaves a folder without two_view.json, which is refused as an interrupted write.
        for stale in (folder / METADATA, *folder.glob("*.[xy].npy")):
            stale.unlink(missing_ok=True)
        for file in hashes:
            os.replace(work / file, folder / file)
        metadata.write(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if made and not any(folder.iterdir()):
            folder.rmdir()


def _refuse(folder: Path, overwrite: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataError(located(folder, "found a file, expected a folder.", do="Name another place."))
    ours = (folder / METADATA).exists() or any(folder.glob("*.x.npy"))
    if ours and not overwrite:
        do = "Name another folder, or use --overwrite."
        raise DataError(located(folder, "there is two-view data here already.", do=do))
    if not ours and any(path.name != _UNFINISHED for path in folder.iterdir()):
        raise DataError(located(folder, "is neither empty nor a two-view folder.", do="Name another folder."))


def _check_shapes(folder: Path, splits: Splits) -> None:
    if not splits:
        raise DataError(located(folder, "no split was given, expected at least one."))
    first = next(iter(splits))
    for split, views in splits.items():
        if not LABEL.fullmatch(split):
            problem = f"found {split!r}, expected letters, digits, '_' and '-', beginning with a letter."
            raise DataError(located(folder, problem, field="split"))
        for view, array, model in zip(VIEWS, views, splits[first], strict=True):
            place = f"{split}.{view}"
            if len(array.shape) != 2 or 0 in array.shape or np.dtype(array.dtype).kind not in "fiu":
                problem = f"found shape {array.shape} of {array.dtype}, expected rows of numbers (N, D)."
                raise DataError(located(folder, problem, field=place))
            if array.shape[1] != model.shape[1]:
                problem = f"found rows of {array.shape[1]} numbers, expected {model.shape[1]} as in {first}.{view}."
                raise DataError(located(folder, problem, field=place))
        rows = [array.shape[0] for array in views]
        if rows[0] != rows[1]:
            problem = f"found {rows[0]} rows of x and {rows[1]} of y, expected as many: row n of one belongs to row n."
            raise DataError(located(folder, problem, field=split))


def _write_arrays(folder: Path, work: Path, splits: Splits) -> dict[str, str]:
    """Every array into ``work``; their SHA-256 by file name."""
    hashes = {}
    with progress("Writing two views", sum(2 * views[0].shape[0] for views in splits.values())) as bar:
        for split, views in splits.items():
            for view, array in zip(VIEWS, views, strict=True):
                file = array_name(split, view)
                dtype = np.dtype("float16" if array.dtype == np.float16 else "float32")
                with (work / file).open("wb") as target:
                    fields = {"descr": dtype.str, "fortran_order": False, "shape": tuple(map(int, array.shape))}
                    np.lib.format.write_array_header_1_0(target, fields)
                    step = max(1, _CHUNK // (8 * array.shape[1]))
                    for start in range(0, array.shape[0], step):
                        part = _numbers(folder / file, np.asarray(array[start : start + step]), dtype, start)
                        target.write(part.data)
                        bar.advance(len(part))
                hashes[file] = file_hash(work / file)
    return hashes


def _numbers(path: Path, part: np.ndarray, dtype: np.dtype, start: int) -> np.ndarray:
    with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite, and is refused as such
        part = np.ascontiguousarray(part, dtype)
    finite = np.isfinite(part).all(axis=1)
    if not finite.all():
        row = start + int(np.argmin(finite))
        raise DataError(located(path, f"found a number that isn't finite in {dtype}.", row=row))
    return part
