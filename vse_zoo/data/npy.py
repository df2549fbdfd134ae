"""Memory-mapped .npy files that are whole, and rows read from them without mapping."""

from __future__ import annotations

import os
import weakref
from pathlib import Path

import numpy as np

from vse_zoo.errors import DataError, located

__all__ = ["NpyRows", "open_npy"]


def open_npy(path: Path, do: str | None = None) -> np.memmap:
    """Maps a .npy file, reading its header only; a missing, damaged, truncated or overlong one is a `DataError`."""
    if not path.is_file():
        raise DataError(located(path, "the file is missing.", do=do))
    try:
        array: np.memmap = np.lib.format.open_memmap(path, mode="r")
        expected = array.offset + array.nbytes
    except Exception as error:  # on damaged headers the parser fails in many ways, by no common base class
        raise DataError(located(path, f"not a whole .npy file ({error}).", do=do)) from None
    if path.stat().st_size != expected:
        problem = f"found {path.stat().st_size} bytes, expected {expected} by its header."
        raise DataError(located(path, problem, do=do))
    return array


class NpyRows:
    """A .npy file whose rows are copied out one by one.

    A mapped page counts as the process's memory once it is touched: a pass over a mapped file of 31 GiB would look like
    31 GiB. Reads leave nothing behind, and fetch a row from a disk at once instead of page by page.

    Args:
        path: the file; ``array`` is its mapping, for shapes and for the odd value.
        do: what to do about a file that isn't whole.

    Raises:
        DataError: as of `open_npy`.
    """

    def __init__(self, path: Path, do: str | None = None) -> None:
        self.path = path
        self.array = open_npy(path, do)
        self._descriptor = os.open(path, os.O_RDONLY)
        # Not at exit: batches may still be read ahead then.
        weakref.finalize(self, os.close, self._descriptor).atexit = False

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.array)

    def read(self, row: int, out: np.ndarray, item: int = 0) -> None:
        """Fills ``out``, of the file's type and C order, with the numbers from a row's item on; safe in threads."""
        view = out.data.cast("B")
        place = self.array.offset + row * self.array.strides[0] + item * self.array.strides[1]
        while len(view):
            count = os.preadv(self._descriptor, [view], place)
            if count == 0:
                raise DataError(located(self.path, f"the file ends within row {row}: it was cut while in use."))
            view, place = view[count:], place + count
