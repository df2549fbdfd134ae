"""Opens features of another program by what lies there: TSV, a folder of TSV or .npz files, or HDF5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from vse_zoo.errors import ConfigError, DataError, located
from vse_zoo.features.precomputed.entries import Entry
from vse_zoo.features.precomputed.hdf5 import hdf5_entries, open_hdf5
from vse_zoo.features.precomputed.npz_folder import npz_entries
from vse_zoo.features.precomputed.tsv import is_tsv, tsv_entries

__all__ = ["open_entries", "reads"]

_HDF5 = (".h5", ".hdf5")


def reads(path: Path) -> bool:
    """Whether the readers here are for it: a folder, or a file with one of their endings."""
    return path.is_dir() or is_tsv(path) or path.suffix.lower() in _HDF5


@contextmanager
def open_entries(
    path: Path,
    images: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    key: str | None = None,
    fields: Sequence[str] | None = None,
    boxes: bool = True,
) -> Iterator[Iterator[Entry]]:
    """The images of a file or folder, which can be read while it is open.

    Args:
        path: a .tsv file (or a part, .tsv.0), an .h5 or .hdf5 file, or a folder of .tsv or of .npz files.
        images: the dataset's images, which rows of HDF5 without any names are taken to be.
        names: of HDF5 without ids: the image of each row.
        key: of HDF5: the array of features.
        fields: of TSV: the columns, where they are neither in a header nor one of the known orders.
        boxes: read boxes too.

    Raises:
        DataError: it is none of these, or damaged as a whole.
        ConfigError: an option of another format.
    """
    is_hdf5 = not path.is_dir() and path.suffix.lower() in _HDF5
    npz, tables = _contents(path) if path.is_dir() else ([], [] if is_hdf5 else [path])
    if (names is not None or key) and not is_hdf5:
        raise ConfigError(f"--names, --key: {path} names its images itself.")
    if fields and not tables:
        raise ConfigError(f"--fields: {path} isn't TSV.")
    if is_hdf5:
        with open_hdf5(path) as file:
            yield hdf5_entries(path, file, names, images, key, boxes)
    elif npz:
        yield npz_entries(path, boxes)
    else:
        yield chain.from_iterable(tsv_entries(table, fields, boxes) for table in tables)


def _contents(folder: Path) -> tuple[list[Path], list[Path]]:
    """The .npz and the TSV files of a folder, one of which is empty."""
    npz = list(folder.rglob("*.npz"))
    tables = sorted(path for path in folder.iterdir() if is_tsv(path))
    if bool(npz) == bool(tables):
        found = "found both .npz and .tsv files" if npz else "found neither .npz nor .tsv files"
        raise DataError(located(folder, f"{found}, expected one of the two."))
    return npz, tables
