"""MNIST halves: the left and the right half of each digit as two views (Andrew et al., Deep CCA, ICML 2013)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np

from vse_zoo.data.sources import TwoViewSource, source
from vse_zoo.data.two_view.array_files import ArrayFile
from vse_zoo.errors import DataError, located

__all__ = ["read_mnist_halves"]

# As in keras.datasets.mnist.load_data, which gives arrays, not the file.
_ADDRESS = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"
_SHA256 = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"
_SIZE = 28
_ORIGIN = (
    "MNIST by way of keras.datasets: pixels / 255; x: columns 0–13, y: columns 14–27 of each digit, pixel row by pixel "
    "row; each view of each digit scaled to unit length."
)


@source("mnist_halves")
def read_mnist_halves(
    file: Annotated[Path | None, "mnist.npz of keras.datasets; by default Keras downloads it."] = None,
    dev_rows: Annotated[int, "The last rows of the training digits, for choices; test digits stay the 10,000."] = 5000,
) -> TwoViewSource:
    """MNIST halves, 392 numbers a view.

    Example: vse-zoo prepare mnist_halves data/mnist_halves --file mnist.npz
    """
    arrays = ArrayFile(file or _download())
    digits, test = (_digits(arrays, name) for name in ("x_train", "x_test"))
    if not 0 <= dev_rows < len(digits):
        problem = f"found {dev_rows}, expected 0 to {len(digits) - 1} of the {len(digits)} training digits."
        raise DataError(located(arrays.path, problem, field="dev_rows"))
    train = len(digits) - dev_rows
    parts = {"train": digits[:train], "dev": digits[train:], "test": test}
    splits = {name: _halves(part) for name, part in parts.items() if len(part)}
    notes = () if dev_rows else ("There is no dev split to make choices on: see --dev-rows.",)
    return TwoViewSource("mnist_halves", splits, _ORIGIN, notes)


def _digits(arrays: ArrayFile, name: str) -> np.ndarray:
    digits = np.asarray(arrays.read(name))
    if digits.ndim != 3 or digits.shape[1:] != (_SIZE, _SIZE) or digits.dtype != np.uint8 or not len(digits):
        problem = f"found shape {digits.shape} of {digits.dtype}, expected (N, {_SIZE}, {_SIZE}) of uint8."
        raise DataError(located(arrays.path, problem, field=name))
    return digits


def _halves(digits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, 28, 28) digits → two views (N, 392) of rows of unit length; a half without ink stays zero."""
    halves = np.split(digits.astype(np.float32) / 255, 2, axis=2)
    left, right = (half.reshape(len(digits), -1) for half in halves)
    return _unit_rows(left), _unit_rows(right)


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1)


def _download() -> Path:
    try:
        import keras  # takes seconds, and only the download needs it

        return Path(keras.utils.get_file("mnist.npz", _ADDRESS, file_hash=_SHA256))
    except Exception as error:  # Keras raises a bare Exception for a failed download
        raise DataError(f"mnist.npz: can't be downloaded ({error}). Pass --file.") from None
