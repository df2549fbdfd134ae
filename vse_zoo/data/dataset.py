"""The dataset folder: captions, splits, and region features mapped into memory."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vse_zoo.data.arrays import Regions, open_array
from vse_zoo.data.pictures import open_picture
from vse_zoo.data.records import Record, check_records, read_records
from vse_zoo.errors import DataError, located
from vse_zoo.files import read_json, write_json, write_text

__all__ = ["Dataset", "write_dataset"]

_FORMAT = 1
_FIELDS = ("name", "images", "languages", "splits", "content_hash", "captions_bytes", "image_source", "left_out")


class Dataset:
    """An opened dataset folder; opening reads dataset.json and array headers only, whatever the size.

    Args:
        path: the folder.

    Raises:
        DataError: the folder is not one, or is damaged; the message says what and where.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._meta = _read_meta(self.path)
        self.name: str = self._meta["name"]
        self.languages: tuple[str, ...] = tuple(self._meta["languages"])
        self.splits: dict[str, int] = self._meta["splits"]
        self.content_hash: str = self._meta["content_hash"]
        self.image_source: dict[str, Any] = self._meta["image_source"]
        self.left_out: dict[str, str] = self._meta["left_out"]
        description = self._meta.get("regions")
        self._regions = Regions(self.path, description, len(self)) if description else None

    @classmethod
    def open(cls, path: str | Path) -> Dataset:
        """Opens a folder; the same as the constructor."""
        return cls(path)

    def __len__(self) -> int:
        """The number of images, those left out included."""
        return int(self._meta["images"])

    @property
    def arrays(self) -> Regions:
        """The region features; a `DataError` if they were not extracted yet."""
        if self._regions is None:
            do = f"Run: vse-zoo features {self.path}"
            raise DataError(located(self.path, "this dataset has no region features yet.", do=do))
        return self._regions

    @property
    def has_regions(self) -> bool:
        """Whether region features were attached."""
        return self._regions is not None

    @property
    def region_dim(self) -> int:
        """Length D of a region's feature vector."""
        return self.arrays.dim

    @property
    def grid(self) -> tuple[int, ...] | None:
        """(rows, columns) if the regions are a grid over the picture."""
        return self.arrays.grid

    @cached_property
    def records(self) -> list[Record]:
        """All images with their captions, in row order."""
        records = read_records(self.path / "captions.jsonl")
        if len(records) != len(self):
            problem = f"found {len(records)} images, dataset.json says {len(self)}."
            raise DataError(located(self.path / "captions.jsonl", problem, do="Run vse-zoo prepare again."))
        return records

    @property
    def image_names(self) -> list[str]:
        """The images' names, in row order."""
        return [record.image for record in self.records]

    @cached_property
    def _split_rows(self) -> dict[str, np.ndarray]:
        rows: dict[str, list[int]] = {split: [] for split in self.splits}
        for row, record in enumerate(self.records):
            if record.image not in self.left_out:
                rows[record.split].append(row)
        return {split: np.array(numbers, np.int64) for split, numbers in rows.items()}

    def indices(self, split: str) -> np.ndarray:
        """(N,) int64 rows of a split's images, those without features left out; a `DataError` for an unknown split."""
        if split not in self.splits:
            problem = f"split: found {split!r}, expected one of: {', '.join(self.splits)}."
            raise DataError(located(self.path, problem))
        return self._split_rows[split]

    def captions(self, split: str, language: str) -> tuple[list[str], np.ndarray]:
        """A split's captions of one language, and the (M,) rows of their images."""
        if language not in self.languages:
            problem = f"language: found {language!r}, expected one of: {', '.join(self.languages)}."
            raise DataError(located(self.path, problem))
        rows = self.indices(split)
        texts = [self.records[row].captions.get(language, []) for row in rows]
        return [text for several in texts for text in several], np.repeat(rows, [len(several) for several in texts])

    def regions(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(B,) rows to (B, R, D) features in the stored precision and a (B, R) bool mask, True on real regions."""
        return self.arrays.gather(np.asarray(rows))

    def boxes(self, row: int) -> np.ndarray | None:
        """(R, 4) boxes of an image's regions, relative (x0, y0, x1, y1), or None."""
        return self.arrays.boxes_of(row)

    def open_image(self, row: int) -> Image.Image:
        """The picture of a row, RGB; an `ImageError` if it can't be read."""
        return open_picture(self.image_source, self.records[row].image)

    def verify(self) -> None:
        """Hashes the captions and every array again; a `DataError` names the first that changed."""
        captions = self.path / "captions.jsonl"
        if _sha256(captions) != self.content_hash:
            raise DataError(located(captions, "its content is not what was prepared.", do="Run vse-zoo prepare again."))
        for name, digest in (self._meta.get("regions") or {}).get("hashes", {}).items():
            if _sha256(self.path / name) != digest:
                raise DataError(located(self.path / name, "its content has changed.", do="Run vse-zoo features again."))

    def attach_regions(
        self,
        regions: Path,
        boxes: Path | None,
        *,
        backbone: str,
        grid: Sequence[int] | None,
        left_out: dict[str, str],
        offsets: Path | None = None,
    ) -> Dataset:
        """Moves finished arrays into the folder and opens it again; dataset.json is replaced last.

        Args:
            regions: .npy file (N, R, D), or (total, D) with ``offsets``.
            boxes: .npy file of the same leading shape, 4 numbers a region, or None.
            backbone: what computed the features.
            grid: (rows, columns) if the regions are a grid.
            left_out: images without features, and why.
            offsets: .npy file (N + 1,) int64.
        """
        array = open_array(regions)
        description: dict[str, Any] = {
            "dtype": str(array.dtype),
            "dim": array.shape[-1],
            "count": None if offsets else array.shape[1],
            "boxes": boxes is not None,
            "backbone": backbone,
            "grid": list(grid) if grid else None,
        }
        sources = {"regions.npy": regions, "boxes.npy": boxes, "offsets.npy": offsets}
        present = {name: source for name, source in sources.items() if source is not None}
        description["hashes"] = {name: _sha256(source) for name, source in present.items()}
        write_json(self.path / "dataset.json", {**self._meta, "regions": None})
        for name, source in present.items():
            os.replace(source, self.path / name)
        write_json(self.path / "dataset.json", {**self._meta, "regions": description, "left_out": left_out})
        return Dataset(self.path)


def write_dataset(
    path: str | Path,
    records: Iterable[Record],
    *,
    name: str,
    image_source: dict[str, Any],
    languages: Sequence[str],
    overwrite: bool = False,
) -> Dataset:
    """Writes captions.jsonl and dataset.json of a new folder; region features come later (`Dataset.attach_regions`).

    Args:
        path: the folder to make.
        records: the images, each once, each with a caption.
        name: the dataset's.
        image_source: where pictures come from: ``{"kind": "folder", "root": …}`` or ``{"kind": "scenes", "seed": …}``.
        languages: all languages, in the order to show them.
        overwrite: replace a dataset that is there already.

    Raises:
        DataError: the folder holds a dataset already, or the records are unusable. Nothing is written then.
    """
    folder = Path(path)
    if (folder / "dataset.json").exists() and not overwrite:
        raise DataError(located(folder, "there is a dataset here already.", do="Name another folder, or use --overwrite."))
    checked = check_records(records, str(folder))
    text = "".join(record.line() for record in checked)
    (folder / "dataset.json").unlink(missing_ok=True)
    write_text(folder / "captions.jsonl", text)
    content = text.encode()
    meta = {
        "format": _FORMAT,
        "name": name,
        "images": len(checked),
        "languages": list(languages),
        "splits": dict(Counter(record.split for record in checked)),
        "content_hash": hashlib.sha256(content).hexdigest(),
        "captions_bytes": len(content),
        "image_source": image_source,
        "regions": None,
        "left_out": {},
    }
    write_json(folder / "dataset.json", meta)
    return Dataset(folder)


def _read_meta(folder: Path) -> dict[str, Any]:
    path = folder / "dataset.json"
    if not path.is_file():
        raise DataError(located(folder, "not a dataset folder (no dataset.json).", do="Make one: vse-zoo prepare --help"))
    meta = read_json(path)
    if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
        raise DataError(located(path, f"found another format than {_FORMAT}.", field="format"))
    missing = [field for field in _FIELDS if field not in meta]
    if missing:
        raise DataError(located(path, "the field is missing.", field=missing[0], do="Run vse-zoo prepare again."))
    captions = folder / "captions.jsonl"
    size = captions.stat().st_size if captions.is_file() else -1
    if size != meta["captions_bytes"]:
        found = "the file is missing" if size < 0 else f"found {size} bytes, expected {meta['captions_bytes']}"
        raise DataError(located(captions, f"{found}.", do="Run vse-zoo prepare again."))
    return meta


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
