"""Two-view folders: what is written comes back, and whatever can't be used is refused with its reason."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vse_zoo.data import TwoViewData, write_two_view
from vse_zoo.data.two_view import writing
from vse_zoo.errors import DataError

RANDOM = np.random.default_rng(0)
SPLITS = {
    name: (RANDOM.normal(size=(rows, 5)).astype("float32"), RANDOM.normal(size=(rows, 3)).astype("float32"))
    for name, rows in {"train": 7, "dev": 2, "test": 4}.items()
}


def write(path: Path, splits: Any = SPLITS, **options: Any) -> TwoViewData:
    return write_two_view(path, splits, **{"name": "mine", "origin": "Drawn at random.", **options})


@pytest.fixture
def data(tmp_path: Path) -> TwoViewData:
    return write(tmp_path / "data")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_written_comes_back(data: TwoViewData) -> None:
    opened = TwoViewData.open(data.path)
    assert (opened.name, opened.origin, opened.x_dim, opened.y_dim) == ("mine", "Drawn at random.", 5, 3)
    assert opened.splits == {"train": 7, "dev": 2, "test": 4}
    for split, expected in SPLITS.items():
        for array, view in zip(opened.views(split), expected, strict=True):
            assert isinstance(array, np.memmap)
            np.testing.assert_array_equal(array, view, strict=True)
    opened.verify()
    with pytest.raises(DataError, match="split: found 'tests', expected one of: train, dev, test"):
        opened.views("tests")


def test_the_content_hash_is_that_of_the_numbers(data: TwoViewData, tmp_path: Path) -> None:
    assert write(tmp_path / "same", name="other", origin="").content_hash == data.content_hash
    x, y = SPLITS["dev"]
    assert write(tmp_path / "other", SPLITS | {"dev": (x + 1, y)}).content_hash != data.content_hash


@pytest.mark.parametrize(("given", "stored"), [("float64", "float32"), ("uint8", "float32"), ("float16", "float16")])
def test_stored_types(tmp_path: Path, given: str, stored: str) -> None:
    x = np.arange(12).reshape(4, 3).astype(given)
    data = write(tmp_path / "data", {"train": (np.asfortranarray(x), x[:, ::-1])})
    np.testing.assert_array_equal(data.views("train")[0], x.astype(stored), strict=True)
    np.testing.assert_array_equal(data.views("train")[1], x[:, ::-1].astype(stored), strict=True)


def test_large_arrays_are_read_a_few_rows_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Rows:
        shape, dtype = (10, 4), np.dtype("float64")

        def __getitem__(self, rows: slice) -> np.ndarray:
            assert rows.stop - rows.start == 3
            return np.arange(40.0).reshape(10, 4)[rows]

    monkeypatch.setattr(writing, "_CHUNK", 3 * 4 * 8)
    data = write(tmp_path / "data", {"train": (Rows(), Rows())})
    np.testing.assert_array_equal(data.views("train")[1], np.arange(40.0).reshape(10, 4))


def ones(*shape: int, dtype: Any = "float32") -> np.ndarray:
    return np.ones(shape, dtype)


MISFITS: dict[str, tuple[dict[str, tuple[np.ndarray, np.ndarray]], str]] = {
    "no split": ({}, "no split was given"),
    "a split of no name": ({"../x": (ones(2, 3), ones(2, 3))}, "field 'split': found '../x'"),
    "no row": ({"train": (ones(0, 3), ones(0, 3))}, r"field 'train.x': found shape \(0, 3\)"),
    "no column": ({"train": (ones(2, 3), ones(2, 0))}, r"field 'train.y': found shape \(2, 0\)"),
    "one axis": ({"train": (ones(2), ones(2, 3))}, r"field 'train.x': found shape \(2,\) of float32, expected rows"),
    "complex": ({"train": (ones(2, 3, dtype=complex), ones(2, 3))}, "field 'train.x': found shape .* of complex"),
    "objects": ({"train": (ones(2, 3, dtype=object), ones(2, 3))}, "field 'train.x': found shape .* of object"),
    "other rows": ({"train": (ones(2, 3), ones(3, 3))}, "field 'train': found 2 rows of x and 3 of y"),
    "other dim": (
        {"train": (ones(2, 3), ones(2, 3)), "dev": (ones(2, 3), ones(2, 4))},
        r"field 'dev.y': found rows of 4 numbers, expected 3 as in train.y",
    ),
    "not finite": (
        {"train": (ones(2, 3), np.float32([[1, 2], [3, np.nan]]))},
        r"train.y.npy, row 1: found a number that isn't finite in float32",
    ),
    "too large": (
        {"train": (np.float64([[1, 2], [1e300, 4]]), ones(2, 3))},
        r"train.x.npy, row 1: found a number that isn't finite in float32",
    ),
}


@pytest.mark.parametrize("kind", MISFITS)
def test_unusable_arrays_change_nothing(data: TwoViewData, tmp_path: Path, kind: str) -> None:
    splits, reason = MISFITS[kind]
    before = contents(data.path)
    for path, options in ((tmp_path / "new", {}), (data.path, {"overwrite": True})):
        with pytest.raises(DataError, match=reason):
            write(path, splits, **options)
    assert contents(data.path) == before
    assert not (tmp_path / "new").exists()


def test_other_folders_are_left_alone(data: TwoViewData, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("")
    for path, reason in (
        (data.path, "there is two-view data here already. Name another folder, or use --overwrite."),
        (tmp_path / "file", "found a file, expected a folder"),
        (tmp_path / "other", "is neither empty nor a two-view folder"),
    ):
        with pytest.raises(DataError, match=reason):
            write(path)


def test_overwriting_leaves_nothing_of_the_old_data(data: TwoViewData) -> None:
    write(data.path, {"train": (ones(2, 3), ones(2, 6))}, overwrite=True).verify()
    assert contents(data.path).keys() == {"two_view.json", "train.x.npy", "train.y.npy"}


@pytest.mark.parametrize("moves", [0, 1, 5])
def test_a_crash_while_overwriting_leaves_old_data_or_none(
    data: TwoViewData, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    replace, calls = os.replace, []

    def failing(source: Path, target: Path) -> None:
        if len(calls) == moves:
            raise KeyboardInterrupt
        calls.append(source)
        replace(source, target)

    monkeypatch.setattr(writing.os, "replace", failing)
    with pytest.raises(KeyboardInterrupt):
        write(data.path, {name: (x + 1, y) for name, (x, y) in SPLITS.items()}, overwrite=True)
    monkeypatch.undo()
    with pytest.raises(DataError, match=r"no two_view|two_view.json is missing"):
        TwoViewData(data.path)
    assert write(data.path, overwrite=True).content_hash == data.content_hash
    assert not any(path.name.startswith(".") for path in data.path.iterdir())


def edit(folder: Path, **fields: Any) -> None:
    path = folder / "two_view.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def cut(path: Path, change: int) -> None:
    os.truncate(path, path.stat().st_size + change)


CORRUPT: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "data: no such folder"),
    "no two_view.json": (lambda f: (f / "two_view.json").unlink(), "two_view.json is missing, as after an interrupted"),
    "a dataset of images": (
        lambda f: [shutil.rmtree(f), f.mkdir(), (f / "dataset.json").write_text("{}")],
        "found a dataset folder of images and captions, expected two views",
    ),
    "an empty folder": (lambda f: [shutil.rmtree(f), f.mkdir()], "data: not a two-view folder"),
    "not JSON": (lambda f: (f / "two_view.json").write_text("{"), "two_view.json: not valid JSON"),
    "a JSON list": (lambda f: (f / "two_view.json").write_text("[]"), r"two_view.json: found '\[\]'"),
    "another format": (lambda f: edit(f, format=2), "two_view.json, field 'format': found '2'"),
    "an unknown field": (lambda f: edit(f, colour=2), "two_view.json, field 'colour': found '2'"),
    "a split outside": (lambda f: edit(f, splits={"../x": 7}), "two_view.json: .*split '../x'"),
    "a split without hash": (lambda f: edit(f, splits={"val": 7}), "the hashes and the splits differ in dev.x.npy"),
    "other rows": (
        lambda f: edit(f, splits={"train": 8, "dev": 2, "test": 4}),
        r"train.x.npy: found shape \(7, 5\) of float32, expected \(8, 5\)",
    ),
    "other dim": (lambda f: edit(f, y_dim=4), r"train.y.npy: found shape \(7, 3\) of float32, expected \(7, 4\)"),
    "an array gone": (lambda f: (f / "dev.y.npy").unlink(), "dev.y.npy: the file is missing. Write the two-view"),
    "an array cut": (lambda f: cut(f / "test.x.npy", -1), "test.x.npy: not a whole .npy file"),
    "an array longer": (lambda f: cut(f / "test.x.npy", 1), r"test.x.npy: found \d+ bytes, expected \d+"),
    "a header cut": (lambda f: os.truncate(f / "test.x.npy", 20), "test.x.npy: not a whole .npy file"),
    "not .npy": (lambda f: (f / "test.x.npy").write_bytes(b"PK\x03\x04" * 99), "test.x.npy: not a whole .npy file"),
    "another type": (lambda f: np.save(f / "dev.x.npy", ones(2, 5, dtype="float64")), "dev.x.npy: .* of float64"),
    "another order": (lambda f: np.save(f / "dev.x.npy", ones(5, 2).T), "dev.x.npy: .* in C order"),
}


@pytest.mark.parametrize("kind", CORRUPT)
def test_a_damaged_folder_is_refused_with_the_reason(data: TwoViewData, kind: str) -> None:
    damage, reason = CORRUPT[kind]
    damage(data.path)
    with pytest.raises(DataError, match=reason) as caught:
        TwoViewData.open(data.path)
    assert str(data.path) in str(caught.value)


def test_verify_finds_a_flipped_bit(data: TwoViewData) -> None:
    path = data.path / "dev.y.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"dev\.y\.npy: its content has changed"):
        TwoViewData.open(data.path).verify()
