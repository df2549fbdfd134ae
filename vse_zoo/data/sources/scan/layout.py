"""How the rows of a feature file belong to captions: told by their numbers, and checked on the features' bytes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from vse_zoo.data.npy import NpyRows, open_npy
from vse_zoo.errors import DataError, located

__all__ = ["CAPTIONS", "Layout", "find_layout"]

CAPTIONS = 5
"""Captions an image, and rows of a repeated image."""

# So many groups of five rows are compared, spread over the file: of 145,000 rows of features that reads 100 MB.
_SAMPLED = 1000


@dataclass(frozen=True)
class Layout:
    """A split's images.

    Args:
        images: how many.
        stride: rows of features that each has, one after another.
        captions: that each has, one after another.
    """

    images: int
    stride: int
    captions: int


def find_layout(features: Path, captions: Path, count: int) -> Layout:
    """The only layout that fits the files.

    Args:
        features: .npy file (rows, R, D) or (rows, D).
        captions: the text file, for messages.
        count: its lines.

    Raises:
        DataError: the numbers fit no layout, or the rows are repeated where they should not be, or are not where they
            should be.
    """
    array = open_npy(features)
    if array.ndim not in (2, 3) or not array.size or not array.flags.c_contiguous:
        order = "" if array.flags.c_contiguous else " in Fortran order"
        problem = f"found shape {array.shape} of {array.dtype}{order}, expected (rows, R, D) or (rows, D) in C order."
        raise DataError(located(features, problem))
    rows = len(array)
    counts = f"found {rows} rows of features and {count} captions in {captions.name}"
    if count not in (rows, CAPTIONS * rows):
        expected = f"{CAPTIONS * rows} captions (each image once) or {rows} (each image once for each caption)"
        raise DataError(located(features, f"{counts}, expected {expected}."))
    pairs, equal = _neighbours(NpyRows(features))
    between = pairs % CAPTIONS == CAPTIONS - 1
    repeated = bool(equal.size and equal[~between].all() and not equal[between].any())
    if count == CAPTIONS * rows:
        if repeated and rows >= CAPTIONS:
            problem = f"{counts}, but every {CAPTIONS} rows are equal, expected each image once, or {rows} captions."
            raise DataError(located(features, problem, do="Do the two files belong together?"))
        return Layout(rows, 1, CAPTIONS)
    if not equal.any():
        return Layout(rows, 1, 1)
    if repeated and rows % CAPTIONS == 0:
        return Layout(rows // CAPTIONS, CAPTIONS, CAPTIONS)
    raise DataError(located(features, f"{counts}, {_mixed(pairs, equal, repeated)}"))


def _neighbours(file: NpyRows) -> tuple[np.ndarray, np.ndarray]:
    """Rows n, and whether row n + 1 equals row n: of whole groups of five and the step to the next, spread evenly."""
    groups = -(-len(file) // CAPTIONS)
    chosen = np.unique(np.linspace(0, groups - 1, min(groups, _SAMPLED)).astype(int)) * CAPTIONS
    pairs: list[int] = []
    equal: list[bool] = []
    for start in chosen.tolist():
        rows = range(start, min(start + CAPTIONS + 1, len(file)))
        ends = [_ends(file, row) for row in rows]
        pairs += rows[:-1]
        equal += [one == other for one, other in pairwise(ends)]
    return np.array(pairs, int), np.array(equal, bool)


def _ends(file: NpyRows, row: int) -> bytes:
    """An image's first and last regions, which stand for all of it; they must be finite."""
    array = file.array
    ends = np.empty(array.shape[1:] if array.ndim == 2 else (2, array.shape[2]), array.dtype)
    if array.ndim == 2:
        file.read(row, ends)
    else:
        file.read(row, ends[:1])
        file.read(row, ends[1:], array.shape[1] - 1)
    if ends.dtype.kind == "f" and not np.isfinite(ends).all():
        raise DataError(located(file.path, "found a number that isn't finite.", row=row))
    return ends.tobytes()


def _mixed(pairs: np.ndarray, equal: np.ndarray, repeated: bool) -> str:
    """Where the rows break the pattern that most of them follow."""
    if repeated:
        return f"repeated {CAPTIONS} times each, expected a multiple of {CAPTIONS}."
    if equal.all():
        return "but all rows are equal, expected different images."
    between = pairs % CAPTIONS == CAPTIONS - 1
    if equal[~between].mean() <= 0.5:
        row = int(pairs[equal][0])
        return f"but rows {row} and {row + 1} are equal, expected all rows to differ, or every {CAPTIONS} to be equal."
    row = int(pairs[equal == between][0])
    if row % CAPTIONS == CAPTIONS - 1:
        return f"each image in {CAPTIONS} equal rows, but rows {row} and {row + 1} are equal, expected two images."
    first = row - row % CAPTIONS
    return f"but rows {row} and {row + 1} differ, expected rows {first} to {first + CAPTIONS - 1} to be one image."
