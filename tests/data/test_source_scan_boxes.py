"""Boxes beside SCAN-style features: relative ones as they are, pixels by the pictures' sizes, others refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vse_zoo.data import Dataset
from vse_zoo.data.sources.scan import read_scan
from vse_zoo.errors import DataError

IMAGES, REGIONS = 3, 4
SIZES = np.float32([[200, 100], [640, 480], [50, 300]])


def relative() -> np.ndarray:
    corners = np.sort(np.random.default_rng(0).random((IMAGES, REGIONS, 2, 2)), axis=-2)
    return corners.reshape(IMAGES, REGIONS, 4).astype("float32")


def pixels() -> np.ndarray:
    boxes = relative() * np.tile(SIZES, 2)[:, None]
    boxes[0, 0] = [0, 0, 200.5, 100]  # half a pixel beyond the picture, as detectors give
    return boxes


def save(folder: Path, repeats: int, **arrays: np.ndarray) -> Path:
    folder.mkdir(exist_ok=True)
    rows = np.random.default_rng(1).normal(size=(IMAGES, REGIONS, 5)).astype("float16")
    for split in ("train", "dev"):
        np.save(folder / f"{split}_ims.npy", np.repeat(rows, repeats, axis=0))
        (folder / f"{split}_caps.txt").write_text("a caption\n" * 15)
        for name, array in arrays.items():
            np.save(folder / f"{split}_{name}.npy", array)
    return folder


def boxes_of(folder: Path, out: Path) -> np.ndarray:
    dataset = Dataset(read_scan(folder).write(out).path)
    dataset.verify()
    found = [dataset.boxes(row) for row in range(2 * IMAGES)]
    assert {path.name for path in out.iterdir()} == {"dataset.json", "captions.jsonl", "boxes.npy"}
    return np.array(found)


@pytest.mark.parametrize("name", ["boxes", "ims_bbx"])
@pytest.mark.parametrize("repeats", [1, 5])
def test_relative_boxes(tmp_path: Path, name: str, repeats: int) -> None:
    folder = save(tmp_path / "scan", repeats, **{name: np.repeat(relative(), repeats, axis=0).astype("float64")})
    np.testing.assert_array_equal(boxes_of(folder, tmp_path / "data"), np.concatenate([relative(), relative()]))


@pytest.mark.parametrize("ending", ["npy", "json"])
@pytest.mark.parametrize("repeats", [1, 5])
def test_boxes_in_pixels(tmp_path: Path, ending: str, repeats: int) -> None:
    sizes = np.repeat(SIZES, repeats, axis=0)
    folder = save(tmp_path / "scan", repeats, boxes=pixels(), **({"img_sizes": sizes} if ending == "npy" else {}))
    if ending == "json":
        for split in ("train", "dev"):
            (folder / f"{split}_img_sizes.json").write_text(json.dumps(sizes.tolist()))
    found = boxes_of(folder, tmp_path / "data")
    assert found.dtype == np.float32
    expected = relative()
    expected[0, 0] = [0, 0, 1, 1]
    np.testing.assert_allclose(found, np.concatenate([expected, expected]), rtol=0, atol=1e-6)


def test_boxes_of_some_splits_only_are_left_out(tmp_path: Path) -> None:
    folder = save(tmp_path / "scan", 1, boxes=relative())
    (folder / "dev_boxes.npy").unlink()
    source = read_scan(folder)
    assert source.notes[-1] == "Boxes are left out: there are none for dev."
    assert source.write(tmp_path / "data").boxes(0) is None


UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "no sizes": ({"boxes": pixels()}, r"train_boxes\.npy: found numbers up to .*, so pixels, but not .* sizes\. Save"),
    "other regions": ({"boxes": relative()[:, :2]}, r"found shape \(3, 2, 4\) of float32, expected \(3, 4, 4\)"),
    "other images": ({"boxes": relative()[:2]}, r"found shape \(2, 4, 4\)"),
    "heights first": (
        {"boxes": pixels(), "img_sizes": SIZES[:, ::-1]},
        r"row 0: found a box outside of its picture of 100x200 pixels\. Are the sizes \(width, height\)",
    ),
    "no size": ({"boxes": pixels(), "img_sizes": SIZES * [[1], [0], [1]]}, r"row 1: found \[0.0, 0.0\], expected"),
    "sizes of other images": ({"boxes": pixels(), "img_sizes": SIZES[:2]}, r"img_sizes\.npy: found shape \(2, 2\)"),
    "corners exchanged": ({"boxes": relative()[..., [2, 3, 0, 1]]}, r"row 0: found a box that isn't x0 ≤ x1"),
    "negative": ({"boxes": relative() - 0.9}, r"found a box that isn't .* within its picture"),
    "not finite": ({"boxes": relative() * np.float32(np.nan)}, "found a number that isn't finite"),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_unusable_boxes_are_refused(tmp_path: Path, kind: str) -> None:
    arrays, reason = UNUSABLE[kind]
    with pytest.raises(DataError, match=reason):
        read_scan(save(tmp_path / "scan", 1, **arrays))


@pytest.mark.parametrize("text", ['{"a": 1}', "[[1, 2], [3]]", '["a"]', "[["])
def test_unusable_json_sizes(tmp_path: Path, text: str) -> None:
    folder = save(tmp_path / "scan", 1, boxes=pixels())
    (folder / "train_img_sizes.json").write_text(text)
    with pytest.raises(DataError, match=r"train_img_sizes\.json"):
        read_scan(folder)
