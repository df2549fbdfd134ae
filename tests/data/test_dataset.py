"""The dataset folder: what is written is read back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vse_zoo.data import arrays
from vse_zoo.data.dataset import Dataset
from vse_zoo.data.records import Record
from vse_zoo.errors import DataError, ImageError

DIM, COUNT = 5, 4
COUNTS = np.array([2, 4, 1, 3])
Make = Callable[..., Any]


def test_what_is_written_is_read(plain: Dataset, records: list[Record]) -> None:
    dataset = Dataset.open(plain.path)
    assert (len(dataset), dataset.name, dataset.languages) == (4, "mine", ("en", "de"))
    assert dataset.splits == {"train": 2, "dev": 1, "test": 1}
    assert dataset.records == records
    assert dataset.image_names == [record.image for record in records]
    content = (dataset.path / "captions.jsonl").read_bytes()
    assert dataset.content_hash == hashlib.sha256(content).hexdigest()
    assert [json.loads(line)["captions"] for line in content.split(b"\n")[:-1]] == [r.captions for r in records]


def test_indices_and_captions(plain: Dataset) -> None:
    assert plain.indices("train").tolist() == [0, 1]
    assert plain.indices("train").dtype == np.int64
    texts, rows = plain.captions("train", "en")
    assert (texts, rows.tolist()) == (["a dog", "the dog", "a\ncat\u2028"], [0, 0, 1])
    assert plain.captions("dev", "en")[0] == []
    with pytest.raises(DataError, match="split: found 'val', expected one of: train, dev, test"):
        plain.indices("val")
    with pytest.raises(DataError, match="language: found 'fr', expected one of: en, de"):
        plain.captions("dev", "fr")


def test_without_regions_it_says_what_to_run(plain: Dataset) -> None:
    assert not plain.has_regions
    with pytest.raises(DataError, match=r"no region features yet. Run: vse-zoo features .*data"):
        plain.regions(np.array([0]))


@pytest.mark.parametrize("rows", [[0], [3, 0, 3, 1], []])
def test_dense_regions(dense: Dataset, rows: list[int], features: Make) -> None:
    regions, mask = dense.regions(np.array(rows, np.int64))
    np.testing.assert_array_equal(regions, features(4, COUNT, DIM)[rows])
    assert (regions.dtype, dense.region_dim, dense.grid) == (np.float16, DIM, (2, 2))
    assert mask.shape == (len(rows), COUNT)
    assert mask.all()


@pytest.mark.parametrize("rows", [[0], [2], [3, 0, 3, 1]])
def test_stacked_regions(stacked: Dataset, rows: list[int], features: Make) -> None:
    regions, mask = stacked.regions(np.array(rows))
    each = np.split(features(10, DIM, dtype="float32"), np.cumsum(COUNTS)[:-1])
    assert regions.shape == (len(rows), COUNTS[rows].max(), DIM)
    assert regions.dtype == np.float32
    assert mask.sum(axis=1).tolist() == COUNTS[rows].tolist()
    for place, row in enumerate(rows):
        np.testing.assert_array_equal(regions[place][mask[place]], each[row])
        assert not regions[place][~mask[place]].any()


@pytest.mark.parametrize("row", [-1, 4])
def test_rows_beyond_the_images_are_errors(dense: Dataset, row: int) -> None:
    with pytest.raises(IndexError, match="within 0…3"):
        dense.regions(np.array([0, row]))
    with pytest.raises(IndexError, match="within 0…3"):
        dense.boxes(row)


def test_boxes(dense: Dataset, plain: Dataset) -> None:
    np.testing.assert_array_equal(dense.boxes(2), np.load(dense.path / "boxes.npy")[2])
    assert Dataset(dense.path).boxes(0).shape == (COUNT, 4)


def test_stacked_boxes(stacked: Dataset) -> None:
    np.testing.assert_array_equal(stacked.boxes(1), np.load(stacked.path / "boxes.npy")[2:6])


def test_a_folder_without_boxes(plain: Dataset, tmp_path: Path, features: Make, saved: Make, attach: Make) -> None:
    assert attach(plain, saved(tmp_path / "new", regions=features(4, 1, DIM))).boxes(0) is None


def test_images_left_out_are_nowhere(plain: Dataset, tmp_path: Path, features: Make, saved: Make, attach: Make) -> None:
    dataset = attach(plain, saved(tmp_path / "new", regions=features(4, 1, DIM)), left_out={"a.jpg": "truncated"})
    assert dataset.left_out == {"a.jpg": "truncated"}
    assert dataset.indices("train").tolist() == [1]
    assert dataset.captions("train", "en")[1].tolist() == [1]
    assert dataset.captions("train", "de")[0] == []
    assert len(dataset) == 4


def test_an_image_left_out_may_have_no_region(
    plain: Dataset, tmp_path: Path, features: Make, saved: Make, attach: Make
) -> None:
    files = saved(tmp_path / "new", regions=features(3, DIM), offsets=np.array([0, 1, 1, 2, 3]))
    with pytest.raises(DataError, match=r"new_offsets\.npy: image 'sub/b.jpg' has no region"):
        attach(plain, files)
    assert attach(plain, files, left_out={"sub/b.jpg": "empty"}).indices("train").tolist() == [0]


def test_pictures(plain: Dataset) -> None:
    photos = Path(plain.image_source["root"])
    (photos / "sub").mkdir(parents=True)
    Image.new("L", (3, 2), 200).save(photos / "sub" / "b.jpg")
    picture = plain.open_image(1)
    assert (picture.mode, picture.size) == ("RGB", (3, 2))
    with pytest.raises(ImageError, match=r"a\.jpg: no such file"):
        plain.open_image(0)
    photos.rename(photos.parent / "elsewhere")
    with pytest.raises(
        ImageError, match=r"field 'image_source\.root': its pictures were in .*, which is no longer there"
    ):
        plain.open_image(1)


def test_a_relative_image_root_starts_at_the_dataset_folder(tmp_path: Path, write: Make) -> None:
    Image.new("RGB", (3, 2)).save(tmp_path / "a.jpg")
    dataset = write(tmp_path / "data", image_source={"kind": "folder", "root": ".."})
    assert dataset.open_image(0).size == (3, 2)


def test_pictures_of_scenes(tmp_path: Path, write: Make) -> None:
    records = [Record("scene-000003", "train", {"en": ["x"]})]
    dataset = write(tmp_path / "s", records, image_source={"kind": "scenes", "seed": 1}, languages=("en",))
    assert dataset.open_image(0).mode == "RGB"


def test_a_31_gib_folder_opens_at_once(tmp_path: Path, write: Make) -> None:
    """COCO's size, as a sparse file: were it read, this would take a minute and most of the memory."""
    images, count, dim = 113_287, 36, 4096
    dataset = write(
        tmp_path / "coco", [Record(f"{n}.jpg", "train", {"en": ["x"]}) for n in range(images)], languages=("en",)
    )
    header = {"descr": "<f2", "fortran_order": False, "shape": (images, count, dim)}
    path = dataset.path / "regions.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        try:
            file.truncate(file.tell() + images * count * dim * 2)
        except OSError as error:
            pytest.skip(f"no room for a sparse file of 31 GiB here: {error}")
    if path.stat().st_blocks * 512 > 2**20:
        pytest.skip("the file system stores sparse files in full")
    info = {"dtype": "float16", "dim": dim, "count": count, "boxes": False, "backbone": "n", "grid": None, "hashes": {}}
    description = json.loads((dataset.path / "dataset.json").read_text())
    (dataset.path / "dataset.json").write_text(json.dumps({**description, "regions": info}))
    opened = Dataset(dataset.path)
    regions, _ = opened.regions(np.array([images - 1, 0]))
    assert regions.shape == (2, count, dim)
    assert path.stat().st_size > 31 * 2**30


def test_names_of_the_arrays_are_those_documented() -> None:
    assert (arrays.REGIONS, arrays.OFFSETS, arrays.BOXES) == ("regions.npy", "offsets.npy", "boxes.npy")
