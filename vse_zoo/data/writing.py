"""Writes the captions of dataset folders; dataset.json comes last, so that a folder that opens is a whole one."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from vse_zoo.data.arrays import BOXES, OFFSETS, REGIONS
from vse_zoo.data.attaching import file_hash
from vse_zoo.data.kept import KeptRegions
from vse_zoo.data.metadata import CAPTIONS, METADATA, checked_metadata
from vse_zoo.data.records import Record
from vse_zoo.data.views import VIEWS
from vse_zoo.errors import DataError, located
from vse_zoo.files import replacing

__all__ = ["write_folder"]


# COCO's 1K test images lie within its 5K, and published features have files of both.
_NESTED = {"test", "testall"}


def write_folder(
    folder: Path,
    records: Iterable[Record],
    *,
    name: str,
    image_source: dict[str, Any],
    languages: Sequence[str],
    overwrite: bool = False,
    regions: KeptRegions | None = None,
) -> None:
    """The work of `vse_zoo.data.dataset.write_dataset`: checks and writes records one by one."""
    _refuse(folder, overwrite)
    info = regions.info(folder) if regions else None
    target = folder / CAPTIONS
    made = not folder.exists()
    try:
        with replacing(target) as temporary:
            with temporary.open("wb") as file:
                facts = _write(target, file, records, set(languages))
            given = {"format": 1, "name": name, "languages": list(languages), "image_source": image_source}
            given |= {**facts, "regions": info and info.model_dump(), "left_out": {}}
            metadata = checked_metadata(folder / METADATA, given)
            # A crash from here on leaves a folder without dataset.json, which is refused as an interrupted write.
            for stale in (METADATA, REGIONS, OFFSETS, BOXES, VIEWS):
                (folder / stale).unlink(missing_ok=True)
        if regions and info and regions.boxes is not None:
            with replacing(folder / BOXES) as temporary:
                np.save(temporary, regions.boxes.astype(np.float32, copy=False))
            hashed = info.model_copy(update={"hashes": {BOXES: file_hash(folder / BOXES)}})
            metadata = metadata.model_copy(update={"regions": hashed})
        metadata.write(folder)
    except BaseException:
        if made and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        raise


def _refuse(folder: Path, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise DataError(located(folder, "found a file, expected a folder.", do="Name another place."))
    ours = (folder / METADATA).exists() or (folder / CAPTIONS).exists()
    if ours and not overwrite:
        do = "Name another folder, or use --overwrite."
        raise DataError(located(folder, "there is a dataset here already.", do=do))
    if folder.exists() and not ours and any(folder.iterdir()):
        raise DataError(located(folder, "is neither empty nor a dataset folder.", do="Name another folder."))


def _write(path: Path, file: BinaryIO, records: Iterable[Record], languages: set[str]) -> dict[str, Any]:
    """Writes every record and returns the fields of dataset.json that follow from them."""
    digest = hashlib.sha256()
    names: dict[str, set[str]] = defaultdict(set)
    splits: Counter[str] = Counter()
    spoken: set[str] = set()
    for row, record in enumerate(records, 1):
        _check(path, row, record, names, languages)
        line = record.line()
        file.write(line)
        digest.update(line)
        names[record.image].add(record.split)
        splits[record.split] += 1
        spoken |= record.captions.keys()
    if not names:
        raise DataError(located(path, "no image with a caption was found.", do="Check the paths given."))
    if silent := sorted(languages - spoken):
        raise DataError(located(path, f"no image has a caption in: {', '.join(silent)}.", field="languages"))
    facts = {"images": splits.total(), "splits": dict(splits)}
    return {**facts, "content_hash": digest.hexdigest(), "captions_bytes": file.tell()}


def _check(path: Path, row: int, record: Record, names: Mapping[str, set[str]], languages: set[str]) -> None:
    field, problem = record.problem() or ("", "")
    if problem:
        raise DataError(located(path, f"image {record.image!r}: found {problem}.", row=row, field=field))
    known = names[record.image]
    if record.split in known or (known and known | {record.split} != _NESTED):
        raise DataError(located(path, f"image {record.image!r} occurs twice.", row=row, do="Keep one of the two."))
    if unknown := sorted(record.captions.keys() - languages):
        problem = f"found {unknown[0]!r}, expected one of: {', '.join(sorted(languages))}."
        raise DataError(located(path, f"image {record.image!r}: {problem}", row=row, field="languages"))
