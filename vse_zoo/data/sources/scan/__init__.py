"""Folders of precomputed features as of SCAN (Lee et al., ECCV 2018), VSE++, VSRN, SGRAF: read where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from vse_zoo.data.kept import KeptFile, KeptRegions
from vse_zoo.data.npy import open_npy
from vse_zoo.data.records import Record
from vse_zoo.data.sources import Encoding, Source, source
from vse_zoo.data.sources.published import image_source, photo_files
from vse_zoo.data.sources.scan.boxes import boxes_file, relative_boxes
from vse_zoo.data.sources.scan.ids import image_ids
from vse_zoo.data.sources.scan.layout import Layout, find_layout
from vse_zoo.data.tables import lines
from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json

__all__ = ["read_scan"]

_SPLITS = ("train", "dev", "test", "testall")


@dataclass(frozen=True)
class _Split:
    name: str
    features: Path
    layout: Layout
    texts: list[str]
    ids: list[str] | None


@source("scan")
def read_scan(
    folder: Annotated[Path, "Folder of train_ims.npy, train_caps.txt, …; the features stay there, uncopied."],
    images: Annotated[Path | None, "Folder of the pictures; without it there are features only."] = None,
    image_names: Annotated[
        Path | None, "JSON object {id: picture}, as id_mapping.json; without it the picture of an id is id.jpg."
    ] = None,
    language: Annotated[str, "Language of the captions."] = "en",
    encoding: Encoding = None,
) -> Source:
    """Precomputed region features in the layout of SCAN, with one row an image or one a caption.

    Example: vse-zoo prepare scan data/f30k --folder f30k_precomp
    """
    splits = [_read(folder, split, encoding) for split in _SPLITS if (folder / f"{split}_ims.npy").is_file()]
    if not splits:
        problem = "found no train_ims.npy, dev_ims.npy, test_ims.npy or testall_ims.npy."
        raise DataError(located(folder, problem if folder.is_dir() else "no such folder.", field="folder"))
    if image_names is not None and images is None:
        raise DataError("image_names: found names, but no folder of pictures. Add --images.")
    pictures = image_source(images)
    mapping = _mapping(image_names) if image_names else None
    names = [_pictures(folder, split, mapping, images) if images else _numbered(split) for split in splits]
    files, respelt = photo_files((name for several in names for name in several), images)
    named = zip(splits, ([files[name] for name in several] for several in names), strict=True)
    records = [record for split, own in named for record in _records(split, own, language)]
    boxes, notes = _boxes(folder, splits)
    parts = [KeptFile(split.features, split.layout.images, split.layout.stride) for split in splits]
    regions = KeptRegions(parts, boxes, f"precomputed: {folder.resolve().name}")
    regions.info()
    notes = [*map(_described, splits), *_absent(folder), *respelt, *notes]
    return Source(folder.resolve().name, records, pictures, (language,), tuple(notes), regions)


def _read(folder: Path, split: str, encoding: str | None) -> _Split:
    features, captions = folder / f"{split}_ims.npy", folder / f"{split}_caps.txt"
    texts = [text.strip() for text in lines(captions, encoding)]
    if "" in texts:
        raise DataError(located(captions, "found an empty line, expected a caption.", row=texts.index("") + 1))
    layout = find_layout(features, captions, len(texts))
    return _Split(split, features, layout, texts, image_ids(folder / f"{split}_ids.txt", layout, encoding))


def _records(split: _Split, names: Sequence[str], language: str) -> list[Record]:
    size = split.layout.captions
    starts = range(0, len(split.texts), size)
    return [
        Record(name, split.name, {language: split.texts[start : start + size]})
        for name, start in zip(names, starts, strict=True)
    ]


def _numbered(split: _Split) -> list[str]:
    """Names without pictures. Some folders count the ids of every split from 0: the split makes them different."""
    return [f"{split.name}/{name}" for name in split.ids or range(split.layout.images)]


def _mapping(path: Path) -> dict[str, str]:
    found = read_json(path)
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found.values()):
        raise DataError(located(path, "found no JSON object of texts, expected {id: picture, …}."))
    return found


def _pictures(folder: Path, split: _Split, mapping: dict[str, str] | None, images: Path) -> list[str]:
    """The pictures of a split's ids: that of id 7 is 7.jpg, or else the file that ``7`` means."""
    path = folder / f"{split.name}_ids.txt"
    if split.ids is None:
        problem = "found no id of each image, which would name its picture."
        raise DataError(located(path, problem, do="Leave --images out, or write one id a line, an image each."))
    if mapping is None:
        return [f"{name}.jpg" if (images / f"{name}.jpg").is_file() else name for name in split.ids]
    if missing := next((name for name in split.ids if name not in mapping), None):
        raise DataError(located(path, f"found the id {missing!r}, which has no picture in --image-names."))
    return [mapping[name] for name in split.ids]


def _boxes(folder: Path, splits: Sequence[_Split]) -> tuple[np.ndarray | None, list[str]]:
    """All images' boxes, where every split has a file of them; a note if only some have."""
    paths = {split.name: path for split in splits if (path := boxes_file(folder, split.name))}
    without = [split.name for split in splits if split.name not in paths]
    if without:
        return None, [f"Boxes are left out: there are none for {', '.join(without)}."] if paths else []
    parts = []
    for split in splits:
        array = open_npy(split.features)
        regions = array.shape[1] if array.ndim == 3 else 1
        parts.append(relative_boxes(paths[split.name], split.name, split.layout, regions))
    return np.concatenate(parts), []


def _described(split: _Split) -> str:
    layout = split.layout
    rows = f"one row of {split.features.name} each" if layout.stride == 1 else f"each in {layout.stride} equal rows"
    several = "caption" if layout.captions == 1 else "captions"
    return f"{split.name}: {layout.images:,} images, {rows}, {layout.captions} {several} an image."


def _absent(folder: Path) -> list[str]:
    notes = [
        f"{split}_caps.txt is left out: there is no {split}_ims.npy."
        for split in _SPLITS
        if (folder / f"{split}_caps.txt").is_file() and not (folder / f"{split}_ims.npy").is_file()
    ]
    missing = [split for split in ("train", "dev") if not (folder / f"{split}_ims.npy").is_file()]
    return notes + [f"There is no {split} split, which training needs." for split in missing]
