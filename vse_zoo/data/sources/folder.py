"""One's own pictures: a folder of images and a table of captions."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path
from typing import Annotated

from vse_zoo.data.records import Record
from vse_zoo.data.sources import Source, source
from vse_zoo.data.tables import table_rows
from vse_zoo.errors import DataError, located
from vse_zoo.progress import progress

__all__ = ["read_folder"]

_SPLITS = {"train": "train", "dev": "dev", "val": "dev", "validation": "dev", "test": "test"}


@source("folder")
def read_folder(
    images: Annotated[Path, "Folder of the images."],
    captions: Annotated[Path, "CSV, TSV or JSONL with columns image, caption and, if you like, language and split."],
    language: Annotated[str, "Language of rows that name none."] = "en",
    dev: Annotated[float, "Share of images for the dev split, where the table gives no split."] = 0.1,
    test: Annotated[float, "Share of images for the test split, where the table gives no split."] = 0.1,
    seed: Annotated[int, "Another seed gives other splits."] = 0,
) -> Source:
    """Your own images with a table of captions, for example: vse-zoo prepare folder data/mine --images photos --captions captions.csv.

    Images without a split go to train, dev or test by a seeded hash of their bytes: identical files stay together.
    """
    if not (0 <= dev < 1 and 0 <= test < 1 and dev + test < 1):
        raise DataError(f"dev, test: found {dev} and {test}, expected shares that leave some images for training.")
    texts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    splits: dict[str, str] = {}
    repeated = 0
    for row, values in table_rows(captions, ("image", "caption"), ("language", "split")):
        name = values["image"]
        _check_image(images, captions, row, name, known=name in texts)
        _set_split(splits, captions, row, name, values["split"])
        known = texts[name][values["language"] or language]
        repeated += values["caption"] in known
        if values["caption"] not in known:
            known.append(values["caption"])
    notes = [f"{repeated} rows repeat a caption of the same image: kept once."] if repeated else []
    splits, more = _complete(splits, images, sorted(texts), dev, test, seed)
    records = [Record(name, splits[name], {key: list(value) for key, value in texts[name].items()}) for name in sorted(texts)]
    languages = tuple(dict.fromkeys(key for record in records for key in record.captions))
    notes += more + _uncaptioned(images, set(texts))
    return Source(images.resolve().name, records, {"kind": "folder", "root": str(images.resolve())}, languages, tuple(notes))


def _check_image(images: Path, table: Path, row: int, name: str, known: bool) -> None:
    path = images / name
    if known:
        return
    if not path.resolve().is_relative_to(images.resolve()):
        raise DataError(located(table, f"{name!r} leads out of {images}.", row=row, field="image"))
    if not path.is_file():
        do = "Name images relative to the image folder, or remove the row."
        raise DataError(located(table, f"there is no file {path}.", row=row, field="image", do=do))


def _set_split(splits: dict[str, str], table: Path, row: int, name: str, split: str) -> None:
    if not split:
        return
    if split.lower() not in _SPLITS:
        problem = f"found {split!r}, expected train, dev (or val) or test."
        raise DataError(located(table, problem, row=row, field="split"))
    if splits.setdefault(name, _SPLITS[split.lower()]) != _SPLITS[split.lower()]:
        problem = f"found {split!r}, but an earlier row puts {name!r} into {splits[name]!r}."
        raise DataError(located(table, problem, row=row, field="split", do="Give every image one split."))


def _complete(
    given: dict[str, str], images: Path, names: list[str], dev: float, test: float, seed: int
) -> tuple[dict[str, str], list[str]]:
    """A split for every image: the given one, or one by the hash of its bytes."""
    splits: dict[str, str] = {}
    copies: dict[str, list[str]] = defaultdict(list)
    with progress("Hashing images", len(names)) as bar:
        for name in names:
            digest = hashlib.sha256((images / name).read_bytes()).hexdigest()
            copies[digest].append(name)
            splits[name] = given.get(name) or _hashed_split(f"{seed}:{digest}", dev, test)
            bar.advance()
    notes = []
    groups = [group for group in copies.values() if len(group) > 1]
    if groups:
        notes.append(f"{sum(map(len, groups))} images are byte-identical copies of one another ({', '.join(groups[0][:2])}, …).")
    across = [group for group in groups if len({splits[name] for name in group}) > 1]
    if across:
        notes.append(f"WARNING: the table puts identical images into different splits: {', '.join(across[0])}, …")
    empty = [split for split in ("train", "dev", "test") if split not in splits.values()]
    if empty:
        notes.append(f"No image fell into: {', '.join(empty)}. Give a split column, or another seed.")
    return splits, notes


def _hashed_split(key: str, dev: float, test: float) -> str:
    place = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64
    if place < test:
        return "test"
    return "dev" if place < test + dev else "train"


def _uncaptioned(images: Path, captioned: set[str]) -> list[str]:
    endings = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
    files = (path for path in images.rglob("*") if path.suffix.lower() in endings)
    without = sorted(str(path.relative_to(images)) for path in files if str(path.relative_to(images)) not in captioned)
    return [f"{len(without)} images have no caption and are left out ({without[0]}, …)."] if without else []
