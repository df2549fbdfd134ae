"""Two views from .npz, .npy and both kinds of .mat files, written by NumPy, SciPy and h5py."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io

from vse_zoo.data import TwoViewData, sources
from vse_zoo.errors import DataError

RANDOM = np.random.default_rng(0)
ROWS = {"train": 9, "dev": 3, "test": 4}
VIEWS = {split: (RANDOM.normal(size=(rows, 5)), RANDOM.normal(size=(rows, 2))) for split, rows in ROWS.items()}
OURS = {"train": ("x_train", "y_train"), "dev": ("x_dev", "y_dev"), "test": ("x_test", "y_test")}
XRMB = {"train": ("X1", "X2"), "dev": ("XV1", "XV2"), "test": ("XTe1", "XTe2")}
Arrays = dict[str, np.ndarray]


def named(names: dict[str, tuple[str, str]]) -> Arrays:
    return {name: view for split in VIEWS for name, view in zip(names[split], VIEWS[split], strict=True)}


def save_npz(path: Path, arrays: Arrays) -> Path:
    np.savez(path.with_suffix(".npz"), **arrays)
    return path.with_suffix(".npz")


def save_mat5(path: Path, arrays: Arrays) -> Path:
    scipy.io.savemat(path.with_suffix(".mat"), arrays)
    return path.with_suffix(".mat")


def save_mat73(path: Path, arrays: Arrays) -> Path:
    """As MATLAB's save -v7.3 does: its own header before HDF5's, and arrays column by column."""
    path = path.with_suffix(".mat")
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array.T).attrs["MATLAB_class"] = np.bytes_("double")
        file.create_group("#refs#")
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + bytes(8) + b"\x00\x02IM")
    return path


Save = Callable[[Path, Arrays], Path]
SAVES: dict[str, Save] = {"npz": save_npz, "mat5": save_mat5, "mat73": save_mat73}


def read(out: Path, **options: Any) -> TwoViewData:
    return sources.get("two_view")(**options).write(out)


def check(data: TwoViewData, expected: dict[str, tuple[np.ndarray, np.ndarray]] = VIEWS) -> None:
    assert data.splits == {split: len(x) for split, (x, _) in expected.items()}
    for split, views in expected.items():
        for array, view in zip(data.views(split), views, strict=True):
            np.testing.assert_array_equal(array, view.astype("float32"))


@pytest.mark.parametrize("names", [OURS, XRMB], ids=["ours", "xrmb"])
@pytest.mark.parametrize("kind", SAVES)
def test_every_format_and_both_sets_of_names(tmp_path: Path, kind: str, names: dict[str, tuple[str, str]]) -> None:
    path = SAVES[kind](tmp_path / "views", named(names) | {"trainLabel": np.arange(9.0)[:, None]})
    check(read(tmp_path / "data", file=[path]))


@pytest.mark.parametrize("kind", SAVES)
def test_one_file_a_view(tmp_path: Path, kind: str) -> None:
    """As the two XRMB files do, which both hold labels of the same name."""
    labels = {"trainLabel": np.arange(9.0)[:, None]}
    arrays = named(XRMB)
    files = [
        SAVES[kind](tmp_path / f"single{view}", labels | {k: v for k, v in arrays.items() if k.endswith(view)})
        for view in "12"
    ]
    check(read(tmp_path / "data", file=files))


def npy(tmp_path: Path) -> dict[str, Path]:
    files = {}
    for split, pair in VIEWS.items():
        for view, array in zip("xy", pair, strict=True):
            files[f"{split}_{view}"] = tmp_path / f"{split}_{view}.npy"
            np.save(files[f"{split}_{view}"], array)
    return files


def test_pairs_of_npy_files(tmp_path: Path) -> None:
    check(read(tmp_path / "data", **npy(tmp_path)))


@pytest.mark.parametrize("kind", SAVES)
def test_dev_from_the_last_rows_of_train(tmp_path: Path, kind: str) -> None:
    path = SAVES[kind](tmp_path / "views", {name: array for name, array in named(XRMB).items() if "V" not in name})
    x, y = VIEWS["train"]
    found = sources.get("two_view")(file=[path], dev_rows=2)
    assert found.notes == ()
    assert "dev is the last 2 rows of train" in found.origin
    check(found.write(tmp_path / "data"), {"train": (x[:7], y[:7]), "dev": (x[7:], y[7:]), "test": VIEWS["test"]})


def test_missing_splits_are_named(tmp_path: Path) -> None:
    path = save_npz(tmp_path / "views", {name: array for name, array in named(OURS).items() if "train" in name})
    found = sources.get("two_view")(file=[path])
    assert found.notes == (
        "There is no dev split.",
        "There is no test split.",
        "Choices need a dev split: see --dev-rows.",
    )
    expected = "9 pairs (train 9) of 5 and 2 numbers. Next: vse-zoo train two_way_net --data new --out runs/first"
    assert found.summary(Path("new")) == expected


UNUSABLE: dict[str, tuple[Arrays, dict[str, Any], str]] = {
    "other names": ({"a": np.ones((2, 3))}, {}, "field 'train': found a, expected one pair of arrays a split, named"),
    "one view": ({"X1": np.ones((2, 3))}, {}, "field 'train': found X1, expected one pair"),
    "no train": ({"XV1": np.ones((2, 3)), "XV2": np.ones((2, 3))}, {}, "field 'train': found XV1, XV2, expected one"),
    "both names": (named(OURS) | named(XRMB), {}, "field 'train': found x_train, .*, expected one pair"),
    "three axes": (
        {"X1": np.ones((2, 3, 4)), "X2": np.ones((2, 3))},
        {},
        r"field 'X1': found shape \(2, 3, 4\), expected rows",
    ),
    "text": ({"X1": np.array(["ab", "cd"]), "X2": np.ones((2, 3))}, {}, "field 'X1': found .*expected a dense array"),
    "a second dev": (named(OURS), {"dev_rows": 2}, "field 'dev_rows': there is a dev split already"),
    "a dev of all rows": (
        {"X1": np.ones((2, 3)), "X2": np.ones((2, 3))},
        {"dev_rows": 2},
        "field 'dev_rows': found 2, expected 1 to 1",
    ),
    "other rows": (
        {"X1": np.ones((3, 3)), "X2": np.ones((2, 3))},
        {"dev_rows": 1},
        "found 3 rows of x and 2 of y, expected as many",
    ),
}


@pytest.mark.parametrize("kind", ["npz", "mat5"])
@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_arrays_are_refused_with_the_reason(tmp_path: Path, kind: str, case: str) -> None:
    arrays, options, reason = UNUSABLE[case]
    path = SAVES[kind](tmp_path / "views", arrays)
    with pytest.raises(DataError, match=reason) as caught:
        sources.get("two_view")(file=[path], **options)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("kind", SAVES)
@pytest.mark.parametrize("damage", ["cut", "junk", "empty"])
def test_damaged_files_are_refused(tmp_path: Path, kind: str, damage: str) -> None:
    path = SAVES[kind](tmp_path / "views", named(OURS))
    if damage == "cut":
        os.truncate(path, path.stat().st_size // 2)
    else:
        path.write_bytes(b"junk" * 200 if damage == "junk" else b"")
    with pytest.raises(DataError, match=r"views\.(npz|mat): not a whole|views.mat: found"):
        read(tmp_path / "data", file=[path])
    assert not (tmp_path / "data").exists()


def test_impossible_options(tmp_path: Path) -> None:
    files = npy(tmp_path)
    text = tmp_path / "views.txt"
    text.write_text("")
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "expected either --file, or .npy files"),
        ({"file": [text], "train_x": files["train_x"]}, "expected either --file, or .npy files"),
        ({"file": [text]}, "found the ending '.txt', expected .npz or .mat"),
        ({"file": [tmp_path / "none.npz"]}, "none.npz: no such file"),
        ({"train_x": files["train_x"]}, "expected both --train-x and --train-y"),
        ({"dev_x": files["dev_x"], "dev_y": files["dev_y"]}, "expected both --train-x and --train-y"),
        ({"train_x": tmp_path / "none.npy", "train_y": files["train_y"]}, "none.npy: the file is missing"),
    ]
    for options, reason in cases:
        with pytest.raises(DataError, match=reason):
            sources.get("two_view")(**options)
