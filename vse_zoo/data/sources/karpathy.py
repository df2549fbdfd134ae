"""Karpathy's splits (Karpathy & Fei-Fei, CVPR 2015): one JSON file of Flickr8k, Flickr30k or COCO with all captions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from vse_zoo.data.records import Record
from vse_zoo.data.sources import Source, source
from vse_zoo.data.sources.published import Captions, image_source, member, with_photos
from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json

__all__ = ["read_karpathy"]

_SPLITS = {"train": "train", "restval": "train", "val": "dev", "test": "test"}


@source("karpathy")
def read_karpathy(
    file: Annotated[Path, "dataset_flickr8k.json, dataset_flickr30k.json or dataset_coco.json."],
    images: Annotated[Path | None, "Folder of the photos; without it the captions are read alone."] = None,
    restval: Annotated[bool, "COCO's restval photos join train, as in the papers' figures, or are left out."] = True,
) -> Source:
    """Captions and splits as in Karpathy's dataset_*.json, whose order stays.

    Example: vse-zoo prepare karpathy data/coco --file dataset_coco.json --images coco
    """
    root = image_source(images)
    content = _read(file)
    name = member(file, content, "", "dataset", str)
    captions, records, unused = Captions(), [], 0
    names: set[str] = set()
    for number, image in enumerate(member(file, content, "", "images", list)):
        place = f"images[{number}]"
        split = member(file, image, place, "split", str)
        if split not in _SPLITS:
            problem = f"found {split!r}, expected one of: {', '.join(_SPLITS)}."
            raise DataError(located(file, problem, field=f"{place}.split"))
        photo = _name(file, image, place)
        if photo in names:
            raise DataError(located(file, f"{photo!r} occurs twice.", field=f"{place}.filename"))
        names.add(photo)
        if split == "restval" and not restval:
            unused += 1
        elif texts := captions.of(photo, _sentences(file, image, place)):
            records.append(Record(photo, _SPLITS[split], {"en": texts}))
    records, notes = with_photos(records, images)
    if unused:
        notes.append(f"{unused} restval images are left out.")
    return Source(name, records, root, ("en",), tuple(notes + captions.notes))


def _read(path: Path) -> Any:
    """The file's content without the tokens, which would take most of the memory: COCO's file has 144 MB."""

    def without_tokens(value: dict[str, Any]) -> dict[str, Any]:
        value.pop("tokens", None)
        return value

    return read_json(path, without_tokens)


def _name(path: Path, image: Any, place: str) -> str:
    """COCO's photos are in a folder for each year's part, which ``filepath`` names; Flickr's have none."""
    name = member(path, image, place, "filename", str)
    return f"{member(path, image, place, 'filepath', str)}/{name}" if "filepath" in image else name


def _sentences(path: Path, image: Any, place: str) -> list[str]:
    sentences = member(path, image, place, "sentences", list)
    return [member(path, each, f"{place}.sentences[{number}]", "raw", str) for number, each in enumerate(sentences)]
