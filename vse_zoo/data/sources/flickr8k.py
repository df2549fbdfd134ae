"""Flickr8k (Hodosh et al., JAIR 2013): 8,000 photos, five English captions each, the official split lists."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated

from vse_zoo.data.overlaps import overlap_notes
from vse_zoo.data.records import Record
from vse_zoo.data.sources import Source, source
from vse_zoo.data.sources.multi30k import add_descriptions, descriptions
from vse_zoo.data.tables import lines, table_rows
from vse_zoo.errors import DataError, located

__all__ = ["read_flickr8k"]

_LISTS = {"train": "trainImages", "dev": "devImages", "test": "testImages"}


@source("flickr8k")
def read_flickr8k(
    images: Annotated[Path, "Folder of the photos."],
    captions: Annotated[Path, "captions.txt (CSV with image, caption) or Flickr8k.token.txt."],
    splits: Annotated[Path, "Folder of Flickr_8k.trainImages.txt, .devImages.txt and .testImages.txt."],
    multi30k: Annotated[Path | None, "Multi30K folder: adds the German descriptions of its task 2."] = None,
) -> Source:
    """Flickr8k.

    Example: vse-zoo prepare flickr8k data/flickr8k --images Images --captions captions.txt --splits splits
    """
    texts = _read_captions(captions)
    records, notes = [], []
    listed: set[str] = set()
    for split, ending in _LISTS.items():
        path = splits / f"Flickr_8k.{ending}.txt"
        for row, line in enumerate(lines(path), 1):
            name = line.strip()
            if not name:
                continue
            if name in listed:
                raise DataError(located(path, f"{name!r} is in a list already.", row=row))
            listed.add(name)
            _check_photo(path, row, name, images, texts)
            records.append(Record(name, split, {"en": texts[name]}))
    unlisted = sorted(set(texts) - listed)
    if unlisted:
        notes.append(f"{len(unlisted)} captioned photos are in no split list and are left out ({unlisted[0]}, …).")
    silent = sorted(path.name for path in images.glob("*.jpg") if path.name not in texts)
    if silent:
        notes.append(f"{len(silent)} photos have no caption and are left out ({silent[0]}, …).")
    languages: tuple[str, ...] = ("en",)
    if multi30k is not None:
        found = descriptions(multi30k, task=2, languages=("de",))
        records, added = add_descriptions(records, found)
        notes += overlap_notes(records, found, "Multi30K")
        languages = ("en", "de")
        notes.append(f"{added} of {len(records)} photos have German descriptions (Multi30K task 2, by Flickr id).")
    return Source("flickr8k", records, {"kind": "folder", "root": str(images.resolve())}, languages, tuple(notes))


def _check_photo(path: Path, row: int, name: str, images: Path, texts: dict[str, list[str]]) -> None:
    if name not in texts:
        raise DataError(located(path, f"{name!r} has no caption.", row=row))
    if not (images / name).is_file():
        raise DataError(located(path, f"there is no file {images / name}.", row=row))


def _read_captions(path: Path) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = defaultdict(list)
    if path.name.endswith("token.txt"):
        for row, line in enumerate(lines(path), 1):
            if not line.strip():
                continue
            name, tab, text = line.partition("\t")
            if not tab or not text.strip():
                raise DataError(located(path, "expected 'image.jpg#number<tab>caption'.", row=row))
            texts[name.split("#")[0]].append(text.strip())
        return texts
    for _, values in table_rows(path, ("image", "caption")):
        texts[values["image"]].append(values["caption"])
    return texts
