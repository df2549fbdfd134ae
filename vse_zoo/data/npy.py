"""Memory-mapped .npy files that are whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vse_zoo.errors import DataError, located

__all__ = ["open_npy"]


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
