"""Features of other programs: any of three file formats, in the dataset's order or that of a list of names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io

from vse_zoo.data import Dataset, Record, write_dataset
from vse_zoo.errors import DataError
from vse_zoo.workflow import arrays
from vse_zoo.workflow.features import attach_precomputed

NAMES = ["b.jpg", "sub/a.jpg", "c.jpg", "d.jpg"]
VECTORS = np.random.default_rng(0).normal(size=(4, 6))
REGIONS = np.random.default_rng(1).normal(size=(4, 3, 6))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    records = [Record(name, "train", {"en": ["a dog"]}) for name in NAMES]
    source = {"kind": "folder", "root": "."}
    return write_dataset(tmp_path / "data", records, name="n", image_source=source, languages=("en",))


def save(path: Path, array: np.ndarray, **others: np.ndarray) -> Path:
    if path.suffix == ".npy":
        np.save(path, array)
    elif path.suffix == ".npz":
        np.savez(path, feats=array, **others)
    elif path.stem == "v73":
        with h5py.File(path, "w", userblock_size=512) as file:
            for name, value in {"feats": array, **others}.items():
                file[name] = value.T
    else:
        scipy.io.savemat(path, {"feats": array, **others})
    return path


def check(dataset: Dataset, expected: np.ndarray, dtype: str = "float32") -> None:
    found, mask = dataset.regions(np.arange(4))
    np.testing.assert_array_equal(found, expected.astype(dtype), strict=True)
    assert mask.all()
    assert (dataset.grid, dataset.boxes(0), dataset.left_out) == (None, None, {})
    assert {path.name for path in dataset.path.iterdir()} == {"dataset.json", "captions.jsonl", "regions.npy"}
    dataset.verify()


@pytest.mark.parametrize("file", ["a.npy", "a.npz", "a.mat", "v73.mat"])
def test_one_row_an_image(dataset: Dataset, tmp_path: Path, file: str) -> None:
    path = save(tmp_path / file, VECTORS)
    check(attach_precomputed(dataset, path), VECTORS[:, None])
    assert path.is_file(), "the file is copied, not moved"


@pytest.mark.parametrize("file", ["a.npy", "a.npz", "a.mat", "v73.mat"])
def test_several_regions_an_image(dataset: Dataset, tmp_path: Path, file: str) -> None:
    check(attach_precomputed(dataset, save(tmp_path / file, REGIONS)), REGIONS)


@pytest.mark.parametrize("file", ["vgg_feats.mat", "v73.mat"])
def test_matlab_columns_are_recognised_by_their_number(dataset: Dataset, tmp_path: Path, file: str) -> None:
    check(attach_precomputed(dataset, save(tmp_path / file, VECTORS.T)), VECTORS[:, None])


def test_half_precision_stays(dataset: Dataset, tmp_path: Path) -> None:
    path = save(tmp_path / "a.npy", REGIONS.astype("float16"))
    check(attach_precomputed(dataset, path), REGIONS, "float16")


@pytest.mark.parametrize("file", ["a.npy", "a.mat", "columns.mat"])
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_rows_in_the_order_of_a_list(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, chunk: int
) -> None:
    monkeypatch.setattr(arrays, "_CHUNK", chunk)
    names = tmp_path / "names.txt"
    names.write_text("d.jpg\nother.jpg\nsub/a.jpg\nb.jpg\nc.jpg\n")
    array = np.random.default_rng(2).normal(size=(5, 6))
    path = save(tmp_path / file, array.T if file == "columns.mat" else array)
    check(attach_precomputed(dataset, path, names=names), array[[3, 2, 4, 0], None])


def test_a_key_chooses_among_arrays(dataset: Dataset, tmp_path: Path) -> None:
    path = save(tmp_path / "a.npz", REGIONS, other=VECTORS)
    check(attach_precomputed(dataset, path, key="other"), VECTORS[:, None])
    with pytest.raises(DataError, match=r"a.npz: found feats, other, expected one array. Name one with --key"):
        attach_precomputed(dataset, path)
    with pytest.raises(DataError, match=r"a.npz: found feats, other, expected an array 'none'"):
        attach_precomputed(dataset, path, key="none")


UNUSABLE: dict[str, tuple[str, np.ndarray, dict[str, Any], str]] = {
    "other images": ("a.npy", VECTORS[:3], {}, r"a.npy: found shape \(3, 6\) of float64, expected \(4, D\) or \(4, R"),
    "columns of .npy": ("a.npy", VECTORS.T, {}, r"a.npy: found shape \(6, 4\) of float64, expected \(4, D\)"),
    "square": ("a.mat", VECTORS[:, :4], {}, r"a.mat: found shape \(4, 4\): rows or columns may be the dataset's 4"),
    "neither": ("a.mat", VECTORS[:3], {}, r"a.mat: found shape \(3, 6\) .* or \(D, 4\) for the dataset's 4 images"),
    "no number": ("a.npy", VECTORS[:, :0], {}, "a.npy: not a whole|a.npy: found shape"),
    "four axes": ("a.npy", np.ones((4, 2, 2, 3)), {}, r"a.npy: found shape \(4, 2, 2, 3\)"),
    "complex": ("a.npy", VECTORS * 1j, {}, "a.npy: found shape .* of complex128"),
    "not finite": ("a.npy", np.where(VECTORS[2, 1] == VECTORS, np.nan, VECTORS), {}, "a.npy, row 2: found a number"),
    "too large": ("a.npy", np.where(VECTORS[3, 1] == VECTORS, 1e300, VECTORS), {}, "a.npy, row 3: found a number"),
    "a key of .npy": ("a.npy", VECTORS, {"key": "feats"}, "a.npy: found key 'feats', but a .npy file holds one array"),
    "an image missing": ("a.npy", VECTORS, {"names": "b.jpg\nc.jpg\nd.jpg\nx.jpg"}, "found no line 'sub/a.jpg', an im"),
    "a name twice": ("a.npy", VECTORS, {"names": "b.jpg\nb.jpg\n"}, "names.txt, row 2: found 'b.jpg' again"),
    "an empty line": ("a.npy", VECTORS, {"names": "b.jpg\n\nc.jpg"}, "names.txt, row 2: found an empty line"),
    "more names": ("a.npy", VECTORS, {"names": "\n".join([*NAMES, "e"])}, r"expected \(5, D\) .* the 5 lines of"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_what_does_not_fit_changes_nothing(dataset: Dataset, tmp_path: Path, case: str) -> None:
    file, array, options, reason = UNUSABLE[case]
    if "names" in options:
        (tmp_path / "names.txt").write_text(options["names"])
        options = {"names": tmp_path / "names.txt"}
    path = save(tmp_path / file, array)
    with pytest.raises(DataError, match=reason):
        attach_precomputed(dataset, path, **options)
    assert {path.name for path in dataset.path.iterdir()} == {"dataset.json", "captions.jsonl"}
    assert not Dataset.open(dataset.path).has_regions


def test_damaged_and_missing_files_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    for name in ("junk.npy", "junk.npz", "junk.mat"):
        (tmp_path / name).write_bytes(b"junk" * 200)
        with pytest.raises(DataError, match=rf"{name}: "):
            attach_precomputed(dataset, tmp_path / name)
        with pytest.raises(DataError, match=rf"no{name}: (the file is missing|no such file)"):
            attach_precomputed(dataset, tmp_path / f"no{name}")
