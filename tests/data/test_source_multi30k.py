"""Multi30K: small folders laid out as published, and the published files themselves."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from vse_zoo.data.dataset import write_dataset
from vse_zoo.data.overlaps import flickr_id
from vse_zoo.data.records import Record
from vse_zoo.data.sources.multi30k import add_descriptions, descriptions, read_multi30k
from vse_zoo.errors import DataError

IDS = {"train": ["11", "12", "13"], "val": ["21"], "test_2016": ["31", "32"]}


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Task 2 with two descriptions an image and language: "<language> <number> <id>"."""
    root = tmp_path / "multi30k" / "task2"
    (root / "raw").mkdir(parents=True)
    (root / "image_splits").mkdir()
    for part, ids in IDS.items():
        (root / "image_splits" / f"{part}_images.txt").write_text("".join(f"{key}.jpg\n" for key in ids))
        for language in ("en", "de"):
            for number in (1, 2):
                text = "".join(f"{language} {number} {key}\n" for key in ids)
                (root / "raw" / f"{part}.{number}.{language}.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path / "multi30k"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("11_ab.jpg", "12.jpg", "21_c_d.JPG", "31.png", "99.jpg", "notes.txt"):
        (folder / name).touch()
    return folder


def test_descriptions_by_id_and_split(texts: Path) -> None:
    found = descriptions(texts, 2, ("en", "de"))
    assert found == {
        key: Record(key, split, {name: [f"{name} {number} {key}" for number in (1, 2)] for name in ("en", "de")})
        for part, split in (("train", "train"), ("val", "dev"), ("test_2016", "test"))
        for key in IDS[part]
    }


def test_only_the_languages_asked_for(texts: Path) -> None:
    assert all(set(record.captions) == {"de"} for record in descriptions(texts, 2, ("de",)).values())


def test_a_text_both_packed_and_unpacked_counts_once(texts: Path) -> None:
    packed = texts / "task2" / "raw" / "train.1.de.gz"
    packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    assert descriptions(texts, 2, ("de",))["11"].captions == {"de": ["de 1 11", "de 2 11"]}


def test_ten_descriptions_keep_the_order_of_their_numbers(texts: Path) -> None:
    (texts / "task2" / "raw" / "val.10.de").write_text("de 10 21")
    assert descriptions(texts, 2, ("de",))["21"].captions == {"de": ["de 1 21", "de 2 21", "de 10 21"]}


def test_joins_photos_by_id(texts: Path, photos: Path) -> None:
    source = read_multi30k(texts, images=photos)
    names = {record.image: record.split for record in source.records}
    assert names == {"11_ab.jpg": "train", "12.jpg": "train", "21_c_d.JPG": "dev", "31.png": "test"}
    assert (source.name, source.languages) == ("multi30k", ("en", "de"))
    assert source.notes == (
        "train 2 images, 2 en and 2 de captions each; dev 1 images, 2 en and 2 de captions each; "
        "test 1 images, 2 en and 2 de captions each.",
        "2 of 6 described images have no photo in photos and are left out.",
        "Not the images of the published protocol (train 2 of 29,000, dev 1 of 1,014, test 1 of 1,000): "
        "published figures don't compare, those of a smaller test split are higher.",
    )


def test_adds_a_language_to_a_dataset(texts: Path, photos: Path, tmp_path: Path) -> None:
    records = [Record("11_ab.jpg", "test", {"en": ["old"]}), Record("99.jpg", "train", {"en": ["other"]})]
    image_source = {"kind": "folder", "root": str(photos)}
    old = write_dataset(tmp_path / "old", records, name="mine", image_source=image_source, languages=("en",))
    source = read_multi30k(texts, dataset=tmp_path / "old")
    # The dataset's own captions and splits stay; only the new language is added.
    assert source.records[0] == Record("11_ab.jpg", "test", {"en": ["old"], "de": ["de 1 11", "de 2 11"]})
    assert source.records[1] == records[1]
    assert (source.name, source.languages, source.image_source) == ("mine", ("en", "de"), image_source)
    assert source.notes == (
        "1 of 2 images have descriptions in: de.",
        "1 of the 1 images of the test split are in Multi30K's training split: "
        "a model trained on Multi30K has seen them, so don't evaluate it on this split.",
    )
    assert old.records == records
    with pytest.raises(DataError, match="has captions in en already"):
        read_multi30k(texts, dataset=tmp_path / "old", languages="en")


def test_adding_to_no_known_image_changes_nothing() -> None:
    records = [Record("7_x.jpg", "train", {"en": ["a"]})]
    assert add_descriptions(records, {"8": Record("8", "train", {"de": ["b"]})}) == (records, 0)


def test_texts_in_another_encoding(texts: Path) -> None:
    raw, lists = texts / "task2" / "raw", texts / "task2" / "image_splits"
    (raw / "train.1.de.gz").write_bytes(gzip.compress("\ufeffHündin\r\nb\r\nc\r\n".encode("utf-16-le")))
    (raw / "train.2.de.gz").write_bytes(gzip.compress("Hündin\r\nb\r\nc\r\n".encode("cp1252")))
    (lists / "train_images.txt").write_bytes("11.jpg\r\n12.jpg\r\n13.jpg\r\n".encode("utf-16"))
    assert descriptions(texts, 2, ("de",), "cp1252")["11"].captions == {"de": ["Hündin", "Hündin"]}


def damage(texts: Path, kind: str) -> None:
    raw, lists = texts / "task2" / "raw", texts / "task2" / "image_splits"
    path = raw / "train.2.de.gz"
    if kind == "truncated":
        path.write_bytes(path.read_bytes()[:-9])
    elif kind == "not gzip":
        path.write_bytes(b"plain text")
    elif kind == "not UTF-8":
        path.write_bytes(gzip.compress("Hündin\nb\nc\n".encode("latin-1")))
    elif kind == "a line short":
        path.write_bytes(gzip.compress(b"a\nb\n"))
    elif kind == "a list missing":
        (lists / "train_images.txt").unlink()
    elif kind == "texts missing":
        for text in raw.iterdir():
            text.unlink()


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("truncated", r"train\.2\.de\.gz: not a whole gzip file"),
        ("not gzip", r"train\.2\.de\.gz: not a whole gzip file"),
        ("not UTF-8", r"train\.2\.de\.gz, line 1: found the byte 0xfc, expected UTF-8 text\. It looks like win"),
        ("a line short", r"train\.2\.de\.gz: found 2 lines, expected 3 as in train_images\.txt"),
        ("a list missing", r"train_images\.txt: no such file"),
        ("texts missing", r"raw: found no texts such as .* Give the folder above task1 and task2"),
    ],
)
def test_refuses_damaged_files(texts: Path, kind: str, problem: str) -> None:
    damage(texts, kind)
    with pytest.raises(DataError, match=problem):
        descriptions(texts, 2, ("en", "de"))


