"""Views in a dataset folder and in its batches: whose they are, how often each comes, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from vse_zoo.data import Dataset, PairBatches, Record, write_dataset
from vse_zoo.data.views import VIEWS
from vse_zoo.errors import DataError

IMAGES, COUNT, REGIONS, DIM = 12, 2, 3, 4


def tokenize(texts: Sequence[str], language: str) -> tf.RaggedTensor:
    return tf.ragged.constant([[int(text)] for text in texts], tf.int32, ragged_rank=1)


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    """Image n has the feature 100·n, its view v the feature 100·n + v + 1. Image 3 was left out, two are for dev."""
    splits = ["train"] * (IMAGES - 2) + ["dev"] * 2
    records = [Record(f"{n}.jpg", split, {"en": [str(n + 1)] * 5}) for n, split in enumerate(splits)]
    source = {"kind": "folder", "root": "."}
    empty = write_dataset(tmp_path / "data", records, name="n", image_source=source, languages=("en",))
    values = 100.0 * np.arange(IMAGES, dtype="float16")
    np.save(tmp_path / "regions.npy", values[:, None, None] * np.ones((REGIONS, DIM), "float16"))
    options = {"backbone": "n", "grid": None, "left_out": {"3.jpg": "bad"}}
    return empty.attach_regions(tmp_path / "regions.npy", None, **options)


def views(path: Path, data: Dataset, count: int = COUNT) -> Path:
    rows = data.indices("train")
    values = (100.0 * rows[:, None] + 1 + np.arange(count)).reshape(-1)
    np.save(path / "made.npy", (values[:, None, None] * np.ones((REGIONS, DIM))).astype("float16"))
    return path / "made.npy"


def test_a_batch_holds_each_picture_and_its_own_views_equally_often(data: Dataset, tmp_path: Path) -> None:
    finished = data.attach_views(views(tmp_path, data), COUNT)
    batches = PairBatches(finished, "train", tokenize, batch_size=9, views=True)
    seen: Counter[int] = Counter()
    for step in range(40 * batches.steps_per_epoch):
        batch = batches.batch(step)
        assert (batch["regions"] == batch["regions"][:, :1, :1]).all()
        own, view = np.divmod(batch["regions"][:, 0, 0].astype(int), 100)
        np.testing.assert_array_equal(own, batch["image_id"])
        np.testing.assert_array_equal(batch["text"]["en"][:, 0], own + 1)
        seen.update(view.tolist())
    total = sum(seen.values())
    assert sorted(seen) == [0, 1, 2]
    # Six standard deviations of a share of 1/3.
    assert all(abs(count / total - 1 / 3) < 6 * (2 / 9 / total) ** 0.5 for count in seen.values())


def test_views_change_nothing_but_the_regions(data: Dataset, tmp_path: Path) -> None:
    finished = data.attach_views(views(tmp_path, data), COUNT)
    plain, varied = (PairBatches(finished, "train", tokenize, batch_size=9, views=each) for each in (False, True))
    for step in range(7):
        for name in ("text", "text_mask", "image_id", "region_mask"):
            tf.nest.map_structure(np.testing.assert_array_equal, plain.batch(step)[name], varied.batch(step)[name])
    np.testing.assert_array_equal(varied.batch(4)["regions"], varied.batch(4)["regions"])
    assert (plain.batch(4)["regions"] % 100 == 0).all()


def test_without_views_it_is_said_how_to_make_them(data: Dataset) -> None:
    with pytest.raises(DataError, match=r"has no views of its training pictures.*Run: vse-zoo views"):
        PairBatches(data, "train", tokenize, views=True)


def test_views_are_remembered_verified_and_go_with_the_regions(data: Dataset, tmp_path: Path) -> None:
    finished = data.attach_views(views(tmp_path, data), COUNT)
    assert finished.identity["views"] == COUNT
    assert "views" not in data.identity
    finished.verify()
    with (finished.path / VIEWS).open("r+b") as file:
        file.seek(-2, 2)
        file.write(b"\1\1")
    with pytest.raises(DataError, match=r"views\.npy: its content has changed.*Run vse-zoo views again"):
        finished.verify()

    np.save(tmp_path / "other.npy", np.ones((IMAGES, 1, DIM), "float16"))
    other = finished.attach_regions(tmp_path / "other.npy", None, backbone="m", grid=None, left_out={})
    assert not (other.path / VIEWS).exists()
    with pytest.raises(DataError, match="no views"):
        _ = other.views


@pytest.mark.parametrize("damage", ["count", "dtype", "number", "cut"])
def test_views_that_do_not_fit_are_refused_and_the_folder_stays_as_it_is(
    data: Dataset, tmp_path: Path, damage: str
) -> None:
    path = views(tmp_path, data)
    found = np.load(path)
    if damage == "dtype":
        np.save(path, found.astype("float32"))
    elif damage == "number":
        found[5, 1, 1] = np.inf
        np.save(path, found)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError):
        data.attach_views(path, COUNT + (damage == "count"))
    assert "views" not in Dataset.open(data.path).identity
    assert path.exists()
