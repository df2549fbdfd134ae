"""Flickr8k: small folders laid out as published, and the real one with Multi30K's German."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from vse_zoo.data.sources import Source
from vse_zoo.data.sources.flickr8k import read_flickr8k
from vse_zoo.errors import DataError

LISTS = {"trainImages": ["11_a.jpg", "12_b.jpg"], "devImages": ["21_c.jpg"], "testImages": ["31_d.jpg"]}
NAMES = [name for listed in LISTS.values() for name in listed]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """images/, splits/, captions.txt (CSV) and Flickr8k.token.txt with the same two captions a photo."""
    (tmp_path / "images").mkdir()
    (tmp_path / "splits").mkdir()
    for kind, listed in LISTS.items():
        (tmp_path / "splits" / f"Flickr_8k.{kind}.txt").write_text("".join(f"{name}\n" for name in listed))
    for name in NAMES:
        (tmp_path / "images" / name).touch()
    pairs = [(name, f'{name}, "quoted" {number} .') for name in NAMES for number in (0, 1)]
    with (tmp_path / "captions.txt").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("image", "caption"), *pairs])
    tokens = "".join(f"{name}#{number % 2}\t{text}\n" for number, (name, text) in enumerate(pairs))
    (tmp_path / "Flickr8k.token.txt").write_text(tokens, encoding="utf-8")
    return tmp_path


def read(folder: Path, captions: str = "captions.txt") -> Source:
    return read_flickr8k(folder / "images", folder / captions, folder / "splits")


@pytest.mark.parametrize("captions", ["captions.txt", "Flickr8k.token.txt"])
def test_both_caption_files(folder: Path, captions: str) -> None:
    source = read(folder, captions)
    assert [record.image for record in source.records] == NAMES
    assert [record.split for record in source.records] == ["train", "train", "dev", "test"]
    assert source.records[0].captions == {"en": ['11_a.jpg, "quoted" 0 .', '11_a.jpg, "quoted" 1 .']}
    assert (source.name, source.languages, source.notes) == ("flickr8k", ("en",), ())
    assert source.image_source == {"kind": "folder", "root": str((folder / "images").resolve())}


def test_photos_without_a_caption_are_noted(folder: Path) -> None:
    (folder / "images" / "99_z.jpg").touch()
    assert read(folder).notes == ("1 photos have no caption and are left out (99_z.jpg, …).",)


def test_photos_in_no_list_are_noted(folder: Path) -> None:
    with (folder / "Flickr8k.token.txt").open("a", encoding="utf-8") as file:
        # The published file has such an entry: a caption of "….jpg.1", which is no photo.
        file.write("2258277193_586949ec62.jpg.1#0\tA caption\n\n")
    source = read(folder, "Flickr8k.token.txt")
    assert len(source.records) == 4
    assert source.notes == (
        "1 captioned photos are in no split list and are left out (2258277193_586949ec62.jpg.1, …).",
    )


@pytest.mark.parametrize("captions", ["captions.txt", "Flickr8k.token.txt"])
def test_names_and_encodings_of_other_systems(folder: Path, captions: str) -> None:
    expected = read(folder, captions).records
    for path in (folder / captions, *(folder / "splits").iterdir()):
        text = path.read_text(encoding="utf-8").replace("_b.jpg", "_B.JPG").replace("_c.jpg", "_c")
        path.write_bytes(text.replace("quoted", "größer").encode("cp1252" if path.name == captions else "utf-16"))
    with pytest.raises(DataError, match=r"\.txt, line \d: found the byte 0xf6, .* --encoding windows-1252"):
        read(folder, captions)
    source = read_flickr8k(folder / "images", folder / captions, folder / "splits", encoding="windows-1252")
    assert [(record.image, record.split) for record in source.records] == [
        (record.image, record.split) for record in expected
    ]
    assert source.records[0].captions["en"] == ['11_a.jpg, "größer" 0 .', '11_a.jpg, "größer" 1 .']
    (note,) = [note for note in source.notes if "spelt differently" in note]
    assert note.startswith("2 image names and their files are spelt differently and were matched")


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            lambda f: append(f / "splits/Flickr_8k.devImages.txt", "11_a.jpg\n"),
            r"devImages\.txt, row 2: '11_a.jpg' is in a list",
        ),
        (
            lambda f: append(f / "splits/Flickr_8k.devImages.txt", "99_z.jpg\n"),
            r"devImages\.txt, row 2: '99_z.jpg' has no caption",
        ),
        (lambda f: (f / "images/21_c.jpg").unlink(), r"devImages\.txt, row 1: there is no file .*21_c\.jpg"),
        (lambda f: (f / "splits/Flickr_8k.testImages.txt").unlink(), r"testImages\.txt: no such file"),
        (lambda f: append(f / "captions.txt", "11_a.jpg,\n"), r"captions\.txt, row 10, field 'caption': found nothing"),
        (lambda f: (f / "captions.txt").unlink(), r"captions\.txt: no such file"),
    ],
)
def test_refuses_lists_that_do_not_fit(folder: Path, damage: Callable[[Path], None], problem: str) -> None:
    damage(folder)
    with pytest.raises(DataError, match=problem):
        read(folder)


def test_refuses_a_damaged_token_file(folder: Path) -> None:
    append(folder / "Flickr8k.token.txt", "11_a.jpg#2 no tab\n")
    with pytest.raises(DataError, match=r"token\.txt, row 9: expected 'image.jpg#number<tab>caption'"):
        read(folder, "Flickr8k.token.txt")


def test_the_real_one_with_german(shared_data: Path) -> None:
    root = shared_data / "flickr8k"
    source = read_flickr8k(root / "images", root / "captions.txt", root / "splits", shared_data / "multi30k")
    splits = Counter(record.split for record in source.records)
    assert splits == {"train": 6000, "dev": 1000, "test": 1000}
    german = Counter(record.split for record in source.records if "de" in record.captions)
    assert german == {"train": 5528, "dev": 934, "test": 929}
    assert source.languages == ("en", "de")
    assert {len(texts) for record in source.records for texts in record.captions.values()} == {5}
    assert source.notes[-2].startswith(
        "173 of the 1,000 images of Multi30K's test split are in the training split here"
    )
    assert source.notes[-1].startswith("7391 of 8000 photos have German descriptions")
    with (root / "captions.txt").open(encoding="utf-8", newline="") as file:
        published = [row["caption"].strip() for row in csv.DictReader(file) if row["image"] == source.records[0].image]
    assert source.records[0].captions["en"] == published
