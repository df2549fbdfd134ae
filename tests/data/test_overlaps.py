"""Photos that one dataset trains on and another holds out, found by Flickr id."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from vse_zoo.data.dataset import write_dataset
from vse_zoo.data.overlaps import flickr_id, overlap_notes
from vse_zoo.data.records import Record
from vse_zoo.data.sources.multi30k import read_multi30k


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("1000268201_693b08cb0e.jpg", "1000268201"),
        ("1000092795.jpg", "1000092795"),
        ("flickr30k_images/1000092795.jpg", "1000092795"),
        ("COCO_val2014_000000398076.jpg#657409", "COCO_val2014_000000398076"),
    ],
)
def test_flickr_id(name: str, key: str) -> None:
    assert flickr_id(name) == key


def images(splits: Mapping[str, str], ending: str) -> list[Record]:
    return [Record(f"{key}{ending}", split, {"en": ["a"]}) for split, keys in splits.items() for key in keys.split()]


OTHERS = {record.image: record for record in images({"train": "1 2 3 4", "dev": "5 6", "test": "7 8 9"}, "")}


def test_both_directions_are_noted() -> None:
    records = images({"train": "1 7 8 90", "dev": "5 2", "test": "9 3 4"}, "_0a.jpg")
    assert overlap_notes(records, OTHERS, "Other") == [
        "1 of the 2 images of the dev split are in Other's training split: "
        "a model trained on Other has seen them, so don't evaluate it on this split.",
        "2 of the 3 images of the test split are in Other's training split: "
        "a model trained on Other has seen them, so don't evaluate it on this split.",
        "2 of the 3 images of Other's test split are in the training split here: "
        "a model trained here has seen them, so don't evaluate it on that split.",
    ]


def test_equal_splits_and_other_photos_need_no_note() -> None:
    assert overlap_notes(images({"train": "1 2", "dev": "5 7", "test": "8 6"}, ".jpg"), OTHERS, "Other") == []
    assert overlap_notes(images({"train": "90", "test": "91"}, ".jpg"), OTHERS, "Other") == []


def test_entities_test_photos_in_multi30ks_training_split(tmp_path: Path) -> None:
    """As with Flickr30k Entities, whose own folder names its photos "<id>.jpg"."""
    root = tmp_path / "task2"
    (root / "raw").mkdir(parents=True)
    (root / "image_splits").mkdir()
    for part, keys in {"train": "11 12 13", "val": "21", "test_2016": "31"}.items():
        (root / "image_splits" / f"{part}_images.txt").write_text("".join(f"{key}.jpg\n" for key in keys.split()))
        (root / "raw" / f"{part}.1.de").write_text("".join(f"Bild {key}\n" for key in keys.split()))
    entities = images({"train": "13 31", "val": "21", "test": "11 12 14"}, ".jpg")
    write_dataset(tmp_path / "entities", entities, name="entities", image_source={"kind": "none"}, languages=("en",))
    notes = read_multi30k(tmp_path, dataset=tmp_path / "entities", languages="de").notes
    assert [note.split(":")[0] for note in notes[1:]] == [
        "2 of the 3 images of the test split are in Multi30K's training split",
        "1 of the 1 images of Multi30K's test split are in the training split here",
    ]
