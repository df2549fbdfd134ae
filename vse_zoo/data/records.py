"""One image with its captions, and the lines of captions.jsonl."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vse_zoo.errors import DataError, located

__all__ = ["Phrase", "Record", "read_records"]

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Phrase:
    """Words of a caption that name something in the picture.

    Args:
        language, caption: which caption of the image, by number.
        start, end: the words' characters, ``text[start:end]``.
        boxes: what they name, each (x0, y0, x1, y1) relative to the picture's width and height, in [0, 1].
    """

    language: str
    caption: int
    start: int
    end: int
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class Record:
    """An image: its name, its split, its captions per language, and phrases with boxes where known."""

    image: str
    split: str
    captions: dict[str, list[str]]
    phrases: tuple[Phrase, ...] = field(default=())

    def line(self) -> str:
        """The record as one line of captions.jsonl."""
        value: dict[str, Any] = {"image": self.image, "split": self.split, "captions": self.captions}
        if self.phrases:
            value["phrases"] = [vars(phrase) for phrase in self.phrases]
        return json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Record:
        """The record of a parsed line."""
        phrases = tuple(
            Phrase(**{**phrase, "boxes": tuple(tuple(box) for box in phrase["boxes"])})
            for phrase in value.get("phrases", ())
        )
        return cls(value["image"], value["split"], value["captions"], phrases)


def read_records(path: Path) -> list[Record]:
    """Reads captions.jsonl; a damaged line is a `DataError` with its row."""
    records = []
    with path.open(encoding="utf-8") as lines:
        for row, line in enumerate(lines, 1):
            try:
                records.append(Record.from_json(json.loads(line)))
            except (KeyError, TypeError, ValueError) as error:
                problem = f"found no valid record ({error}), expected image, split and captions."
                raise DataError(located(path, problem, row=row, do="Run vse-zoo prepare again.")) from None
    return records


def check_records(records: Iterable[Record], name: str) -> list[Record]:
    """The records, if every image is named once and holds a caption; a `DataError` otherwise."""
    checked: dict[str, Record] = {}
    for record in records:
        if record.image in checked:
            raise DataError(located(name, f"image {record.image!r} occurs twice.", do="Keep one of the two."))
        if not any(record.captions.values()):
            raise DataError(located(name, f"image {record.image!r} has no caption.", do="Leave it out, or caption it."))
        checked[record.image] = record
    if not checked:
        raise DataError(located(name, "no image with a caption was found.", do="Check the paths given."))
    return list(checked.values())
