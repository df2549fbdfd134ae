"""COCO captions: small files laid out as published, with lists of ids and without, whole and damaged."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.records import Record
from vse_zoo.data.sources import Source
from vse_zoo.data.sources.coco_captions import read_coco_captions
from vse_zoo.errors import DataError

TRAIN, VAL = range(1, 4), [40, 31, 36, 39, 32, 38, 37, 35]


def content(part: str, keys: Any) -> dict[str, Any]:
    """Annotations in another order than the images, as published: by number of the caption first."""
    return {
        "info": {"year": 2014},
        "licenses": [],
        "images": [{"id": key, "file_name": f"COCO_{part}_{key:012d}.jpg", "height": 2, "width": 3} for key in keys],
        "annotations": [
            {"image_id": key, "id": 1000 * number + key, "caption": f"Bench {key}, text {number}"}
            for number in (1, 2)
            for key in reversed(keys)
        ],
    }


def name(part: str, key: int) -> str:
    return f"{part}/COCO_{part}_{key:012d}.jpg"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, dict[str, Any]]:
    """The content of both files; `read` writes it."""
    return {"train2014": content("train2014", TRAIN), "val2014": content("val2014", VAL)}


def read(tmp_path: Path, files: dict[str, dict[str, Any]], **options: Any) -> Source:
    paths = [tmp_path / f"captions_{part}.json" for part in files]
    for path, value in zip(paths, files.values(), strict=True):
        path.write_text(json.dumps(value), encoding="utf-8")
    for split, listed in tuple(options.items()):
        if split.endswith("_ids"):
            options[split] = tmp_path / f"{split}.txt"
            options[split].write_text(listed, encoding="utf-8")
    return read_coco_captions(*paths, **options)


def images(source: Source, split: str) -> list[str]:
    return [record.image for record in source.records if record.split == split]


def test_lists_give_splits_and_their_order(tmp_path: Path, files: dict) -> None:
    test = f"35\n\n{name('val2014', 40)}\nCOCO_val2014_{32:012d}.jpg\n"
    source = read(tmp_path, files, test_ids=test, dev_ids="39\n31\n")
    train = [name("train2014", key) for key in TRAIN]
    assert images(source, "train") == train + [name("val2014", key) for key in (36, 38, 37)]
    assert images(source, "dev") == [name("val2014", key) for key in (39, 31)]
    assert images(source, "test") == [name("val2014", key) for key in (35, 40, 32)]
    assert source.records[0] == Record(train[0], "train", {"en": ["Bench 1, text 1", "Bench 1, text 2"]})
    assert (source.name, source.languages, source.notes) == ("coco", ("en",), ())


def test_lists_of_windows_in_other_spelling(tmp_path: Path, files: dict) -> None:
    listed = tmp_path / "list.txt"
    listed.write_bytes(f"35\r\nval2014\\coco_val2014_{40:012d}.JPG\r\nCOCO_val2014_{32:012d}\r\n".encode("utf-16"))
    source = read(tmp_path, files, test=0, dev=0)
    paths = [tmp_path / f"captions_{part}.json" for part in files]
    source = read_coco_captions(*paths, test_ids=listed, dev=1)
    assert images(source, "test") == [name("val2014", key) for key in (35, 40, 32)]
    for path in paths:
        path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))
    assert read_coco_captions(*paths, test_ids=listed, dev=1) == source
    assert source.image_source == {"kind": "none"}
    source.write(tmp_path / "out")
    assert Dataset.open(tmp_path / "out").records == source.records


def test_counts_are_taken_by_a_hash_of_the_ids(tmp_path: Path, files: dict) -> None:
    ordered = sorted(VAL, key=lambda key: hashlib.sha256(str(key).encode()).hexdigest())
    source = read(tmp_path, files, test=3, dev=2)
    assert images(source, "test") == [name("val2014", key) for key in VAL if key in ordered[:3]]
    assert images(source, "dev") == [name("val2014", key) for key in VAL if key in ordered[3:5]]
    # Neither the order of the file nor the size of dev decides which photos are tested.
    files["val2014"]["images"].reverse()
    assert sorted(images(read(tmp_path, files, test=3, dev=4), "test")) == sorted(images(source, "test"))


def test_a_list_and_a_count(tmp_path: Path, files: dict) -> None:
    source = read(tmp_path, files, test_ids="35\n40\n", dev=2, restval=False)
    left = sorted(set(VAL) - {35, 40}, key=lambda key: hashlib.sha256(str(key).encode()).hexdigest())
    assert images(source, "test") == [name("val2014", key) for key in (35, 40)]
    assert set(images(source, "dev")) == {name("val2014", key) for key in left[:2]}
    assert len(images(source, "train")) == len(TRAIN)
    assert source.notes == ("4 other images of captions_val2014.json are left out.",)


def test_captions_are_cleaned_and_losses_counted(tmp_path: Path, files: dict) -> None:
    texts = {annotation["id"]: annotation for annotation in files["train2014"]["annotations"]}
    texts[1001]["caption"] = " two\nlines "
    texts[2001]["caption"] = "\n"
    files["train2014"]["annotations"] += [{"image_id": 1, "id": 9, "caption": f"more {n}"} for n in range(5)]
    files["val2014"]["images"].append({"id": 99, "file_name": "x.jpg"})
    source = read(tmp_path, files, dev=1, test=1)
    assert source.records[0].captions == {"en": ["two lines", *(f"more {n}" for n in range(5))]}
    assert Counter(len(record.captions["en"]) for record in source.records) == {2: 10, 6: 1}
    assert source.notes == (
        "1 captions are empty and are left out.",
        "1 images have no caption and are left out (val2014/x.jpg, …).",
    )


def test_photos(tmp_path: Path, files: dict) -> None:
    for part, keys in (("train2014", TRAIN), ("val2014", VAL)):
        (tmp_path / "photos" / part).mkdir(parents=True)
        for key in keys:
            (tmp_path / "photos" / name(part, key)).touch()
    source = read(tmp_path, files, dev=1, test=1, images=tmp_path / "photos")
    assert source.image_source == {"kind": "folder", "root": str((tmp_path / "photos").resolve())}
    (tmp_path / "photos" / name("val2014", 36)).unlink()
    with pytest.raises(DataError, match=r"photos, field 'images': 1 of 11 images are missing, the first is val2014/"):
        read(tmp_path, files, dev=1, test=1, images=tmp_path / "photos")


def test_files_of_other_names_give_no_folder(tmp_path: Path, files: dict) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(files["train2014"]))
    (tmp_path / "captions_val2014.json").write_text(json.dumps(files["val2014"]))
    source = read_coco_captions(path, tmp_path / "captions_val2014.json", dev=1, test=1)
    assert source.records[0].image == "COCO_train2014_000000000001.jpg"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda v: v.pop("annotations"), r"captions_val2014\.json: found no 'annotations', expected a list"),
        (lambda v: v["annotations"][2].pop("caption"), r"field 'annotations\[2\]': found no 'caption', expected text"),
        (lambda v: v["annotations"][2].update(caption=4), r"field 'annotations\[2\]\.caption': found 4, expected text"),
        (lambda v: v["annotations"][2].update(image_id="4"), r"\[2\]\.image_id': found '4', expected a whole number"),
        (lambda v: v["annotations"][2].update(image_id=4), r"captions of the image 4, which isn't listed in 'images'"),
        (lambda v: v["images"][2].update(id=True), r"field 'images\[2\]\.id': found True, expected a whole number"),
        (lambda v: v["images"][2].update(id=40), r"field 'images\[2\]\.id': the image 40 is listed twice"),
        (lambda v: v["images"][2].pop("file_name"), r"field 'images\[2\]': found no 'file_name', expected text"),
        (
            lambda v: (v["images"].append({"id": 2, "file_name": "2"}), v["annotations"][2].update(image_id=2)),
            r"captions_val2014\.json, field 'images': the image 2 is in captions_train2014\.json too",
        ),
    ],
)
def test_damage_is_located(tmp_path: Path, files: dict, damage: Callable[[dict], object], problem: str) -> None:
    damage(files["val2014"])
    with pytest.raises(DataError, match=problem):
        read(tmp_path, files, dev=1, test=1)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, r"captions_val2014\.json, field 'test': found 5000, expected 0 to 8, .* smaller numbers for --dev and"),
        ({"test": 5, "dev": 4}, r"field 'dev': found 4, expected 0 to 3"),
        ({"test": -1}, r"field 'test': found -1, expected 0 to 8"),
        ({"test_ids": "40\n40\n"}, r"test_ids\.txt, row 2: the image '40' is listed twice"),
        (
            {"test_ids": "40\n3\n"},
            r"test_ids\.txt, row 2: found '3', expected the id or file name of an image of --val",
        ),
        ({"test_ids": "40\n", "dev_ids": "31\n40\n"}, r"dev_ids\.txt, row 2: found '40', .* isn't in another split"),
        ({"test_ids": "x.jpg"}, r"test_ids\.txt, row 1: found 'x\.jpg'"),
    ],
)
def test_splits_that_do_not_fit(tmp_path: Path, files: dict, options: dict, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read(tmp_path, files, **options)
