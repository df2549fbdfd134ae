"""Karpathy's JSON: small files laid out as published, whole and damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.records import Record
from vse_zoo.data.sources import Source
from vse_zoo.data.sources.karpathy import read_karpathy
from vse_zoo.errors import DataError

SPLITS = ["test", "restval", "val", "train", "test", "train"]


def image(number: int, split: str, *captions: str) -> dict[str, Any]:
    sentences = [
        {"tokens": text.lower().split(), "raw": text, "imgid": number, "sentid": 10 * number + place}
        for place, text in enumerate(captions)
    ]
    return {
        "filepath": "val2014",
        "filename": f"{number}.jpg",
        "imgid": number,
        "cocoid": 7 * number,
        "split": split,
        "sentences": sentences,
        "sentids": [each["sentid"] for each in sentences],
    }


def content() -> dict[str, Any]:
    images = [image(number, split, f"Kite {number}.", f"A kite, no {number}") for number, split in enumerate(SPLITS)]
    return {"images": images, "dataset": "coco"}


def read(tmp_path: Path, value: Any, **options: Any) -> Source:
    path = tmp_path / "dataset_coco.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return read_karpathy(path, **options)


def test_splits_captions_and_order_of_the_file(tmp_path: Path) -> None:
    source = read(tmp_path, content())
    splits = ["test", "train", "dev", "train", "test", "train"]
    assert source.records == [
        Record(f"val2014/{number}.jpg", split, {"en": [f"Kite {number}.", f"A kite, no {number}"]})
        for number, split in enumerate(splits)
    ]
    assert (source.name, source.languages, source.notes) == ("coco", ("en",), ())
    assert source.image_source == {"kind": "none"}
    source.write(tmp_path / "out")
    assert Dataset.open(tmp_path / "out").records == source.records


def test_restval_can_be_left_out(tmp_path: Path) -> None:
    source = read(tmp_path, content(), restval=False)
    assert [record.image for record in source.records if record.split == "train"] == ["val2014/3.jpg", "val2014/5.jpg"]
    assert source.notes == ("1 restval images are left out.",)


def test_flickr_has_no_folders_of_photos(tmp_path: Path) -> None:
    value = content()
    for each in value["images"]:
        del each["filepath"]
    assert read(tmp_path, {**value, "dataset": "flickr30k"}).records[0].image == "0.jpg"


def test_empty_captions_silent_images_and_line_breaks(tmp_path: Path) -> None:
    value = content()
    value["images"][1] = image(1, "train", " ", "\n")
    value["images"][2] = image(2, "val")
    texts = ["one", "", "two\n", "three \r\n four", "five  six\u2028seven", "eight\ttabs", "nine"]
    value["images"][3] = image(3, "train", *texts)
    source = read(tmp_path, value)
    assert [record.image for record in source.records] == [f"val2014/{number}.jpg" for number in (0, 3, 4, 5)]
    expected = ["one", "two", "three four", "five  six seven", "eight\ttabs", "nine"]
    assert source.records[1].captions == {"en": expected}
    assert source.notes == (
        "3 captions are empty and are left out.",
        "2 images have no caption and are left out (val2014/1.jpg, …).",
    )


def test_photos(tmp_path: Path) -> None:
    photos = tmp_path / "coco"
    (photos / "val2014").mkdir(parents=True)
    for number in range(6):
        (photos / "val2014" / f"{number}.jpg").touch()
    source = read(tmp_path, content(), images=photos)
    assert source.image_source == {"kind": "folder", "root": str(photos.resolve())}
    (photos / "val2014").rename(photos / "VAL2014")
    respelt = read(tmp_path, content(), images=photos)
    assert respelt.records[0].image.startswith("VAL2014/")
    assert "6 image names and their files are spelt differently" in respelt.notes[0]
    (photos / "VAL2014").rename(photos / "val2014")
    (photos / "val2014" / "1.jpg").unlink()
    with pytest.raises(
        DataError, match=r"coco, field 'images': 1 of 6 images are missing, the first is val2014/1\.jpg"
    ):
        read(tmp_path, content(), images=photos)
    assert len(read(tmp_path, content(), images=photos, restval=False).records) == 5
    with pytest.raises(DataError, match=r"none, field 'images': no such folder"):
        read(tmp_path, content(), images=tmp_path / "none")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda v: v.pop("dataset"), r"dataset_coco\.json: found no 'dataset', expected text"),
        (lambda v: v.update(images={}), r"field 'images': found {}, expected a list"),
        (lambda v: v["images"].append(3), r"field 'images\[6\]': found 3, expected an object"),
        (lambda v: v["images"][2].pop("filename"), r"field 'images\[2\]': found no 'filename', expected text"),
        (lambda v: v["images"][2].update(filename=7), r"field 'images\[2\]\.filename': found 7, expected text"),
        (lambda v: v["images"][2].update(filename="1.jpg"), r"\[2\]\.filename': 'val2014/1\.jpg' occurs twice"),
        (lambda v: v["images"][2].update(split="dev"), r"\[2\]\.split': found 'dev', expected one of: train, restval"),
        (
            lambda v: v["images"][2].update(sentences=None),
            r"field 'images\[2\]\.sentences': found None, expected a list",
        ),
        (lambda v: v["images"][2]["sentences"][1].pop("raw"), r"'images\[2\]\.sentences\[1\]': found no 'raw'"),
        (lambda v: v["images"][2]["sentences"][1].update(raw=[]), r"\.sentences\[1\]\.raw': found \[\], expected text"),
        (lambda v: v["images"][2]["sentences"][1].update(raw="\udc80"), r"\[1\]\.raw': .*expected valid Unicode"),
    ],
)
def test_damage_is_located(tmp_path: Path, damage: Callable[[dict[str, Any]], object], problem: str) -> None:
    value = content()
    damage(value)
    with pytest.raises(DataError, match=problem):
        read(tmp_path, value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", ": not valid JSON"),
        (b'{"images": [', ": not valid JSON"),
        (b"[" * 100_000, ": not valid JSON"),
        (b'{\n"\x80', ", line 2: found the byte 0x80, expected UTF-8 text"),
    ],
)
def test_what_is_no_json(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(DataError, match=rf"a\.json{problem}"):
        read_karpathy(tmp_path / "a.json")
    with pytest.raises(DataError, match=r"b\.json: no such file"):
        read_karpathy(tmp_path / "b.json")
