"""Dataset folders: unusable records are refused, and what is there is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.records import Record
from vse_zoo.errors import DataError

Make = Callable[..., Any]
RECORDS = [
    Record("a.jpg", "train", {"en": ["a dog", "the dog"], "de": ["ein süßer Hund 🐕"]}),
    Record("sub/b.jpg", "train", {"en": ["a cat"]}),
]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


REFUSED: dict[str, tuple[list[Record], dict[str, Any], str]] = {
    "no image": ([], {}, "no image with a caption was found"),
    "an image twice": ([*RECORDS, RECORDS[1]], {}, "row 3: image 'sub/b.jpg' occurs twice"),
    "no caption": ([Record("a", "train", {})], {}, "row 1, field 'captions': image 'a': found none"),
    "no caption in any language": (
        [Record("a", "train", {"en": []})],
        {},
        "field 'captions': image 'a': found an empty caption",
    ),
    "a blank caption": (
        [Record("a", "train", {"en": ["x", " "]})],
        {},
        "found an empty caption, or an empty list of them, in 'en'",
    ),
    "half a surrogate": ([Record("a", "train", {"en": ["\ud83d"]})], {}, "characters that aren't valid Unicode"),
    "no split": ([Record("a", "", {"en": ["x"]})], {}, "field 'split': image 'a': found ''"),
    "no name": ([Record("", "train", {"en": ["x"]})], {}, "field 'image': image '': found the name"),
    "a path that climbs": ([Record("../a", "train", {"en": ["x"]})], {}, "field 'image': image '../a': found the name"),
    "an unlisted language": (RECORDS, {"languages": ("en",)}, "found 'de', expected one of: en"),
    "a language without captions": (RECORDS, {"languages": ("en", "de", "fr")}, "no image has a caption in: fr"),
    "a language twice": (RECORDS, {"languages": ("en", "de", "en")}, "a language is listed twice"),
    "an unusable language": (
        [Record("a", "train", {"../e": ["x"]})],
        {"languages": ("../e",)},
        "found the language '../e'",
    ),
    "an unknown image source": (RECORDS, {"image_source": {"kind": "web"}}, "field 'image_source'"),
    "no dataset name": (RECORDS, {"name": ""}, "field 'name'"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_unusable_records_are_refused_and_nothing_is_written(tmp_path: Path, kind: str, write: Make) -> None:
    records, options, reason = REFUSED[kind]
    with pytest.raises(DataError) as caught:
        write(tmp_path / "new", records, **options)
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_dataset_is_kept_unless_told_otherwise(dense: Dataset, write: Make) -> None:
    before = contents(dense.path)
    with pytest.raises(DataError, match=r"there is a dataset here already.*--overwrite"):
        write(dense.path)
    with pytest.raises(DataError, match="occurs twice"):
        write(dense.path, [RECORDS[0], RECORDS[0]], overwrite=True)
    assert contents(dense.path) == before
    new = write(dense.path, RECORDS[:1], overwrite=True)
    assert (len(new), new.has_regions) == (1, False)
    assert set(contents(dense.path)) == {"dataset.json", "captions.jsonl"}


def test_a_table_of_ones_own_is_not_overwritten(tmp_path: Path, write: Make) -> None:
    (tmp_path / "captions.jsonl").write_text("mine")
    with pytest.raises(DataError, match="already"):
        write(tmp_path)
    with pytest.raises(DataError, match="found a file, expected a folder"):
        write(tmp_path / "captions.jsonl")
