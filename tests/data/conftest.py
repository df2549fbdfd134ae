"""A small dataset folder without regions, with a dense and with a stacked array of them, and how to make more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vse_zoo.data.dataset import Dataset, write_dataset
from vse_zoo.data.records import Phrase, Record

DIM, COUNT = 5, 4
RECORDS = [
    Record("a.jpg", "train", {"en": ["a dog", "the dog"], "de": ["ein süßer Hund 🐕"]}),
    Record("sub/b.jpg", "train", {"en": ["a\ncat\u2028"]}),
    Record("c.jpg", "dev", {"de": ["drei"]}, (Phrase("de", 0, 0, 4, ((0.0, 0.25, 0.5, 1.0),)),)),
    Record("d.jpg", "test", {"en": ["four"], "de": ["vier", "Vier"]}),
]
COUNTS = np.array([2, 4, 1, 3])


def write_folder(path: Path, records: list[Record] = RECORDS, **options: Any) -> Dataset:
    source = {"kind": "folder", "root": str(path.parent / "photos")}
    return write_dataset(
        path, records, **{"name": "mine", "image_source": source, "languages": ("en", "de"), **options}
    )


def random_features(*shape: int, dtype: str = "float16") -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


def random_boxes(*shape: int) -> np.ndarray:
    corners = np.random.default_rng(1).random((*shape, 2, 2)).astype("float32")
    return np.sort(corners, axis=-2).reshape(*shape, 4)


def save_arrays(folder: Path, **named: np.ndarray) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    for name, array in named.items():
        np.save(folder / f"new_{name}.npy", array)
    return {name: folder / f"new_{name}.npy" for name in named}


def attach_files(dataset: Dataset, files: dict[str, Path], **options: Any) -> Dataset:
    defaults: dict[str, Any] = {"backbone": "net", "grid": None, "left_out": {}, "offsets": files.get("offsets")}
    return dataset.attach_regions(files["regions"], files.get("boxes"), **{**defaults, **options})


@pytest.fixture
def plain(tmp_path: Path) -> Dataset:
    return write_folder(tmp_path / "data")


@pytest.fixture
def dense(plain: Dataset, tmp_path: Path) -> Dataset:
    boxes = random_boxes(4, COUNT)
    return attach_files(
        plain, save_arrays(tmp_path / "new", regions=random_features(4, COUNT, DIM), boxes=boxes), grid=(2, 2)
    )


@pytest.fixture
def stacked(plain: Dataset, tmp_path: Path) -> Dataset:
    offsets = np.concatenate([[0], np.cumsum(COUNTS)])
    boxes = random_boxes(10)
    return attach_files(
        plain,
        save_arrays(tmp_path / "new", regions=random_features(10, DIM, dtype="float32"), boxes=boxes, offsets=offsets),
    )


@pytest.fixture(scope="session")
def write() -> Callable[..., Any]:
    """Writes a dataset folder."""
    return write_folder


@pytest.fixture(scope="session")
def features() -> Callable[..., Any]:
    """The random features of a shape."""
    return random_features


@pytest.fixture(scope="session")
def saved() -> Callable[..., Any]:
    """Saves arrays as files of a folder."""
    return save_arrays


@pytest.fixture(scope="session")
def attach() -> Callable[..., Any]:
    """Attaches saved arrays to a dataset."""
    return attach_files


@pytest.fixture(scope="session")
def records() -> list[Record]:
    """What `write` writes by default."""
    return RECORDS


@pytest.fixture
def coco(tmp_path: Path) -> Path:
    """A SCAN-style COCO in small: train once an image, dev and test in five equal rows, testall (with test's) once."""
    folder = tmp_path / "coco_precomp"
    folder.mkdir()
    rows = {seed: np.random.default_rng(seed).normal(size=(count, 4, 6)) for seed, count in ((1, 7), (2, 3), (3, 6))}
    for split, features, first, repeats in (
        ("train", rows[1], 100, 1),
        ("dev", rows[2], 200, 5),
        ("test", rows[3][:2], 300, 5),
        ("testall", rows[3], 300, 1),
    ):
        ids = np.repeat(np.arange(first, first + len(features)), repeats)
        np.save(folder / f"{split}_ims.npy", np.repeat(features.astype("float32"), repeats, axis=0))
        (folder / f"{split}_ids.txt").write_text("".join(f"{name}\n" for name in ids))
        captions = range(5 * len(features))
        (folder / f"{split}_caps.txt").write_text("".join(f"{split} caption {n} .\n" for n in captions))
    return folder
