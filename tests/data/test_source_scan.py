"""SCAN-style folders: every published layout is told apart, checked and read where it lies; the rest is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from vse_zoo.cli import app
from vse_zoo.data import Dataset
from vse_zoo.data.sources.scan import layout as layout_module
from vse_zoo.data.sources.scan import read_scan
from vse_zoo.errors import DataError

REGIONS, DIM = 4, 6


def feature_rows(images: int, seed: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(images, REGIONS, DIM)).astype(dtype)


def save_split(
    folder: Path, split: str, rows: np.ndarray, captions: int, ids: list[Any] | None = None, **arrays: np.ndarray
) -> None:
    folder.mkdir(exist_ok=True)
    np.save(folder / f"{split}_ims.npy", rows)
    (folder / f"{split}_caps.txt").write_text("".join(f"{split} caption {n} .\n" for n in range(captions)))
    if ids is not None:
        (folder / f"{split}_ids.txt").write_text("".join(f"{name}\n" for name in ids))
    for name, array in arrays.items():
        np.save(folder / f"{split}_{name}.npy", array)


def written(folder: Path, out: Path, **options: Any) -> Dataset:
    return read_scan(folder, **options).write(out)


def test_every_image_gets_its_features_and_captions(coco: Path, tmp_path: Path) -> None:
    dataset = Dataset(written(coco, tmp_path / "data").path)
    assert dataset.splits == {"train": 7, "dev": 3, "test": 2, "testall": 6}
    assert (dataset.languages, dataset.region_dim, dataset.boxes(0)) == (("en",), DIM, None)
    for split, expected in {
        "train": feature_rows(7, 1),
        "dev": feature_rows(3, 2),
        "test": feature_rows(6, 3)[:2],
        "testall": feature_rows(6, 3),
    }.items():
        regions, mask = dataset.regions(dataset.indices(split))
        np.testing.assert_array_equal(regions, expected)
        assert regions.dtype == np.float32
        assert mask.all()
        texts, rows = dataset.captions(split, "en")
        assert texts == [f"{split} caption {n} ." for n in range(5 * len(expected))]
        assert rows.tolist() == np.repeat(dataset.indices(split), 5).tolist()
    assert dataset.image_names[:8] == [f"train/{n}" for n in range(100, 107)] + ["dev/200"]
    dataset.verify()


def test_rows_of_several_files_in_any_order(coco: Path, tmp_path: Path) -> None:
    dataset = written(coco, tmp_path / "data")
    whole = np.concatenate([feature_rows(7, 1), feature_rows(3, 2), feature_rows(6, 3)[:2], feature_rows(6, 3)])
    for seed in range(20):
        rows = np.random.default_rng(seed).integers(0, 18, 9)
        np.testing.assert_array_equal(dataset.regions(rows)[0], whole[rows])


def test_what_was_found_is_said(coco: Path, tmp_path: Path) -> None:
    source = read_scan(coco)
    assert source.notes == (
        "train: 7 images, one row of train_ims.npy each, 5 captions an image.",
        "dev: 3 images, each in 5 equal rows, 5 captions an image.",
        "test: 2 images, each in 5 equal rows, 5 captions an image.",
        "testall: 6 images, one row of testall_ims.npy each, 5 captions an image.",
    )
    assert source.summary(tmp_path / "data").startswith("18 images (train 7, dev 3, test 2, testall 6) in en")
    assert "vse-zoo train optimal_transport --data" in source.summary(tmp_path / "data")


def test_the_command(coco: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["prepare", "scan", str(tmp_path / "data"), "--folder", str(coco)])
    assert result.exit_code == 0, result.output
    assert "dev: 3 images, each in 5 equal rows" in result.output
    assert len(Dataset(tmp_path / "data")) == 18


def test_features_stay_where_they_are(coco: Path, tmp_path: Path) -> None:
    before = {path.name: path.stat() for path in coco.iterdir()}
    dataset = written(coco, tmp_path / "data")
    assert {path.name for path in dataset.path.iterdir()} == {"dataset.json", "captions.jsonl"}
    assert {path.name: path.stat() for path in coco.iterdir()} == before
    moved = tmp_path / "elsewhere"
    dataset.path.rename(moved)
    np.testing.assert_array_equal(Dataset(moved).regions(np.array([0]))[0][0], feature_rows(7, 1)[0])


def test_a_relative_path_starts_at_the_dataset_folder(coco: Path, tmp_path: Path) -> None:
    dataset = written(coco, tmp_path / "data")
    path = dataset.path / "dataset.json"
    path.write_text(path.read_text().replace(str(coco), "../coco_precomp"))
    np.testing.assert_array_equal(Dataset(dataset.path).regions(np.array([7]))[0][0], feature_rows(3, 2)[0])


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_both_precisions(tmp_path: Path, dtype: str) -> None:
    save_split(tmp_path / "scan", "train", feature_rows(2, 0, dtype), 10)
    dataset = written(tmp_path / "scan", tmp_path / "data")
    assert dataset.regions(np.array([1]))[0].dtype == np.dtype(dtype)
    np.testing.assert_array_equal(dataset.regions(np.array([1]))[0][0], feature_rows(2, 0, dtype)[1])


def test_whole_image_vectors_are_one_region(tmp_path: Path) -> None:
    save_split(tmp_path / "scan", "train", feature_rows(2, 0)[:, 0], 10)
    regions, mask = written(tmp_path / "scan", tmp_path / "data").regions(np.array([1, 0]))
    np.testing.assert_array_equal(regions, feature_rows(2, 0)[[1, 0], :1])
    assert mask.shape == (2, 1)


def test_one_caption_an_image(tmp_path: Path) -> None:
    save_split(tmp_path / "scan", "train", feature_rows(10, 0), 10, list(range(10)))
    source = read_scan(tmp_path / "scan")
    assert [record.captions["en"] for record in source.records[:2]] == [["train caption 0 ."], ["train caption 1 ."]]
    assert source.notes[0] == "train: 10 images, one row of train_ims.npy each, 1 caption an image."


IDS: dict[str, tuple[list[Any] | None, list[str]]] = {
    "none": (None, ["dev/0", "dev/1"]),
    "one an image": (["a", "b"], ["dev/a", "dev/b"]),
    "one a caption": (list("aaaaabbbbb"), ["dev/a", "dev/b"]),
    "numbered captions": ([f"{name}#{n}" for name in "ab" for n in range(5)], ["dev/a", "dev/b"]),
    "of captions only": (list(range(10)), ["dev/0", "dev/1"]),
}


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("repeats", [1, 5])
def test_ids(tmp_path: Path, kind: str, repeats: int) -> None:
    ids, expected = IDS[kind]
    save_split(tmp_path / "scan", "dev", np.repeat(feature_rows(2, 0), repeats, axis=0), 10, ids)
    source = read_scan(tmp_path / "scan")
    assert [record.image for record in source.records] == expected
    assert [len(record.captions["en"]) for record in source.records] == [5, 5]


def fives(images: int) -> np.ndarray:
    return np.repeat(feature_rows(images, 0), 5, axis=0)


def altered(rows: np.ndarray, row: int, value: float) -> np.ndarray:
    rows[row, -1, -1] = value
    return rows


# rows, captions, ids, what is wrong
MISFITS: dict[str, tuple[np.ndarray, int, list[Any] | None, str]] = {
    "a caption short": (fives(3), 14, None, r"train_ims.npy: found 15 rows .* and 14 captions.*expected 75 .* or 15 "),
    "captions of other images": (feature_rows(4, 0), 15, None, "expected 20 captions .* or 4 "),
    "four rows an image": (
        np.repeat(feature_rows(5, 0), 4, axis=0),
        20,
        None,
        "rows 3 and 4 differ, expected rows 0 to 4 to be one",
    ),
    "ten rows an image": (
        np.repeat(feature_rows(2, 0), 10, axis=0),
        20,
        None,
        "each image in 5 equal rows, but rows 4 and 5 are equal",
    ),
    "one row altered": (altered(fives(4), 12, 9), 20, None, "rows 11 and 12 differ, expected rows 10 to 14"),
    "one row copied": (
        feature_rows(6, 0)[[0, 1, 2, 2, 3, 4]],
        6,
        None,
        "rows 2 and 3 are equal, expected all rows to differ",
    ),
    "cut within an image": (fives(4)[:18], 18, None, "repeated 5 times each, expected a multiple of 5"),
    "nothing but zeros": (np.zeros((10, REGIONS, DIM), "float32"), 10, None, "all rows are equal"),
    "repeated with all captions": (fives(3), 75, None, "but every 5 rows are equal.*Do the two files belong"),
    "not finite": (altered(fives(4), 10, np.nan), 20, None, "row 10: found a number that isn't finite"),
    "another type": (fives(2).astype("float64"), 10, None, "found shape .* of float64, expected"),
    "Fortran order": (np.asfortranarray(fives(2)), 10, None, "in Fortran order, expected"),
    "too many axes": (np.zeros((10, 2, 2, 2), "float32"), 10, None, "found shape .*, expected"),
    "ids of other images": (fives(2), 10, [1, 2, 3], "found 3 lines, expected 2 .* or 10 "),
    "an id twice": (feature_rows(3, 0), 15, [7, 8, 7], "row 3: found '7' for two images, first in row 1"),
    "a caption's id twice": (fives(3), 15, [7] * 5 + [8] * 5 + [7] * 5, "row 11: found '7' for two images"),
    "ids across images": (fives(2), 10, [1] * 4 + [2] * 6, "row 5: found '2', expected '1' in rows 1 to 5"),
    "ids of repeated images": (feature_rows(10, 0), 10, [1] * 5 + [2] * 5, "row 2: found '1' for two images"),
    "an empty id": (feature_rows(2, 0), 10, ["a", ""], "row 2: found an empty line, expected an id"),
}


@pytest.mark.parametrize("kind", MISFITS)
def test_what_does_not_fit_is_refused(tmp_path: Path, kind: str) -> None:
    rows, captions, ids, reason = MISFITS[kind]
    save_split(tmp_path / "scan", "train", rows, captions, ids)
    with pytest.raises(DataError, match=reason):
        read_scan(tmp_path / "scan").write(tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_of_a_large_file_only_a_sample_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "_SAMPLED", 3)
    save_split(tmp_path / "scan", "train", altered(fives(9), 22, 9), 45)
    with pytest.raises(DataError, match="rows 21 and 22 differ"):
        read_scan(tmp_path / "scan")
    save_split(tmp_path / "scan", "train", altered(fives(9), 12, 9), 45)
    assert len(read_scan(tmp_path / "scan").records) == 9


def test_missing_and_damaged_files(coco: Path, tmp_path: Path) -> None:
    (coco / "dev_caps.txt").rename(coco / "kept")
    with pytest.raises(DataError, match=r"dev_caps\.txt: no such file"):
        read_scan(coco)
    (coco / "kept").rename(coco / "dev_caps.txt")
    (coco / "train_caps.txt").write_text("a\n\nb\n")
    with pytest.raises(DataError, match=r"train_caps\.txt, row 2: found an empty line"):
        read_scan(coco)
    os.truncate(coco / "train_ims.npy", 300)
    (coco / "train_caps.txt").write_text("a\n" * 35)
    with pytest.raises(DataError, match=r"train_ims\.npy: not a whole \.npy file"):
        read_scan(coco)
    with pytest.raises(DataError, match=r"field 'folder': found no train_ims"):
        read_scan(tmp_path)
    with pytest.raises(DataError, match=r"no such folder"):
        read_scan(tmp_path / "none")


def test_files_that_do_not_fit_one_another(coco: Path) -> None:
    np.save(coco / "test_ims.npy", fives(2)[:, :3])
    with pytest.raises(DataError, match=r"test_ims\.npy: found 3 regions of 6 .* expected 4 of 6 .*train_ims"):
        read_scan(coco)


def test_splits_that_are_not_there_are_noted(coco: Path) -> None:
    (coco / "train_ims.npy").unlink()
    assert read_scan(coco).notes[-2:] == (
        "train_caps.txt is left out: there is no train_ims.npy.",
        "There is no train split, which training needs.",
    )
