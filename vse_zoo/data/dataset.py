"""The dataset folder: captions, splits, and region features read image by image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vse_zoo.data.arrays import BOXES, OFFSETS, REGIONS, Regions
from vse_zoo.data.attaching import check_finite, described, file_hash, move
from vse_zoo.data.kept import KeptRegions
from vse_zoo.data.metadata import CAPTIONS, Metadata, ViewsInfo
from vse_zoo.data.pictures import open_picture
from vse_zoo.data.records import Record, read_records
from vse_zoo.data.views import SPLIT, VIEWS, Views
from vse_zoo.data.writing import write_folder
from vse_zoo.errors import DataError, located

__all__ = ["Dataset", "write_dataset"]

_AGAIN = "Run vse-zoo prepare again."


class Dataset:
    """An opened dataset folder; opening reads dataset.json and array headers only, whatever the size.

    Args:
        path: the folder.

    Raises:
        DataError: the folder is not one, or is damaged; the message says what and where.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._metadata = Metadata.read(self.path)
        self.name = self._metadata.name
        self.languages = tuple(self._metadata.languages)
        self.splits = self._metadata.splits
        self.content_hash = self._metadata.content_hash
        self.image_source: dict[str, Any] = self._metadata.image_source.model_dump()
        self.left_out = self._metadata.left_out
        _check_size(self.path / CAPTIONS, self._metadata.captions_bytes)
        info = self._metadata.regions
        self._regions = Regions(self.path, info, len(self)) if info else None

    @classmethod
    def open(cls, path: str | Path) -> Dataset:
        """Opens a folder; the same as the constructor."""
        return cls(path)

    def __len__(self) -> int:
        """The number of images, those left out included."""
        return self._metadata.images

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

    @property
    def identity(self) -> dict[str, Any]:
        """What a training run records to know the data again."""
        known = {
            "name": self.name,
            "content_hash": self.content_hash,
            "backbone": self.arrays.backbone,
            "grid": list(self.grid or ()),
        }
        return known | ({"views": self._metadata.views.count} if self._metadata.views else {})

    @cached_property
    def views(self) -> Views:
        """Other views of the training pictures; a `DataError` if they were not extracted."""
        if self._metadata.views is None:
            do = f"Run: vse-zoo views {self.path}"
            raise DataError(located(self.path, "this dataset has no views of its training pictures.", do=do))
        return Views(self.path / VIEWS, self._metadata.views.count, self.arrays, len(self.indices(SPLIT)))

    @cached_property
    def records(self) -> list[Record]:
        """All images with their captions, in row order."""
        path = self.path / CAPTIONS
        records = read_records(path)
        # The images of testall may be those of test once more.
        different = len({(record.image, record.split == "testall") for record in records})
        if different != len(self):
            problem = f"found {different} different images, expected {len(self)}."
            raise DataError(located(path, problem, do=_AGAIN))
        if Counter(record.split for record in records) != self.splits:
            raise DataError(located(path, "found splits that aren't those of dataset.json.", do=_AGAIN))
        if any(record.captions.keys() - set(self.languages) for record in records):
            raise DataError(located(path, "holds languages that aren't in dataset.json.", do=_AGAIN))
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
        return self.arrays.gather(rows)

    def boxes(self, row: int) -> np.ndarray | None:
        """(R, 4) boxes of an image's regions, relative (x0, y0, x1, y1), or None."""
        return self.arrays.boxes_of(row)

    @property
    def has_pictures(self) -> bool:
        """Whether there are pictures, or only their features."""
        return self.image_source["kind"] != "none"

    def open_image(self, row: int, side: int | None = None) -> Image.Image:
        """The picture of a row, RGB; an `ImageError` if it can't be read, or the dataset has no pictures.

        With ``side`` of a large JPEG no more is decoded than that side needs (`vse_zoo.images.load_image`).
        """
        return open_picture(self.image_source, self.records[row].image, self.path, side)

    def verify(self) -> None:
        """Hashes the captions and every array of the folder again; a `DataError` names the first that changed.

        Of features in files elsewhere no hash is recorded: opening compares their size, date, shape and type, and here
        every number is read, which must be finite.
        """
        regions, views = self._metadata.regions, self._metadata.views
        hashes = {CAPTIONS: self.content_hash, **(regions.hashes if regions else {})}
        for name, digest in {**hashes, **({VIEWS: views.hash} if views else {})}.items():
            if file_hash(self.path / name) != digest:
                command = {CAPTIONS: "prepare", VIEWS: "views"}.get(name, "features")
                raise DataError(
                    located(self.path / name, "its content has changed.", do=f"Run vse-zoo {command} again.")
                )
        if self._metadata.regions and self._metadata.regions.parts:
            for rows in self.arrays.files:
                check_finite(rows)
        _ = self.records

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

        A crash in between leaves the dataset without regions, never with half of them.

        Args:
            regions: .npy file (N, R, D) of float16 or float32, or (total, D) with ``offsets``.
            boxes: .npy file of the same leading shape, 4 float32 a region, or None.
            backbone: what computed the features.
            grid: (rows, columns) if the regions are a grid.
            left_out: images without features, and why.
            offsets: .npy file (N + 1,) int64.

        Raises:
            DataError: an array does not fit the images or holds impossible values. The folder is as it was then.
        """
        given = {REGIONS: regions, OFFSETS: offsets, BOXES: boxes}
        files = {name: Path(path) for name, path in given.items() if path is not None}
        info = described(files, self.image_names, left_out, backbone, grid)
        self._metadata.model_copy(update={"regions": None, "views": None, "left_out": {}}).write(self.path)
        # They were of other features.
        (self.path / VIEWS).unlink(missing_ok=True)
        for name in given:
            if name in files:
                move(files[name], self.path / name)
            else:
                (self.path / name).unlink(missing_ok=True)
        self._metadata.model_copy(update={"regions": info, "views": None, "left_out": left_out}).write(self.path)
        return Dataset(self.path)

    def attach_views(self, views: Path, count: int) -> Dataset:
        """Moves a finished views.npy into the folder and opens it again; dataset.json is replaced last.

        Args:
            views: .npy file as of `vse_zoo.data.views.Views`.
            count: views of each training picture.

        Raises:
            DataError: it does not fit the regions, or holds impossible values. The folder is as it was then.
        """
        Views(views, count, self.arrays, len(self.indices(SPLIT))).check()
        info = ViewsInfo(count=count, hash=file_hash(views))
        self._metadata.model_copy(update={"views": None}).write(self.path)
        move(views, self.path / VIEWS)
        self._metadata.model_copy(update={"views": info}).write(self.path)
        return Dataset(self.path)


def write_dataset(
    path: str | Path,
    records: Iterable[Record],
    *,
    name: str,
    image_source: dict[str, Any],
    languages: Sequence[str],
    overwrite: bool = False,
    regions: KeptRegions | None = None,
) -> Dataset:
    """Writes captions.jsonl and dataset.json of a new folder; region features come later (`Dataset.attach_regions`).

    Features that stay where they are (``regions``) come at once.

    Args:
        path: the folder to make.
        records: the images, each once, each with a caption.
        name: the dataset's.
        image_source: where pictures come from: ``{"kind": "folder", "root": …}``, ``{"kind": "scenes", "seed": …}`` or,
            without pictures, ``{"kind": "none"}``.
        languages: all languages, in the order to show them.
        overwrite: replace a dataset that is there already.
        regions: features of all records that stay in the files they are in.

    Raises:
        DataError: the folder holds a dataset already, or the records or features are unusable. Nothing is written then.
    """
    write_folder(
        Path(path),
        records,
        name=name,
        image_source=image_source,
        languages=languages,
        overwrite=overwrite,
        regions=regions,
    )
    return Dataset(path)


def _check_size(path: Path, expected: int) -> None:
    size = path.stat().st_size if path.is_file() else -1
    if size != expected:
        found = "the file is missing" if size < 0 else f"found {size} bytes, expected {expected}"
        raise DataError(located(path, f"{found}.", do=_AGAIN))
