"""MNIST halves: columns, unit rows and splits, against a loop over pixels; the real digits where they are at hand."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest

from vse_zoo.data import sources
from vse_zoo.errors import DataError

RANDOM = np.random.default_rng(0)
TRAIN = RANDOM.integers(0, 256, (6, 28, 28), dtype=np.uint8)
TEST = RANDOM.integers(0, 256, (3, 28, 28), dtype=np.uint8)
TEST[1, :, :14] = 0  # a digit that is all on the right


def save(path: Path, **arrays: np.ndarray) -> Path:
    np.savez(path / "mnist.npz", **{"x_train": TRAIN, "x_test": TEST, "y_train": np.zeros(6), **arrays})
    return path / "mnist.npz"


def unit_half(digit: np.ndarray, first: int) -> np.ndarray:
    pixels = [int(digit[row, column]) / 255 for row in range(28) for column in range(first, first + 14)]
    length = sum(pixel**2 for pixel in pixels) ** 0.5
    return np.array([pixel / length if length else 0.0 for pixel in pixels])


def test_halves_of_unit_length(tmp_path: Path) -> None:
    data = sources.get("mnist_halves")(file=save(tmp_path), dev_rows=2).write(tmp_path / "data")
    assert (data.splits, data.x_dim, data.y_dim) == ({"train": 4, "dev": 2, "test": 3}, 392, 392)
    for split, digits in {"train": TRAIN[:4], "dev": TRAIN[4:], "test": TEST}.items():
        for view, first in zip(data.views(split), (0, 14), strict=True):
            expected = [unit_half(digit, first) for digit in digits]
            np.testing.assert_allclose(view, expected, atol=1e-7)


def test_without_dev(tmp_path: Path) -> None:
    found = sources.get("mnist_halves")(file=save(tmp_path), dev_rows=0)
    assert list(found.splits) == ["train", "test"]
    assert found.notes == ("There is no dev split to make choices on: see --dev-rows.",)


def test_unusable_files_are_refused(tmp_path: Path) -> None:
    read = sources.get("mnist_halves")
    with pytest.raises(DataError, match=r"mnist.npz, field 'dev_rows': found 6, expected 0 to 5 of the 6 training"):
        read(file=save(tmp_path), dev_rows=6)
    with pytest.raises(DataError, match=r"field 'x_test': found shape \(3, 28\) of uint8, expected \(N, 28, 28\)"):
        read(file=save(tmp_path, x_test=TEST[:, 0]))
    with pytest.raises(DataError, match=r"field 'x_train': found shape .* of float64"):
        read(file=save(tmp_path, x_train=TRAIN / 255))
    np.savez(tmp_path / "other.npz", a=TRAIN)
    with pytest.raises(DataError, match=r"other.npz: found a, expected an array 'x_train'"):
        read(file=tmp_path / "other.npz")


def test_a_failed_download_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise Exception("URL fetch failure")

    monkeypatch.setattr(keras.utils, "get_file", fail)
    with pytest.raises(DataError, match=r"URL fetch failure.*Pass --file"):
        sources.get("mnist_halves")()


def test_the_real_digits(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "mnist" / "mnist.npz"
    if not path.is_file():
        pytest.skip("no mnist/mnist.npz among the real data")
    data = sources.get("mnist_halves")(file=path).write(tmp_path / "data")
    assert data.splits == {"train": 55_000, "dev": 5_000, "test": 10_000}
    digits = np.load(path)["x_train"]
    x, y = data.views("dev")
    for row in (0, 4_999):
        np.testing.assert_allclose(x[row], unit_half(digits[55_000 + row], 0), atol=1e-7)
        np.testing.assert_allclose(y[row], unit_half(digits[55_000 + row], 14), atol=1e-7)
    norms = np.linalg.norm(data.views("train")[0], axis=1)
    assert np.all(np.isclose(norms, 1, atol=1e-5) | (norms == 0))
