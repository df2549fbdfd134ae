"""Sources of captioned images on a small sample of each format: what they read is what the dataset folder holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from vse_zoo import cli
from vse_zoo.data import Dataset, sources
from vse_zoo.errors import DataError

Options = dict[str, Path]


def text_file(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def folder(root: Path) -> Options:
    for name in ("a", "b", "c"):
        text_file(root / "photos" / f"{name}.jpg", name)
    rows = "image,caption,split\na.jpg,a boat,train\nb.jpg,two boats,dev\nc.jpg,no boat,test\n"
    return {"images": root / "photos", "captions": text_file(root / "captions.csv", rows)}


def flickr30k_entities(root: Path) -> Options:
    size = "<size><width>8</width><height>4</height></size>"
    box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>4</xmax><ymax>4</ymax></bndbox>"
    for split, key in (("train", "1"), ("val", "2"), ("test", "3")):
        text_file(root / f"{split}.txt", f"{key}\n")
        text_file(root / "Sentences" / f"{key}.txt", f"[/EN#7/other A boat] on water {key} .\n")
        xml = f"<annotation>{size}<object><name>7</name>{box}</object></annotation>"
        text_file(root / "Annotations" / f"{key}.xml", xml)
    return {"folder": root}


def karpathy(root: Path) -> Options:
    images = [
        {"filename": f"{split}.jpg", "split": split, "sentences": [{"raw": f"A boat, {split}.", "tokens": ["a"]}]}
        for split in ("test", "train", "restval", "val")
    ]
    return {"file": text_file(root / "dataset.json", json.dumps({"images": images, "dataset": "boats"}))}


def coco_captions(root: Path) -> Options:
    options = {}
    for part, keys in (("train", (1, 2)), ("val", (3, 4, 5))):
        images = [{"id": key, "file_name": f"{key}.jpg"} for key in keys]
        annotations = [{"id": 9 + key, "image_id": key, "caption": f"Boat {key}."} for key in keys]
        value = json.dumps({"images": images, "annotations": annotations})
        options[part] = text_file(root / f"captions_{part}2017.json", value)
    return {
        **options,
        "dev_ids": text_file(root / "dev.txt", "5\n"),
        "test_ids": text_file(root / "test.txt", "4.jpg\n"),
    }


def flickr8k(root: Path) -> Options:
    rows = "image,caption\n"
    for split, name in (("train", "1_a.jpg"), ("dev", "2_b.jpg"), ("test", "3_c.jpg")):
        text_file(root / "splits" / f"Flickr_8k.{split}Images.txt", f"{name}\n")
        text_file(root / "photos" / name, name)
        rows += f"{name},a boat {split}\n"
    captions = text_file(root / "captions.txt", rows)
    return {"images": root / "photos", "captions": captions, "splits": root / "splits"}


SAMPLES: dict[str, Callable[[Path], Options]] = {
    "folder": folder,
    "flickr8k": flickr8k,
    "flickr30k_entities": flickr30k_entities,
    "karpathy": karpathy,
    "coco_captions": coco_captions,
}


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Options]:
    """A source's name and its options."""
    return request.param, SAMPLES[request.param](tmp_path / "raw")


def read(sample: tuple[str, Options], **other: Any) -> sources.Source:
    name, options = sample
    found = sources.get(name)(**{**options, **other})
    assert isinstance(found, sources.Source)
    return found


def test_the_dataset_folder_holds_what_was_read(sample: tuple[str, Options], tmp_path: Path) -> None:
    source = read(sample)
    dataset = source.write(tmp_path / "out")
    assert Dataset.open(tmp_path / "out").records == source.records
    assert (dataset.languages, dataset.image_source) == (source.languages, source.image_source)
    assert set(dataset.splits) == {"train", "dev", "test"}
    assert all(note.endswith(".") for note in source.notes)
    dataset.verify()


def test_reading_again_gives_the_same(sample: tuple[str, Options]) -> None:
    assert read(sample) == read(sample)


def test_the_command_line_writes_the_same(sample: tuple[str, Options], tmp_path: Path) -> None:
    name, options = sample
    arguments = [part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", str(value))]
    result = CliRunner().invoke(cli.app, ["prepare", name, str(tmp_path / "out"), *arguments])
    assert result.exit_code == 0, result.output
    assert Dataset.open(tmp_path / "out").records == read(sample).records


def texts(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.suffix in (".csv", ".json", ".txt")]


def test_text_with_a_byte_order_mark_is_read(sample: tuple[str, Options], tmp_path: Path) -> None:
    expected = read(sample).records
    for path in texts(tmp_path / "raw"):
        path.write_bytes(path.read_text(encoding="utf-8").replace("\n", "\r\n").encode("utf-16"))
    assert read(sample).records == expected


def test_text_of_another_encoding_is_read_where_it_is_named(sample: tuple[str, Options], tmp_path: Path) -> None:
    written = [path for path in texts(tmp_path / "raw") if "oat" in path.read_text(encoding="utf-8")]
    for path in written:
        path.write_text(path.read_text(encoding="utf-8").replace("oat", "öat"), encoding="utf-8")
    expected = read(sample).records
    for path in written:
        path.write_bytes(path.read_text(encoding="utf-8").encode("cp1252"))
    is_json = all(path.suffix == ".json" for path in written)
    do = "Save the file" if is_json else "Name the encoding with --encoding windows-1252, or save the file"
    with pytest.raises(
        DataError, match=rf"line \d+: found the byte 0xf6, .* It looks like windows-1252\. {do} as UTF-8"
    ):
        read(sample)
    if not is_json:
        assert read(sample, encoding="windows-1252").records == expected


def test_whatever_is_missing_is_named(sample: tuple[str, Options], tmp_path: Path) -> None:
    for option, path in sample[1].items():
        missing = tmp_path / f"nowhere{path.suffix}"
        with pytest.raises(DataError, match="nowhere"):
            read(sample, **{option: missing})
