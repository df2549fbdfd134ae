"""Flickr30k Entities: a small folder laid out as published, phrases and boxes worked out by hand, and damage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.records import Phrase, Record
from vse_zoo.data.sources.flickr30k_entities import read_flickr30k_entities
from vse_zoo.errors import DataError

SENTENCES = """\
[/EN#5/people Two grey cats] sleep on [/EN#6/scene a roof] , near [/EN#7/other/clothing one red hat] .
[/EN#0/notvisual It] is  late \u2028 and [/EN#5/people  both ] dream [ 3 ] times .
"""
XML = """\
<annotation>
\t<filename>11.jpg</filename>
\t<size><width>200</width><height>100</height><depth>3</depth></size>
\t<object>
\t\t<name>5</name>
\t\t<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>50</xmax><ymax>100</ymax></bndbox>
\t</object>
\t<object>
\t\t<name>5</name>
\t\t<name>7</name>
\t\t<bndbox><xmin>101</xmin><ymin>26</ymin><xmax>150</xmax><ymax>75</ymax></bndbox>
\t</object>
\t<object><name>6</name><scene>1</scene><nobndbox>0</nobndbox></object>
</annotation>
"""
PLAIN = "<annotation><size><width>9</width><height>9</height></size></annotation>\n"
# Pixels 1 to 50 of 200 are the left quarter; 101 to 150 the third one, and rows 26 to 75 of 100 the middle half.
LEFT, MIDDLE = (0.0, 0.0, 0.25, 1.0), (0.5, 0.25, 0.75, 0.75)


def write(folder: Path, key: str, sentences: str, xml: str) -> None:
    for kind, ending, text in (("Sentences", "txt", sentences), ("Annotations", "xml", xml)):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / kind / f"{key}.{ending}").write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "entities"
    write(path, "11", SENTENCES, XML)
    for key in ("21", "31", "32"):
        write(path, key, f"picture [/EN#9/other number {key}] .\n", PLAIN)
    for name, keys in (("train", "11\n"), ("val", "21\n"), ("test", "32\n31\n")):
        (path / f"{name}.txt").write_text(keys)
    return path


def test_captions_phrases_and_boxes(folder: Path) -> None:
    source = read_flickr30k_entities(folder)
    first, second = "Two grey cats sleep on a roof , near one red hat .", "It is  late and  both  dream [ 3 ] times ."
    expected = [
        ("Two grey cats", 0, 0, (LEFT, MIDDLE)),
        ("a roof", 0, 23, ()),
        ("one red hat", 0, 37, (MIDDLE,)),
        ("It", 1, 0, ()),
        ("both", 1, 17, (LEFT, MIDDLE)),
    ]
    record = source.records[0]
    assert record.captions == {"en": [first, second]}
    assert record.phrases == tuple(
        Phrase("en", number, start, start + len(words), boxes) for words, number, start, boxes in expected
    )
    for words, number, start, _ in expected:
        assert (first, second)[number][start:].startswith(words)
    assert (source.name, source.languages, source.image_source) == ("flickr30k_entities", ("en",), {"kind": "none"})
    assert source.notes == ("5 of 8 phrases have no box: scenes, and what can't be seen.",)


def test_lists_give_splits_and_order(folder: Path) -> None:
    found = [(record.image, record.split) for record in read_flickr30k_entities(folder).records]
    assert found == [("11.jpg", "train"), ("21.jpg", "dev"), ("32.jpg", "test"), ("31.jpg", "test")]


def test_the_dataset_folder_keeps_phrases(folder: Path, tmp_path: Path) -> None:
    source = read_flickr30k_entities(folder)
    source.write(tmp_path / "out")
    assert Dataset.open(tmp_path / "out").records == source.records


def test_empty_captions_phrases_and_images_are_counted(folder: Path) -> None:
    write(folder, "11", "\n[/EN#5/people Cats] [/EN#6/other ] purr\n [/EN#7/other ]\n", XML)
    write(folder, "21", "\n", PLAIN)
    source = read_flickr30k_entities(folder)
    # The phrase belongs to the first caption that is kept.
    phrases = (Phrase("en", 0, 0, 4, (LEFT, MIDDLE)),)
    assert source.records[0] == Record("11.jpg", "train", {"en": ["Cats  purr"]}, phrases)
    assert source.notes[:3] == (
        "3 captions are empty and are left out.",
        "1 images have no caption and are left out (21.jpg, …).",
        "2 phrases have no words and are left out.",
    )


def test_photos(folder: Path, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for key in ("11", "21", "31", "32"):
        (photos / f"{key}.jpg").touch()
    source = read_flickr30k_entities(folder, photos)
    assert source.image_source == {"kind": "folder", "root": str(photos.resolve())}
    (photos / "31.jpg").rename(photos / "31.JPG")
    source = read_flickr30k_entities(folder, photos)
    assert [record.image for record in source.records][-2:] == ["32.jpg", "31.JPG"]
    assert (
        "1 image names and their files are spelt differently and were matched ('31.jpg' is '31.JPG')." in source.notes
    )
    (photos / "32.jpg").unlink()
    with pytest.raises(DataError, match=r"photos, field 'images': 1 of 4 images are missing, the first is 32\.jpg"):
        read_flickr30k_entities(folder, photos)


@pytest.mark.parametrize(
    ("xmin", "xmax", "expected"),
    [(0, 50, (0.0, 0.25)), (151, 201, (0.75, 1.0)), (200, 200, (0.995, 1.0)), (1, 1, (0.0, 0.005))],
)
def test_one_pixel_beyond_the_edge_is_cut_off(folder: Path, xmin: int, xmax: int, expected: tuple) -> None:
    write(folder, "11", SENTENCES, XML.replace("<xmin>1<", f"<xmin>{xmin}<").replace("<xmax>50<", f"<xmax>{xmax}<"))
    box = read_flickr30k_entities(folder).records[0].phrases[0].boxes[0]
    assert (box[0], box[2]) == pytest.approx(expected, abs=1e-12)


def replace(name: str, old: str, new: str) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return damage


SENTENCE, BOXES = "Sentences/11.txt", "Annotations/11.xml"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (replace(SENTENCE, "both ]", "both "), r"Sentences/11\.txt, row 2: found '\[/EN#5/people  both  dream \[ 3 \]"),
        (replace(SENTENCE, "a roof]", "[/EN#7/other a] roof]"), r"row 1: found '\[/EN#6/scene a roof\]"),
        (replace(SENTENCE, "EN#6/scene ", "EN#6 "), r"row 1: found '\[/EN#6 a roof\].* expected a phrase as"),
        (replace(BOXES, "<xmin>1<", "<xmin>one<"), r"11\.xml, row 6, field 'xmin': found 'one', expected a whole"),
        (replace(BOXES, "<xmin>1<", "<xmin>51<"), r"row 6, field 'xmin, xmax': found 51 to 50, expected pixels"),
        (replace(BOXES, "<xmin>1<", "<xmin>-1<"), r"row 6, field 'xmin, xmax': found -1 to 50"),
        (replace(BOXES, "<ymax>100<", "<ymax>102<"), r"row 6, field 'ymin, ymax': found 1 to 102, .* from 1 to 100"),
        (replace(BOXES, "<ymax>75</ymax>", ""), r"row 11, field 'ymax': found 0 elements <ymax> in <bndbox>"),
        (replace(BOXES, "<scene>1</scene><nobndbox>0</nobndbox>", ""), r"row 13, field 'bndbox': found neither a box"),
        (replace(BOXES, "<name>6</name>", ""), r"row 13, field 'name': found no chain id"),
        (replace(BOXES, "<width>200<", "<width>0<"), r"row 3, field 'size': found 0 × 100 pixels"),
        (replace(BOXES, "</annotation>", ""), r"11\.xml, row 15: not well-formed XML"),
        (
            replace(BOXES, "<annotation>", '<?xml version="1.0" encoding="x"?><annotation>'),
            r"row 1: not well-formed XML",
        ),
        (replace(BOXES, XML, ""), r"row 1: not well-formed XML \(no element found"),
        (replace(BOXES, "<depth>", "<!-- " + "x" * 2**20 + " --><depth>"), r"expected at most 1048576"),
        (replace("val.txt", "21", "11"), r"val\.txt, row 1: the image '11' is in a list already"),
        (replace("val.txt", "21", "../21"), r"val\.txt, row 1: found '\.\./21', expected an image id"),
        (replace("val.txt", "21", "21\n77\n78"), r"val\.txt, row 2: there is no file .*77\.txt; 2 of the 6 images"),
        (lambda f: (f / "Annotations/31.xml").unlink(), r"test\.txt, row 2: there is no file .*31\.xml; 1 of the 4"),
        (lambda f: (f / "test.txt").unlink(), r"test\.txt: no such file"),
    ],
)
def test_damage_is_located(folder: Path, damage: Callable[[Path], object], problem: str) -> None:
    damage(folder)
    with pytest.raises(DataError, match=problem):
        read_flickr30k_entities(folder)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_document_types_are_refused_before_an_entity_grows(folder: Path, encoding: str) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    bomb = f'<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY l0 "ha">{laughs}]>\n<annotation>&l8;</annotation>'
    (folder / BOXES).write_bytes(bomb.encode(encoding))
    with pytest.raises(DataError, match=r"11\.xml, row 2: found a document type"):
        read_flickr30k_entities(folder)