def test_refuses_impossible_options(texts: Path, photos: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found no text in language 'fr'"):
        read_multi30k(texts, images=photos, languages="en,fr")
    with pytest.raises(DataError, match="task: found 3, expected 1 or 2"):
        read_multi30k(texts, images=photos, task=3)
    with pytest.raises(DataError, match="expected one of the two"):
        read_multi30k(texts)
    with pytest.raises(DataError, match="expected one of the two"):
        read_multi30k(texts, images=photos, dataset=tmp_path)
    with pytest.raises(DataError, match="languages: found ','"):
        read_multi30k(texts, images=photos, languages=",")
    with pytest.raises(DataError, match="no such folder"):
        read_multi30k(texts, images=tmp_path / "absent")
    with pytest.raises(DataError, match=r"no photo has a Flickr id of Multi30K. Expected names such as"):
        read_multi30k(texts, images=texts)


def test_later_test_images_are_splits_of_their_own(texts: Path) -> None:
    lists, raw = texts / "task2" / "image_splits", texts / "task2" / "raw"
    (lists / "test_2017_images.txt").write_text("41.jpg\n")
    (raw / "test_2017.1.en").write_text("en 1 41\n")
    found = descriptions(texts, 2, ("en", "de"))
    assert found["41"] == Record("41", "test_2017", {"en": ["en 1 41"]})
    assert [key for key, record in found.items() if record.split == "test"] == ["31", "32"]


def test_uneven_numbers_of_captions_are_noted(texts: Path, photos: Path) -> None:
    (texts / "task2" / "raw" / "train.2.de.gz").write_bytes(gzip.compress(b"a\n\nc\n"))
    source = read_multi30k(texts, images=photos)
    assert source.notes[0].startswith("train 2 images, 2 en and 1 to 2 de captions each; dev")


@pytest.fixture
def every_photo(shared_data: Path, tmp_path: Path) -> Path:
    """An empty file for each photo of Multi30K's task 2."""
    folder = tmp_path / "every"
    folder.mkdir()
    for part in ("train", "val", "test_2016"):
        for name in (shared_data / f"multi30k/task2/image_splits/{part}_images.txt").read_text().split():
            (folder / name).touch()
    return folder


def test_the_published_protocol_with_every_photo(shared_data: Path, every_photo: Path) -> None:
    source = read_multi30k(shared_data / "multi30k", images=every_photo)
    each = "5 en and 5 de captions each"
    assert source.notes == (f"train 29,000 images, {each}; dev 1,014 images, {each}; test 1,000 images, {each}.",)


def test_published_task_2(shared_data: Path) -> None:
    found = descriptions(shared_data / "multi30k", 2, ("en", "de"))
    splits = [record.split for record in found.values()]
    assert {split: splits.count(split) for split in set(splits)} == {"train": 29000, "dev": 1014, "test": 1000}
    assert all(len(record.captions[name]) == 5 for record in found.values() for name in ("en", "de"))
    with gzip.open(shared_data / "multi30k/task2/raw/train.3.de.gz", "rt", encoding="utf-8", newline="\n") as file:
        assert found["1000092795"].captions["de"][2] == file.readline().strip()


def test_german_descriptions_of_the_photos_of_flickr8k(shared_data: Path) -> None:
    source = read_multi30k(shared_data / "multi30k", images=shared_data / "flickr8k/images", languages="de")
    assert len(source.records) == 7478
    assert "(train 6,993 of 29,000, dev 242 of 1,014, test 243 of 1,000)" in source.notes[-1]
    assert source.languages == ("de",)


def test_published_task_1_has_french(shared_data: Path) -> None:
    source = read_multi30k(
        shared_data / "multi30k", images=shared_data / "flickr8k/images", task=1, languages="en,de,fr"
    )
    assert source.languages == ("en", "de", "fr")
    assert all(len(captions) == 1 for record in source.records for captions in record.captions.values())
    assert all(set(record.captions) == {"en", "de", "fr"} for record in source.records)
    first = next(record for record in source.records if flickr_id(record.image) == "1001773457")
    position = (shared_data / "multi30k/task1/image_splits/train.txt").read_text().split().index("1001773457.jpg")
    with gzip.open(shared_data / "multi30k/task1/raw/train.fr.gz", "rt", encoding="utf-8", newline="\n") as file:
        assert first.captions["fr"] == [file.read().split("\n")[position].strip()]
