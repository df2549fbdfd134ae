"""Flickr8k (Hodosh et al., JAIR 2013): 8,000 photos, five English captions each, the official split lists."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated

from vse_zoo.data.overlaps import overlap_notes
from vse_zoo.data.picture_files import PictureFiles
from vse_zoo.data.records import Record
from vse_zoo.data.sources import Encoding, Source, source
from vse_zoo.data.sources.multi30k import add_descriptions, descriptions
from vse_zoo.data.tables import Note, lines, table_rows
from vse_zoo.errors import DataError, located
from vse_zoo.image_names import printable

__all__ = ["read_flickr8k"]

_LISTS = {"train": "trainImages", "dev": "devImages", "test": "testImages"}


@source("flickr8k")
def read_flickr8k(
    images: Annotated[Path, "Folder of the photos."],
    captions: Annotated[Path, "captions.txt (CSV with image, caption) or Flickr8k.token.txt."],
    splits: Annotated[Path, "Folder of Flickr_8k.trainImages.txt, .devImages.txt and .testImages.txt."],
    multi30k: Annotated[Path | None, "Multi30K folder: adds the German descriptions of its task 2."] = None,
    encoding: Encoding = None,
) -> Source:
    """Flickr8k.

    Example: vse-zoo prepare flickr8k data/flickr8k --images Images --captions captions.txt --splits splits
    """
    notes: list[str] = []
    files = PictureFiles(images)
    texts = _by_file(files, _read_captions(captions, encoding, notes.append))
    records = _listed(splits, encoding, files, texts)
    notes += files.notes
    unlisted = sorted(texts.keys() - {record.image for record in records})
    if unlisted:
        notes.append(f"{len(unlisted)} captioned photos are in no split list and are left out ({unlisted[0]}, …).")
    silent = sorted(path.name for path in images.glob("*.jpg") if path.name not in texts)
    if silent:
        notes.append(f"{len(silent)} photos have no caption and are left out ({printable(silent[0])}, …).")
    languages: tuple[str, ...] = ("en",)
    if multi30k is not None:
        found = descriptions(multi30k, 2, ("de",), encoding)
        records, added = add_descriptions(records, found)
        notes += overlap_notes(records, found, "Multi30K")
        languages = ("en", "de")
        notes.append(f"{added} of {len(records)} photos have German descriptions (Multi30K task 2, by Flickr id).")
    return Source("flickr8k", records, {"kind": "folder", "root": str(images.resolve())}, languages, tuple(notes))


def _by_file(files: PictureFiles, texts: dict[str, list[str]]) -> dict[str, list[str]]:
    """The texts by the photos that their names mean; a name that means none stays, since no list may name it."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, several in texts.items():
        meant = files.find(name)
        found[meant[0] if len(meant) == 1 else name] += several
    return found


def _listed(splits: Path, encoding: str | None, files: PictureFiles, texts: dict[str, list[str]]) -> list[Record]:
    """The photos of the split lists, in their order."""
    records: dict[str, Record] = {}
    for split, ending in _LISTS.items():
        path = splits / f"Flickr_8k.{ending}.txt"
        for row, line in enumerate(lines(path, encoding), 1):
            name = line.strip()
            if not name:
                continue
            meant = files.find(name)
            photo = meant[0] if len(meant) == 1 else name
            if photo in records:
                raise DataError(located(path, f"{name!r} is in a list already.", row=row))
            if photo not in texts:
                raise DataError(located(path, f"{name!r} has no caption.", row=row))
            if len(meant) > 1:
                raise DataError(located(path, f"{name!r} may mean {meant[0]!r} or {meant[1]!r}.", row=row))
            if not meant:
                raise DataError(located(path, f"there is no file {files.root / name}.", row=row))
            records[photo] = Record(photo, split, {"en": texts[photo]})
    return list(records.values())


def _read_captions(path: Path, encoding: str | None, note: Note) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = defaultdict(list)
    if path.name.lower().endswith("token.txt"):
        for row, line in enumerate(lines(path, encoding), 1):
            if not line.strip():
                continue
            name, tab, text = line.partition("\t")
            if not tab or not text.strip():
                raise DataError(located(path, "expected 'image.jpg#number<tab>caption'.", row=row))
            texts[name.split("#")[0]].append(text.strip())
        return texts
    for values in (row.values for row in table_rows(path, ("image", "caption"), (), encoding, note)):
        texts[values["image"]].append(values["caption"])
    return texts
