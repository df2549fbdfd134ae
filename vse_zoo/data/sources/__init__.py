"""Readers of raw data, one public format a file: add a file with a ``@source`` function and the command line has it.

A source's parameters are annotated ``Annotated[type, "help"]``: `vse-zoo prepare NAME` makes its options from them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from vse_zoo.data.dataset import Dataset, write_dataset
from vse_zoo.data.kept import KeptRegions
from vse_zoo.data.records import Record
from vse_zoo.data.two_view import TwoViewData, write_two_view
from vse_zoo.data.two_view.array_files import Matrix
from vse_zoo.errors import DataError

__all__ = ["Encoding", "Source", "TwoViewSource", "get", "names", "source"]

Encoding = Annotated[
    str | None, "Encoding of text files that aren't UTF-8 and have no byte-order mark, such as windows-1252."
]


@dataclass(frozen=True)
class Source:
    """What a reader of captioned images found.

    Args:
        name: the dataset's.
        records: its images with their captions.
        image_source: where the pictures come from (`vse_zoo.data.write_dataset`).
        languages: all languages, in the order to show them.
        notes: what was left out or is odd, a sentence each, for people to read.
        regions: region features, where they came with the data, in files that stay where they are.
    """

    name: str
    records: list[Record]
    image_source: dict[str, Any]
    languages: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())
    regions: KeptRegions | None = None

    def write(self, out: Path, *, overwrite: bool = False) -> Dataset:
        """Writes the dataset folder (`vse_zoo.data.write_dataset`)."""
        return write_dataset(
            out,
            self.records,
            name=self.name,
            image_source=self.image_source,
            languages=self.languages,
            overwrite=overwrite,
            regions=self.regions,
        )

    def summary(self, out: Path) -> str:
        """What was found, and the command that comes after writing it to ``out``."""
        splits = _counts(Counter(record.split for record in self.records))
        images = f"{len(self.records):,} images ({splits}) in {', '.join(self.languages)}"
        if self.regions is not None:
            return f"{images}, with features. Next: vse-zoo train optimal_transport --data {out} --out runs/first"
        elsewhere = " --precomputed FILE" if self.image_source["kind"] == "none" else ""
        return f"{images}. Next: vse-zoo features {out}{elsewhere}"


@dataclass(frozen=True)
class TwoViewSource:
    """What a reader of two views found.

    Args:
        name: the data's.
        splits: x (N, x_dim) and y (N, y_dim) of each split.
        origin: where the numbers come from and what was done to them; written with them.
        notes: what was left out or is odd, a sentence each, for people to read.
    """

    name: str
    splits: Mapping[str, tuple[Matrix, Matrix]]
    origin: str
    notes: tuple[str, ...] = field(default=())

    def write(self, out: Path, *, overwrite: bool = False) -> TwoViewData:
        """Writes the two-view folder (`vse_zoo.data.write_two_view`)."""
        return write_two_view(out, self.splits, name=self.name, origin=self.origin, overwrite=overwrite)

    def summary(self, out: Path) -> str:
        """What was found, and the command that comes after writing it to ``out``."""
        splits = {split: x.shape[0] for split, (x, _) in self.splits.items()}
        x, y = next(iter(self.splits.values()))
        views = f"{sum(splits.values()):,} pairs ({_counts(splits)}) of {x.shape[1]} and {y.shape[1]} numbers"
        return f"{views}. Next: vse-zoo train two_way_net --data {out} --out runs/first"


def _counts(splits: Mapping[str, int]) -> str:
    return ", ".join(f"{split} {count:,}" for split, count in splits.items())


Reader = Callable[..., Source | TwoViewSource]
_READERS: dict[str, Reader] = {}
R = TypeVar("R", bound=Reader)


def source(name: str) -> Callable[[R], R]:
    """Registers a reader under the name that the command line shows."""

    def register(reader: R) -> R:
        _READERS[name] = reader
        return reader

    return register


def _discover() -> dict[str, Reader]:
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return _READERS


def names() -> list[str]:
    """The names of all sources."""
    return sorted(_discover())


def get(name: str) -> Reader:
    """The reader of that name; a `DataError` lists the known ones."""
    readers = _discover()
    if name not in readers:
        raise DataError(f"source: found {name!r}, expected one of: {', '.join(sorted(readers))}.")
    return readers[name]
