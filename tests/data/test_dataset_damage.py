"""Dataset folders: whatever was damaged since they were written is refused with its reason."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vse_zoo.data.dataset import Dataset
from vse_zoo.errors import DataError

DIM, COUNT = 5, 4


def half(*shape: int) -> np.ndarray:
    return np.ones(shape, "float16")


def edit(folder: Path, **fields: Any) -> None:
    path = folder / "dataset.json"
    value = json.loads(path.read_text())
    path.write_text(json.dumps({**value, **fields}))


def edit_regions(folder: Path, **fields: Any) -> None:
    edit(folder, regions={**json.loads((folder / "dataset.json").read_text())["regions"], **fields})


def cut(path: Path, change: int) -> None:
    os.truncate(path, path.stat().st_size + change)


def drop(folder: Path, field: str) -> None:
    value = json.loads((folder / "dataset.json").read_text())
    (folder / "dataset.json").write_text(json.dumps({k: v for k, v in value.items() if k != field}))


Damage = tuple[Callable[[Path], object], str]
CORRUPT: dict[str, Damage] = {
    "no folder": (shutil.rmtree, r"data: no such folder"),
    "no dataset.json": (
        lambda f: (f / "dataset.json").unlink(),
        r"data: dataset.json is missing, as after an interrupted write",
    ),
    "not JSON": (lambda f: (f / "dataset.json").write_text("{"), r"dataset.json: not valid JSON"),
    "a JSON list": (lambda f: (f / "dataset.json").write_text("[]"), r"dataset.json: found '\[\]'"),
    "another format": (lambda f: edit(f, format=2), r"dataset.json, field 'format': found '2'"),
    "images of no type": (lambda f: edit(f, images="4"), r"field 'images': found '4'"),
    "other image count": (lambda f: edit(f, images=5), r"dataset.json: .*the splits hold 4 images, expected 5"),
    "no language": (lambda f: edit(f, languages=[]), r"field 'languages'"),
    "a split of no size": (lambda f: edit(f, splits={"train": None}), r"field 'splits.train'"),
    "unknown image source": (lambda f: edit(f, image_source={"kind": "web"}), r"field 'image_source'"),
    "no captions": (lambda f: (f / "captions.jsonl").unlink(), r"captions.jsonl: the file is missing"),
    "captions cut": (lambda f: cut(f / "captions.jsonl", -1), r"captions.jsonl: found \d+ bytes, expected \d+"),
    "captions longer": (lambda f: cut(f / "captions.jsonl", 1), r"captions.jsonl: found \d+ bytes, expected \d+"),
    "no regions": (lambda f: (f / "regions.npy").unlink(), r"regions.npy: the file is missing"),
    "regions cut": (lambda f: cut(f / "regions.npy", -1), r"regions.npy: not a whole .npy file"),
    "regions longer": (
        lambda f: cut(f / "regions.npy", 3),
        r"regions.npy: found \d+ bytes, expected \d+ by its header",
    ),
    "regions empty": (lambda f: os.truncate(f / "regions.npy", 0), r"regions.npy: not a whole .npy file"),
    "header cut": (lambda f: os.truncate(f / "regions.npy", 20), r"regions.npy: not a whole .npy file"),
    "regions not .npy": (
        lambda f: (f / "regions.npy").write_bytes(b"PK\x03\x04" * 99),
        r"regions.npy: not a whole",
    ),
    "regions of objects": (lambda f: np.save(f / "regions.npy", np.array([None])), r"regions.npy: not a whole"),
    "regions of other images": (lambda f: np.save(f / "regions.npy", half(3, COUNT, DIM)), r"expected \(4, 4, 5\)"),
    "regions of another type": (
        lambda f: np.save(f / "regions.npy", half(4, COUNT, DIM).astype("float32")),
        r"regions.npy: found shape \(4, 4, 5\) of float32, expected \(4, 4, 5\) of float16",
    ),
    "other dim": (lambda f: edit_regions(f, dim=6), r"regions.npy: found shape .*, expected \(4, 4, 6\)"),
    "dim of no size": (lambda f: edit_regions(f, dim=0), r"field 'regions.dim'"),
    "other count": (lambda f: edit_regions(f, count=5), r"regions.npy: found shape .*, expected \(4, 5, 5\)"),
    "count lost": (lambda f: edit_regions(f, count=None), r"offsets.npy: the file is missing"),
    "dtype unknown": (lambda f: edit_regions(f, dtype="int8"), r"field 'regions.dtype': found 'int8'"),
    "no boxes": (lambda f: (f / "boxes.npy").unlink(), r"boxes.npy: the file is missing"),
    "boxes cut": (lambda f: cut(f / "boxes.npy", -4), r"boxes.npy: not a whole .npy file"),
    "boxes of other regions": (
        lambda f: np.save(f / "boxes.npy", np.zeros((4, 3, 4), "float32")),
        r"boxes.npy: found shape \(4, 3, 4\) of float32, expected \(4, 4, 4\)",
    ),
} | {
    f"no {field}": (lambda f, field=field: drop(f, field), f"dataset.json, field '{field}'")  # type: ignore[misc]
    for field in ("format", "name", "images", "languages", "splits", "content_hash", "image_source", "left_out")
}


@pytest.mark.parametrize("kind", CORRUPT)
def test_a_damaged_folder_is_refused_with_the_reason(dense: Dataset, kind: str) -> None:
    damage, reason = CORRUPT[kind]
    damage(dense.path)
    with pytest.raises(DataError, match=reason) as caught:
        Dataset(dense.path)
    assert str(dense.path) in str(caught.value)


OFFSETS: dict[str, np.ndarray] = {
    "too few": np.array([0, 2, 6, 10]),
    "none": np.zeros(0, np.int64),
    "falling": np.array([0, 6, 2, 7, 10]),
    "not from 0": np.array([1, 2, 6, 7, 10]),
    "short of the end": np.array([0, 2, 6, 7, 9]),
    "beyond the end": np.array([0, 2, 6, 7, 11]),
    "not integers": np.array([0.0, 2.0, 6.0, 7.0, 10.0]),
}


@pytest.mark.parametrize("kind", OFFSETS)
def test_wrong_offsets_are_refused(stacked: Dataset, kind: str) -> None:
    np.save(stacked.path / "offsets.npy", OFFSETS[kind])
    with pytest.raises(DataError, match=r"offsets\.npy: (found|not a whole)"):
        Dataset(stacked.path)


LINES: dict[str, tuple[bytes, bytes, str]] = {
    "broken JSON": (b'{"captions"', b'["captions"', "no valid record"),
    "invalid UTF-8": ("ß".encode(), b"\xff\xfe", "no valid record"),
    "a field gone": (b'"image"', b'"imago"', "'image'"),
    "another split": (b'"split": "train"', b'"split": "tests"', "found splits"),
    "an absolute path": (b'"a.jpg"', b'"/.jpg"', "expected a path below the image root"),
    "a caption of blanks": (b'"a dog"', b'"     "', "an empty caption"),
    "an image twice": (b'"c.jpg"', b'"a.jpg"', "found 3 different images, expected 4"),
    "a phrase outside": (b'"end": 4', b'"end": 9', "characters 0 to 9 in a caption of 4"),
}


@pytest.mark.parametrize("kind", LINES)
def test_captions_damaged_in_place(plain: Dataset, kind: str) -> None:
    """Of unchanged length, so that opening can't see it: reading does, and verifying."""
    old, new, reason = LINES[kind]
    path = plain.path / "captions.jsonl"
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    dataset = Dataset(plain.path)
    with pytest.raises(DataError, match=rf"captions\.jsonl.*{reason}"):
        _ = dataset.records
    with pytest.raises(DataError, match=r"captions\.jsonl: its content has changed"):
        dataset.verify()


@pytest.mark.parametrize("name", ["regions.npy", "boxes.npy", "offsets.npy"])
def test_verify_finds_a_flipped_bit(stacked: Dataset, name: str) -> None:
    stacked.verify()
    path = stacked.path / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{name}: its content has changed"):
        stacked.verify()
