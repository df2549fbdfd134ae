"""Matrices in files: .npy, .npz, MATLAB 5 and MATLAB 7.3 (HDF5), by field name."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vse_zoo.errors import DataError, located

if TYPE_CHECKING:
    import h5py

__all__ = ["ArrayFile", "Matrix", "Transposed"]


class Matrix(Protocol):
    """Rows that NumPy can read a few at a time: of an array, a memory-mapped one, or a data set in an HDF5 file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its lengths, rows first."""

    @property
    def dtype(self) -> Any:
        """The type of its numbers."""

    def __getitem__(self, rows: slice, /) -> Any:
        """Some of the rows."""


class Transposed:
    """An HDF5 data set with its axes reversed: ``array[a:b]`` is some of its rows, still unread; NumPy reads them.

    MATLAB stores columns one after the other, so that HDF5 shows its (N, D) matrices as (D, N).
    """

    def __init__(self, data: h5py.Dataset, rows: range | None = None) -> None:
        self._data = data
        self._rows = range(data.shape[-1]) if rows is None else rows
        self.shape: tuple[int, ...] = (len(self._rows), *data.shape[-2::-1])
        self.dtype = data.dtype

    def __getitem__(self, rows: slice, /) -> Transposed:
        return Transposed(self._data, self._rows[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        with _readable(Path(self._data.file.filename)):
            return np.asarray(self._data[..., self._rows.start : self._rows.stop].T, dtype)


class ArrayFile:
    """The named arrays of an .npz or .mat file; only those asked for are read.

    Args:
        path: .npz, or .mat as MATLAB writes it, in version 7.3 (HDF5) or before.

    Raises:
        DataError: there is no such file, or it is neither.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise DataError(located(path, "no such file."))
        if path.suffix not in (".npz", ".mat"):
            raise DataError(located(path, f"found the ending {path.suffix!r}, expected .npz or .mat."))
        with _readable(path):
            self._open()

    def _open(self) -> None:
        self._hdf5: h5py.File | None = None
        if self.path.suffix == ".npz":
            with zipfile.ZipFile(self.path) as archive:
                self.names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        else:
            self._open_mat()

    def _open_mat(self) -> None:
        import h5py  # with SciPy it takes a third of a second, which the help of a command needn't
        import scipy.io

        if h5py.is_hdf5(self.path):
            self._hdf5 = h5py.File(self.path)
            self.names = [name for name, value in self._hdf5.items() if isinstance(value, h5py.Dataset)]
        else:
            self.names = [name for name, _, _ in scipy.io.whosmat(self.path)]

    def read(self, name: str) -> Matrix:
        """The array of that name, rows first; from HDF5 it is read later, a few rows at a time."""
        if name not in self.names:
            held = ", ".join(self.names) or "no array"
            raise DataError(located(self.path, f"found {held}, expected an array {name!r}."))
        array: Any
        with _readable(self.path):
            if self._hdf5 is not None:
                array = Transposed(self._hdf5[name])
            elif self.path.suffix == ".npz":
                with np.load(self.path, allow_pickle=False) as archive:
                    array = archive[name]
            else:
                import scipy.io

                array = scipy.io.loadmat(self.path, variable_names=[name])[name]
        if not isinstance(array, np.ndarray | Transposed) or array.dtype.kind not in "fiu":
            found = f"found {type(array).__name__} of {getattr(array, 'dtype', 'no type')}"
            raise DataError(located(self.path, f"{found}, expected a dense array of numbers.", field=name))
        return array


@contextmanager
def _readable(path: Path, do: str | None = None) -> Iterator[None]:
    """Whatever NumPy, SciPy and h5py raise for a file that is damaged or something else, as a `DataError`."""
    try:
        yield
    except Exception as error:  # on damaged files their parsers fail in many ways, by no common base class
        raise DataError(located(path, f"not a whole {path.suffix} file ({error}).", do=do)) from None
