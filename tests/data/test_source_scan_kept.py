"""SCAN-style features that stay where they are: changes since, parts, replacing, pictures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vse_zoo.data import Dataset, KeptFile, KeptRegions, write_dataset
from vse_zoo.data.sources import Source
from vse_zoo.data.sources.scan import read_scan
from vse_zoo.errors import DataError, ImageError


def feature_rows(images: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(images, 4, 6)).astype("float32")


def written(folder: Path, out: Path, **options: Any) -> Dataset:
    return read_scan(folder, **options).write(out)


def rewrite(path: Path) -> None:
    state = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 10**9))


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "gone": (Path.unlink, r"dev_ims\.npy: the file is missing; .*data reads its regions there\. Put it back"),
    "longer": (lambda path: path.write_bytes(path.read_bytes() + b"0"), r"found \d+ bytes of .*, expected \d+ bytes"),
    "rewritten": (rewrite, r"it changed since .*data was written\. Run vse-zoo prepare again"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_files_changed_since_are_refused_on_opening(coco: Path, tmp_path: Path, kind: str) -> None:
    dataset = written(coco, tmp_path / "data")
    change, reason = CHANGES[kind]
    change(coco / "dev_ims.npy")
    with pytest.raises(DataError, match=reason):
        Dataset(dataset.path)


def test_a_file_cut_while_in_use(coco: Path, tmp_path: Path) -> None:
    dataset = written(coco, tmp_path / "data")
    os.truncate(coco / "train_ims.npy", 600)
    with pytest.raises(DataError, match=r"train_ims\.npy: the file ends within row 6"):
        dataset.regions(np.array([6]))


def test_verify_reads_every_number(coco: Path, tmp_path: Path) -> None:
    rows = feature_rows(7, 1)
    rows[5, 1, 1] = np.inf  # within the image, where preparing doesn't look
    np.save(coco / "train_ims.npy", rows)
    dataset = written(coco, tmp_path / "data")
    with pytest.raises(DataError, match=r"train_ims\.npy, row 5: found a number that isn't finite"):
        dataset.verify()


def test_parts_that_do_not_add_up(coco: Path, tmp_path: Path) -> None:
    path = written(coco, tmp_path / "data").path / "dataset.json"
    value = json.loads(path.read_text())
    value["regions"]["parts"].pop()
    path.write_text(json.dumps(value))
    with pytest.raises(DataError, match="the parts hold 12 images, expected 18"):
        Dataset(path.parent)


def test_nothing_is_replaced_unless_told(coco: Path, tmp_path: Path) -> None:
    dataset = written(coco, tmp_path / "data")
    with pytest.raises(DataError, match="--overwrite"):
        written(coco, dataset.path)
    source: Source = read_scan(coco)
    np.save(coco / "train_ims.npy", feature_rows(8, 1))
    before = {path.name: path.read_bytes() for path in dataset.path.iterdir()}
    with pytest.raises(DataError, match=r"found shape \(8, 4, 6\)"):
        source.write(dataset.path, overwrite=True)
    assert {path.name: path.read_bytes() for path in dataset.path.iterdir()} == before
    np.save(coco / "train_ims.npy", feature_rows(7, 9))
    replaced = read_scan(coco).write(dataset.path, overwrite=True)
    np.testing.assert_array_equal(replaced.regions(np.array([0]))[0][0], feature_rows(7, 9)[0])


def test_files_of_the_dataset_folder_itself_cannot_be_kept(coco: Path, tmp_path: Path) -> None:
    dataset = written(coco, tmp_path / "data")
    path = dataset.path / "regions.npy"
    np.save(path, feature_rows(18, 0))
    with pytest.raises(DataError, match=r"regions\.npy: is in the dataset folder itself"):
        write_dataset(
            dataset.path,
            dataset.records,
            name="n",
            image_source={"kind": "none"},
            languages=("en",),
            overwrite=True,
            regions=KeptRegions([KeptFile(path, 18)], None, "net"),
        )
    assert path.is_file()
    assert len(Dataset(dataset.path)) == 18


def test_pictures(coco: Path, tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"features but no pictures, 'train/100' neither\. Prepare it again"):
        written(coco, tmp_path / "data").open_image(0)
    photos = tmp_path / "photos"
    (photos / "val").mkdir(parents=True)
    for number in [*range(100, 107), *range(200, 203), *range(300, 306)]:
        Image.new("RGB", (3, 2)).save(photos / f"{number}.jpg")
    dataset = written(coco, tmp_path / "pictured", images=photos)
    assert dataset.image_names[-8:] == ["300.jpg", "301.jpg", *(f"{n}.jpg" for n in range(300, 306))]
    assert dataset.open_image(17).size == (3, 2)
    assert len(dataset.records) == 18
    (photos / "306.jpg").unlink(missing_ok=True)
    (photos / "100.jpg").rename(photos / "val" / "a.jpg")
    with pytest.raises(DataError, match=r"1 of 16 images are missing, the first is 100\."):
        read_scan(coco, images=photos)
    (photos / "100.png").touch()
    source = read_scan(coco, images=photos)
    assert source.records[0].image == "100.png"
    assert "1 image names and their files are spelt differently and were matched ('100' is '100.png')." in source.notes
    names = tmp_path / "id_mapping.json"
    mapping = {str(n): f"{n}.jpg" for n in [*range(101, 107), *range(200, 203), *range(300, 306)]}
    names.write_text(json.dumps(mapping))
    with pytest.raises(DataError, match=r"train_ids\.txt: found the id '100', which has no picture"):
        read_scan(coco, images=photos, image_names=names)
    names.write_text(json.dumps(mapping | {"100": "val/a.jpg"}))
    assert read_scan(coco, images=photos, image_names=names).records[0].image == "val/a.jpg"
    with pytest.raises(DataError, match="Add --images"):
        read_scan(coco, image_names=names)
    (coco / "dev_ids.txt").unlink()
    with pytest.raises(DataError, match=r"dev_ids\.txt: found no id of each image"):
        read_scan(coco, images=photos)


def test_a_picture_in_train_and_test_is_refused(coco: Path, tmp_path: Path) -> None:
    (coco / "train_ids.txt").write_text("".join(f"{n}\n" for n in range(300, 307)))
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in [*range(200, 203), *range(300, 307)]:
        (photos / f"{number}.jpg").touch()
    with pytest.raises(DataError, match=r"image '300\.jpg' occurs twice"):
        written(coco, tmp_path / "data", images=photos)
