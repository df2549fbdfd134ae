"""Folders of one .npz an image: both names of each array, both orientations, and nothing pickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vse_zoo.errors import DataError
from vse_zoo.features.precomputed.npz_folder import npz_entries

BOXES = np.float32([[0, 0, 100, 50], [10, 20, 30, 40], [5, 5, 5, 5]])
FEATURES = np.random.default_rng(0).normal(size=(3, 5)).astype("float32")
SIZE = {"image_w": 100, "image_h": 50}
RELATIVE = (BOXES.astype(float) / [100, 50, 100, 50]).astype("float32")


def read(folder: Path, **arrays: Any) -> Any:
    np.savez(folder / "7.npz", **arrays)
    (entry,) = npz_entries(folder)
    return entry.read()


@pytest.mark.parametrize(
    "arrays",
    [
        {"x": FEATURES, "bbox": BOXES, **SIZE},
        {"features": FEATURES, "boxes": BOXES, "num_bbox": 3, "img_w": [100], "img_h": [50]},
        {"x": FEATURES.T, "bbox": BOXES, **SIZE},
        {"x": FEATURES, "bbox": RELATIVE},
        {"x": FEATURES, "bbox": BOXES, **SIZE, "info": np.array({"objects_id": 1}, object)},
    ],
)
def test_arrays_by_their_names(tmp_path: Path, arrays: dict[str, Any]) -> None:
    found = read(tmp_path, **arrays)
    np.testing.assert_array_equal(found.features, FEATURES, strict=True)
    np.testing.assert_array_equal(found.boxes, RELATIVE, strict=True)


def test_without_boxes(tmp_path: Path) -> None:
    assert read(tmp_path, x=FEATURES).boxes is None
    assert read(tmp_path, x=FEATURES.T, num_bbox=3).features.shape == (3, 5)
    np.savez(tmp_path / "7.npz", x=FEATURES, bbox=BOXES)
    (entry,) = npz_entries(tmp_path, boxes=False)
    assert entry.read().boxes is None


def test_half_precision_and_whole_numbers(tmp_path: Path) -> None:
    assert read(tmp_path, x=FEATURES.astype("float16")).features.dtype == np.float16
    np.testing.assert_array_equal(read(tmp_path, x=np.arange(6).reshape(2, 3)).features, [[0, 1, 2], [3, 4, 5]])


def test_ids_are_the_names_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b", "sub/a.jpg"):
        np.savez(tmp_path / f"{name}.npz", x=FEATURES)
    assert [entry.image for entry in npz_entries(tmp_path)] == ["b", "sub/a.jpg"]


PICKLED = np.array({"image_w": 100}, object)
DAMAGED: dict[str, tuple[dict[str, Any], str]] = {
    "no features": ({"y": FEATURES}, "found y, expected one of: features, x"),
    "nothing": ({}, "found no array"),
    "two kinds": ({"x": FEATURES, "features": FEATURES}, "found features and x, expected one of them"),
    "pickled features": ({"x": PICKLED}, "field 'x': found a pickled object, which could run code and isn't read"),
    "sizes in a pickle": (
        {"x": FEATURES, "bbox": BOXES, "info": PICKLED},
        r"no width and height are given.*--no-boxes",
    ),
    "other boxes": ({"x": FEATURES, "bbox": BOXES[:2], **SIZE}, r"field 'x': found shape \(3, 5\), expected \(2, D\)"),
    "zero boxes": ({"x": FEATURES[:0], "bbox": BOXES[:0], **SIZE}, "field 'x': found zero boxes"),
    "other number": ({"x": FEATURES, "num_bbox": 4}, r"field 'x': found shape \(3, 5\), expected \(4, D\)"),
    "no box": ({"x": FEATURES, "bbox": BOXES[:, :3], **SIZE}, r"field 'bbox': found shape \(3, 3\).*expected \(3, 4\)"),
    "not finite": ({"x": FEATURES * np.inf}, "field 'x': found a number that isn't finite in region 0"),
    "too large": ({"x": FEATURES.astype(float) * 1e300}, "field 'x': found a number that isn't finite in region 0"),
    "text": ({"x": np.array([["a"]])}, r"field 'x': found shape \(1, 1\) of <U1"),
    "one vector": ({"x": FEATURES[0]}, r"field 'x': found shape \(5,\) of float32, expected \(regions, D\)"),
    "two widths": ({"x": FEATURES, "bbox": BOXES, "image_w": [1, 2], "image_h": 5}, "found a picture of size array"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damage_is_named(tmp_path: Path, case: str) -> None:
    arrays, reason = DAMAGED[case]
    with pytest.raises(DataError, match=rf"7\.npz.*{reason}"):
        read(tmp_path, **arrays)


def test_junk_and_cut_files(tmp_path: Path) -> None:
    path = tmp_path / "7.npz"
    np.savez(path, x=FEATURES)
    for content in (b"junk", path.read_bytes()[:-40], b""):
        path.write_bytes(content)
        (entry,) = npz_entries(tmp_path)
        with pytest.raises(DataError, match=r"7.npz: can't be read"):
            entry.read()
