"""One's own pictures: a folder of images and a table of captions."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from pathlib import Path, PurePosixPath
from typing import Annotated

from vse_zoo.data.picture_files import PictureFiles
from vse_zoo.data.records import Record, leads_out
from vse_zoo.data.sources import Encoding, Source, source
from vse_zoo.data.tables import Row, table_rows
from vse_zoo.errors import DataError, located
from vse_zoo.image_names import ENDINGS, printable
from vse_zoo.progress import progress

__all__ = ["read_folder"]

# A language names files of a model and metrics of its training.
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_SPLITS = {"train": "train", "dev": "dev", "val": "dev", "validation": "dev", "test": "test"}


@source("folder")
def read_folder(
    images: Annotated[Path, "Folder of the images."],
    captions: Annotated[Path, "CSV, TSV or JSONL with columns image, caption and, if you like, language and split."],
    language: Annotated[str, "Language of rows that name none."] = "en",
    dev: Annotated[float, "Share of images for the dev split, where the table gives no split."] = 0.1,
    test: Annotated[float, "Share of images for the test split, where the table gives no split."] = 0.1,
    seed: Annotated[int, "Another seed gives other splits."] = 0,
    encoding: Encoding = None,
) -> Source:
    """Your own images, for example: vse-zoo prepare folder data/mine --images photos --captions captions.csv.

    Images without a split go to train, dev or test by a seeded hash of their bytes: identical files stay together.
    """
    if not images.is_dir():
        raise DataError(located(images, "no such folder.", field="images"))
    if not _LANGUAGE.fullmatch(language):
        raise DataError(f"language: found {language!r}, expected a short name such as en.")
    if not (0 <= dev < 1 and 0 <= test < 1 and dev + test < 1):
        raise DataError(f"dev, test: found {dev} and {test}, expected shares that leave some images for training.")
    notes: list[str] = []
    found = _Captions(PictureFiles(images), language)
    for row in table_rows(captions, ("image", "caption"), ("language", "split"), encoding, notes.append):
        found.add(row)
    if not found.texts:
        raise DataError(located(captions, "no row follows the header, expected an image and a caption a row."))
    notes += found.notes
    splits, more = _complete(found.splits, images, sorted(found.texts), dev, test, seed)
    records = [Record(name, splits[name], dict(found.texts[name])) for name in sorted(found.texts)]
    languages = tuple(dict.fromkeys(key for record in records for key in record.captions))
    notes += more + _uncaptioned(images, set(found.texts))
    root = images.resolve()
    return Source(root.name, records, {"kind": "folder", "root": str(root)}, languages, tuple(notes))


class _Captions:
    """Takes in rows: the texts of each image by language, and the splits that are given."""

    def __init__(self, files: PictureFiles, language: str) -> None:
        self._files, self._language = files, language
        self._repeated = 0
        self.texts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self.splits: dict[str, str] = {}

    def add(self, row: Row) -> None:
        """A caption; a `DataError` where the row names no image of the folder, or an impossible language or split."""
        name = self._image(row)
        self._set_split(row, name)
        language = row.values["language"] or self._language
        if not _LANGUAGE.fullmatch(language):
            raise row.error(f"found {language!r}, expected a short name such as en.", "language")
        known = self.texts[name][language]
        self._repeated += row.values["caption"] in known
        if row.values["caption"] not in known:
            known.append(row.values["caption"])

    @property
    def notes(self) -> list[str]:
        """What is odd so far, a sentence each."""
        repeated = [f"{self._repeated} rows repeat a caption of the same image: kept once."] if self._repeated else []
        return self._files.notes + repeated

    def _image(self, row: Row) -> str:
        """The file that a row names."""
        name, do = row.values["image"], "Name images relative to the image folder, or remove the row."
        # The name is judged, not where it resolves to: a folder of links to pictures elsewhere is fine.
        if leads_out(PurePosixPath(name).as_posix()) or leads_out(name.replace("\\", "/")):
            raise row.error(f"{name!r} leads out of {self._files.root}.", "image", do)
        found = self._files.find(name)
        if not found:
            raise row.error(f"there is no file {self._files.root / name}.", "image", do)
        if len(found) > 1:
            raise row.error(f"{name!r} may mean {found[0]!r} or {found[1]!r}.", "image", "Write the file's exact name.")
        return found[0]

    def _set_split(self, row: Row, name: str) -> None:
        split = row.values["split"]
        if not split:
            return
        if split.lower() not in _SPLITS:
            raise row.error(f"found {split!r}, expected train, dev (or val) or test.", "split")
        if self.splits.setdefault(name, _SPLITS[split.lower()]) != _SPLITS[split.lower()]:
            problem = f"found {split!r}, but an earlier row puts {name!r} into {self.splits[name]!r}."
            raise row.error(problem, "split", "Give every image one split.")


def _complete(
    given: dict[str, str], images: Path, names: list[str], dev: float, test: float, seed: int
) -> tuple[dict[str, str], list[str]]:
    """A split for every image: the given one, that of an identical image, or one by the hash of its bytes."""
    copies: dict[str, list[str]] = defaultdict(list)
    with progress("Hashing images", len(names)) as bar:
        for name in names:
            copies[hashlib.sha256((images / name).read_bytes()).hexdigest()].append(name)
            bar.advance()
    splits: dict[str, str] = {}
    for digest, group in copies.items():
        common = next((given[name] for name in group if name in given), _hashed_split(f"{seed}:{digest}", dev, test))
        splits |= {name: given.get(name, common) for name in group}
    notes = []
    groups = [group for group in copies.values() if len(group) > 1]
    if groups:
        count = sum(map(len, groups))
        notes.append(f"{count} images are byte-identical copies of one another ({', '.join(groups[0][:2])}, …).")
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
    files = {path.relative_to(images).as_posix() for path in images.rglob("*") if path.suffix.lower() in ENDINGS}
    without = sorted(files - captioned)
    return [f"{len(without)} images have no caption and are left out ({printable(without[0])}, …)."] if without else []
