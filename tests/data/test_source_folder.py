"""One's own images and a table: splits, copies, and tables that don't fit the images."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from vse_zoo.data.dataset import write_dataset
from vse_zoo.data.sources import Source, get, names
from vse_zoo.data.sources.folder import read_folder
from vse_zoo.errors import DataError

# The reader hashes bytes and decodes nothing, so any bytes stand for a picture here.
MANY = 2000


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    (folder / "trips").mkdir(parents=True)
    for name in ("a.jpg", "b.jpg", "trips/c.png"):
        (folder / name).write_bytes(f"bytes of {name}".encode())
    return folder


def table(folder: Path, text: str, name: str = "captions.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(photos: Path, text: str, name: str = "captions.csv", **options: object) -> Source:
    return read_folder(photos, table(photos.parent, text, name), **options)


def test_is_found_by_name() -> None:
    assert {"flickr8k", "folder", "multi30k", "scenes"} <= set(names())
    assert get("folder") is read_folder
    with pytest.raises(DataError, match=r"found 'coco', expected one of: .*folder"):
        get("coco")


FORMATS = {
    "captions.csv": 'image,caption,language\na.jpg,"One, two",\na.jpg,Eins,de\ntrips/c.png,Three,\n',
    "captions.tsv": "image\tcaption\tlanguage\na.jpg\tOne, two\t\na.jpg\tEins\tde\ntrips/c.png\tThree\ten\n",
    "captions.jsonl": '{"image": "a.jpg", "caption": "One, two"}\n'
    '{"image": "a.jpg", "caption": "Eins", "language": "de"}\n'
    '{"image": "trips/c.png", "caption": "Three"}\n',
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats_agree(photos: Path, name: str) -> None:
    source = read(photos, FORMATS[name], name)
    captions = {record.image: record.captions for record in source.records}
    assert captions == {"a.jpg": {"en": ["One, two"], "de": ["Eins"]}, "trips/c.png": {"en": ["Three"]}}
    assert (source.name, source.languages) == ("photos", ("en", "de"))
    assert source.image_source == {"kind": "folder", "root": str(photos.resolve())}


def test_given_splits_are_kept(photos: Path) -> None:
    text = "image,caption,split\na.jpg,x,Train\nb.jpg,x,val\ntrips/c.png,x,test\na.jpg,y,\n"
    assert {r.image: r.split for r in read(photos, text).records} == {
        "a.jpg": "train",
        "b.jpg": "dev",
        "trips/c.png": "test",
    }


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("many") / "photos"
    folder.mkdir()
    for number in range(MANY):
        (folder / f"{number:04}.jpg").write_bytes(str(number // 2).encode())
    return folder, "image,caption\n" + "".join(f"{number:04}.jpg,x\n" for number in range(MANY))


def splits(many: tuple[Path, str], **options: object) -> dict[str, str]:
    return {record.image: record.split for record in read(*many, **options).records}


def test_splits_depend_on_the_seed_and_the_bytes_only(many: tuple[Path, str]) -> None:
    first = splits(many)
    assert splits(many) == first
    assert splits(many, seed=1) != first
    header, *rows = many[1].splitlines()
    shuffled = "\n".join([header, *reversed(rows[: MANY // 2])])
    part = {record.image: record.split for record in read(many[0], shuffled).records}
    assert part == {name: first[name] for name in part}, "fewer rows, in another order, moved images between splits"


def test_identical_images_stay_together_and_are_noted(many: tuple[Path, str]) -> None:
    found = splits(many)
    assert all(found[f"{number:04}.jpg"] == found[f"{number + 1:04}.jpg"] for number in range(0, MANY, 2))
    assert any(f"{MANY} images are byte-identical copies" in note for note in read(*many).notes)


@pytest.mark.parametrize(("dev", "test"), [(0.1, 0.1), (0.0, 0.5), (0.3, 0.0)])
def test_split_shares(many: tuple[Path, str], dev: float, test: float) -> None:
    found = list(splits(many, dev=dev, test=test).values())
    # 1,000 independent pairs of copies: a share's standard deviation is at most 0.016.
    assert found.count("dev") / MANY == pytest.approx(dev, abs=0.05)
    assert found.count("test") / MANY == pytest.approx(test, abs=0.05)


def test_an_unsplit_copy_follows_its_twin_into_a_given_split(photos: Path) -> None:
    copies = [f"copy{number}.jpg" for number in range(30)]
    for name in copies:
        (photos / name).write_bytes((photos / "a.jpg").read_bytes())
    for split in ("train", "test"):
        text = f"image,caption,split\na.jpg,x,{split}\n" + "".join(f"{name},x,\n" for name in copies)
        assert {record.split for record in read(photos, text).records} == {split}


def test_notes_say_what_is_odd(photos: Path) -> None:
    (photos / "b.jpg").write_bytes((photos / "a.jpg").read_bytes())
    text = "image,caption,split\na.jpg,x,train\na.jpg,x,train\nb.jpg,x,test\n"
    notes = "\n".join(read(photos, text).notes)
    assert "1 rows repeat a caption" in notes
    assert "WARNING: the table puts identical images into different splits: a.jpg, b.jpg" in notes
    assert "1 images have no caption and are left out (trips/c.png" in notes
    assert "No image fell into: dev" in notes


def test_one_image_under_two_spellings_is_one_image(photos: Path) -> None:
    (record,) = read(photos, "image,caption\n./trips/c.png,x\ntrips//c.png,y\n").records
    assert (record.image, record.captions) == ("trips/c.png", {"en": ["x", "y"]})


def test_links_to_images_elsewhere_are_followed(photos: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.jpg").write_bytes(b"picture")
    (photos / "link.jpg").symlink_to(tmp_path / "elsewhere.jpg")
    assert [record.image for record in read(photos, "image,caption\nlink.jpg,x\n").records] == ["link.jpg"]


BAD = {
    "a missing file": ("image,caption\na.jpg,x\nz.jpg,x\n", 3, "image", "there is no file"),
    "a folder": ("image,caption\ntrips,x\n", 2, "image", "there is no file"),
    "a path that climbs": ("image,caption\n../captions.csv,x\n", 2, "image", "leads out of"),
    "a path that climbs inside": ("image,caption\ntrips/../../captions.csv,x\n", 2, "image", "leads out of"),
    "an absolute path": ("image,caption\n/etc/hostname,x\n", 2, "image", "leads out of"),
    "a path that climbs by backslashes": ("image,caption\n..\\captions.csv,x\n", 2, "image", "leads out of"),
    "a name of two files": ("image,caption\nD.jpg,x\n", 2, "image", "'D.jpg' may mean 'D.JPG' or 'd.jpg'. Write the"),
    "an unknown split": (
        "image,caption,split\na.jpg,x,training\n",
        2,
        "split",
        "found 'training', expected train, dev",
    ),
    "two splits": ("image,caption,split\na.jpg,x,train\na.jpg,y,test\n", 3, "split", "puts 'a.jpg' into 'train'"),
    "a bad language": ("image,caption,language\na.jpg,x,../de\n", 2, "language", "found '../de'"),
    "no caption": ("image,caption\na.jpg,\n", 2, "caption", "found nothing"),
}


@pytest.mark.parametrize("case", BAD)
def test_refuses_with_file_row_and_field(photos: Path, case: str) -> None:
    text, row, field, problem = BAD[case]
    for name in ("d.jpg", "D.JPG"):
        (photos / name).touch()
    with pytest.raises(DataError) as caught:
        read(photos, text)
    assert str(caught.value).startswith(f"{photos.parent / 'captions.csv'}, row {row}, field '{field}': ")
    assert problem in str(caught.value)


@pytest.mark.parametrize("shares", [(-0.1, 0.1), (0.5, 0.5), (1.0, 0.0), (float("nan"), 0.1)])
def test_refuses_shares_that_leave_nothing_to_train_on(photos: Path, shares: tuple[float, float]) -> None:
    with pytest.raises(DataError, match="dev, test: found"):
        read(photos, "image,caption\na.jpg,x\n", dev=shares[0], test=shares[1])


def test_refuses_bad_options(photos: Path) -> None:
    with pytest.raises(DataError, match="language: found 'e n'"):
        read(photos, "image,caption\na.jpg,x\n", language="e n")
    with pytest.raises(DataError, match=r"absent.*: no such folder"):
        read_folder(photos / "absent", table(photos, "image,caption\na.jpg,x\n"))
    with pytest.raises(DataError, match=r"captions\.csv: no row"):
        read(photos, "image,caption\n")


def test_writes_a_dataset(photos: Path, tmp_path: Path) -> None:
    source = read(photos, FORMATS["captions.csv"])
    dataset = write_dataset(
        tmp_path / "dataset",
        source.records,
        name=source.name,
        image_source=source.image_source,
        languages=source.languages,
    )
    assert dataset.records == source.records
    assert json.loads((tmp_path / "dataset" / "dataset.json").read_text())["images"] == 2


TEXTS = ["ein Mädchen läuft über die Straße", 'a dog; runs, "fast"\nover grass']
HEADERS = {"plain": ["image", "caption"], "capitals": ["Image", "Caption", "Photographer"]}
NAMES = {"exact": ["a.jpg", "trips/c.png"], "alike": ["photos\\A.JPG", "TRIPS\\c"]}
READ = {
    ";": "captions.csv: the values are separated by semicolons.",
    "cp1252": "captions.csv is read as cp1252.",
    "utf-16": "captions.csv is read as UTF-16.",
    "capitals": "captions.csv: these columns are ignored: 'Photographer'.",
    "alike": "2 image names and their files are spelt differently and were matched ('photos\\A.JPG' is 'a.jpg', …).",
}


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("names", NAMES)
def test_tables_as_spreadsheets_write_them(
    photos: Path, separator: str, encoding: str, header: str, names: str
) -> None:
    """Records end as on Windows; the line break in a caption is the one that a user typed."""
    lines = [HEADERS[header], *([name, text, "x"] for name, text in zip(NAMES[names], TEXTS, strict=True))]
    content = io.StringIO()
    csv.writer(content, delimiter=separator, lineterminator="\r\n").writerows(
        cells[: len(HEADERS[header])] for cells in lines
    )
    path = photos.parent / "captions.csv"
    path.write_bytes(content.getvalue().encode(encoding))
    source = read_folder(photos, path, encoding="cp1252")
    assert [(record.image, record.captions["en"]) for record in source.records] == [
        (name, [text]) for name, text in zip(NAMES["exact"], TEXTS, strict=True)
    ]
    done = {separator, encoding, header, names}
    assert [note for note in source.notes if note in READ.values()] == [
        READ[what] for what in ("utf-16", "cp1252", ";", "capitals", "alike") if what in done
    ]


def test_an_encoding_that_is_not_named_is_guessed(photos: Path) -> None:
    path = photos.parent / "captions.csv"
    path.write_bytes(f"image;caption\r\na.jpg;{TEXTS[0]}\r\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"captions\.csv, line 2: .* Name the encoding with --encoding windows-1252"):
        read_folder(photos, path)


def test_a_row_is_named_by_its_record_and_by_its_line(photos: Path) -> None:
    text = 'image,caption\na.jpg,"one\ntwo\nthree"\nz.jpg,x\n'
    with pytest.raises(DataError, match=r"captions\.csv, row 3 \(line 5\), field 'image': there is no file .*z\.jpg"):
        read(photos, text)


def test_spellings_of_one_image_are_one_image(photos: Path) -> None:
    (record,) = read(photos, "image,caption,split\ntrips/c.png,x,dev\nTrips\\C.PNG,y,\ntrips/c,z,val\n").records
    assert (record.image, record.captions, record.split) == ("trips/c.png", {"en": ["x", "y", "z"]}, "dev")


def test_pictures_of_phones_without_caption_are_noted(photos: Path) -> None:
    for name in ("IMG_1.HEIC", "IMG_2.avif", "notes.txt"):
        (photos / name).touch()
    notes = read(photos, FORMATS["captions.csv"]).notes
    assert "3 images have no caption and are left out (IMG_1.HEIC, …)." in notes
