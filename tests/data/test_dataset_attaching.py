"""Dataset folders: region features are attached whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vse_zoo.data import dataset as dataset_module
from vse_zoo.data.dataset import Dataset
from vse_zoo.errors import DataError

DIM, COUNT = 5, 4
Make = Callable[..., Any]


def half(*shape: int) -> np.ndarray:
    return np.ones(shape, "float16")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


MISFITS: dict[str, tuple[dict[str, np.ndarray], dict[str, Any], str]] = {
    "other images": ({"regions": half(3, COUNT, DIM)}, {}, "found shape (3, 4, 5) of float16, expected (4, 4, 5)"),
    "no image axis": ({"regions": half(4, DIM)}, {}, r"expected (4, R, D)"),
    "no regions": ({"regions": half(4, 0, DIM)}, {}, r"expected (4, R, D)"),
    "another type": ({"regions": half(4, 1, DIM).astype("float64")}, {}, "of float64, expected"),
    "not finite": ({"regions": np.float16([[[0]], [[0]], [[np.nan]], [[0]]])}, {}, "row 2: found a number that isn't"),
    "another grid": ({"regions": half(4, 3, DIM)}, {"grid": (2, 2)}, "found 3 regions an image, expected a grid"),
    "boxes of another shape": (
        {"regions": half(4, 2, DIM), "boxes": np.zeros((4, 3, 4), "float32")},
        {},
        "boxes.npy: found shape (4, 3, 4)",
    ),
    "boxes in pixels": (
        {"regions": half(4, 1, DIM), "boxes": np.full((4, 1, 4), 224, "float32")},
        {},
        "boxes.npy: found numbers outside of",
    ),
    "an unknown image left out": (
        {"regions": half(4, 1, DIM)},
        {"left_out": {"z": "?"}},
        "field 'left_out': found 'z'",
    ),
    "offsets of other images": ({"regions": half(3, DIM), "offsets": np.arange(4)}, {}, "offsets.npy: found shape"),
}


@pytest.mark.parametrize("kind", MISFITS)
def test_arrays_that_do_not_fit_change_nothing(
    dense: Dataset, tmp_path: Path, kind: str, saved: Make, attach: Make
) -> None:
    named, options, reason = MISFITS[kind]
    files = saved(tmp_path / "newer", **named)
    before = contents(dense.path)
    with pytest.raises(DataError) as caught:
        attach(dense, files, **options)
    assert reason in str(caught.value)
    assert contents(dense.path) == before
    assert all(path.is_file() for path in files.values())


def test_attaching_replaces_an_earlier_extraction(stacked: Dataset, tmp_path: Path, saved: Make, attach: Make) -> None:
    dataset = attach(stacked, saved(tmp_path / "newer", regions=half(4, 1, DIM)))
    assert set(contents(dataset.path)) == {"dataset.json", "captions.jsonl", "regions.npy"}
    dataset.verify()


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_a_crash_while_attaching_leaves_a_folder_without_half(
    stacked: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int, saved: Make, attach: Make
) -> None:
    records = stacked.records
    files = saved(tmp_path / "newer", regions=half(4, 1, DIM), boxes=np.zeros((4, 1, 4), "float32"))
    calls = []

    def failing(source: Path, target: Path) -> None:
        if len(calls) == moves:
            raise KeyboardInterrupt
        calls.append(source)
        os.replace(source, target)

    monkeypatch.setattr(dataset_module, "move", failing)
    if moves < 2:
        with pytest.raises(KeyboardInterrupt):
            attach(stacked, files)
        opened = Dataset(stacked.path)
        assert not opened.has_regions
        assert opened.records == records
        with pytest.raises(DataError, match="Run: vse-zoo features"):
            _ = opened.arrays
        monkeypatch.undo()
        files = saved(tmp_path / "newer", regions=half(4, 1, DIM), boxes=np.zeros((4, 1, 4), "float32"))
    assert attach(Dataset(stacked.path), files).region_dim == DIM
    assert not any(path.name.startswith(".") for path in stacked.path.iterdir())
