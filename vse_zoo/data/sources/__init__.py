"""Readers of raw data, one public format a file: add a file with a ``@source`` function and the command line has it.

A source's parameters are annotated ``Annotated[type, "help"]``: `vse-zoo prepare NAME` makes its options from them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from vse_zoo.data.records import Record
from vse_zoo.errors import DataError

__all__ = ["Source", "get", "names", "source"]


@dataclass(frozen=True)
class Source:
    """What a reader found.

    Args:
        name: the dataset's.
        records: its images with their captions.
        image_source: where the pictures come from (`vse_zoo.data.write_dataset`).
        languages: all languages, in the order to show them.
        notes: what was left out or is odd, a sentence each, for people to read.
    """

    name: str
    records: list[Record]
    image_source: dict[str, Any]
    languages: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())


Reader = Callable[..., Source]
_READERS: dict[str, Reader] = {}


def source(name: str) -> Callable[[Reader], Reader]:
    """Registers a reader under the name that the command line shows."""

    def register(reader: Reader) -> Reader:
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
