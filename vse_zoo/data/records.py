"""One image with its captions, and the lines of captions.jsonl."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vse_zoo.errors import DataError, located

__all__ = ["Box", "Phrase", "Record", "leads_out", "read_records"]

Box = tuple[float, float, float, float]

# Languages and splits become parts of layer names, metrics and file names.
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


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

    def problem(self, captions: dict[str, list[str]]) -> str | None:
        """What is wrong with the phrase in an image of these captions, or None."""
        texts = captions.get(self.language, [])
        if not 0 <= self.caption < len(texts):
            return f"a phrase of caption {self.caption} in {self.language!r}, which there isn't"
        length = len(texts[self.caption])
        if not 0 <= self.start < self.end <= length:
            return f"a phrase of characters {self.start} to {self.end} in a caption of {length}"
        bad = [box for box in self.boxes if not (0 <= box[0] < box[2] <= 1 and 0 <= box[1] < box[3] <= 1)]
        return f"the box {bad[0]}" if bad else None


@dataclass(frozen=True)
class Record:
    """An image: its name, its split, its captions per language, and phrases with boxes where known.

    The name is the picture's path below the image root, with forward slashes. A language without a caption is absent.
    """

    image: str
    split: str
    captions: dict[str, list[str]]
    phrases: tuple[Phrase, ...] = field(default=())

    def problem(self) -> tuple[str, str] | None:
        """The field that is wrong and what was found there; None for a good record."""
        if not self.image or leads_out(self.image):
            return "image", f"the name {self.image!r}, expected a path below the image root"
        if not _LABEL.fullmatch(self.split):
            return "split", f"{self.split!r}, expected a name of letters, digits, '_' and '-'"
        if not self.captions:
            return "captions", "none"
        for language, texts in self.captions.items():
            if not _LABEL.fullmatch(language):
                return "captions", f"the language {language!r}, expected a name of letters, digits, '_' and '-'"
            if not texts or not all(text.strip() for text in texts):
                return "captions", f"an empty caption, or an empty list of them, in {language!r}"
        if not _is_unicode("".join([self.image, *(text for texts in self.captions.values() for text in texts)])):
            return "captions", "characters that aren't valid Unicode, in the name or a caption"
        bad = next((problem for phrase in self.phrases if (problem := phrase.problem(self.captions))), None)
        return ("phrases", bad) if bad else None

    def line(self) -> bytes:
        """The record as one line of captions.jsonl, in UTF-8; `from_line` inverts it."""
        value: dict[str, Any] = {"image": self.image, "split": self.split, "captions": self.captions}
        if self.phrases:
            value["phrases"] = [asdict(phrase) for phrase in self.phrases]
        return json.dumps(value, ensure_ascii=False, sort_keys=True).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Record:
        """The record of a line of captions.jsonl; a `ValueError` says what is wrong with any other line."""
        value = json.loads(line)
        try:
            phrases = tuple(_phrase(phrase) for phrase in value.get("phrases", ()))
            image, split = _typed(value["image"], str), _typed(value["split"], str)
            record = cls(image, split, _captions(value["captions"]), phrases)
        except KeyError as error:
            raise ValueError(f"field {error} is missing") from None
        except (TypeError, AttributeError) as error:
            raise ValueError(str(error)) from None
        if problem := record.problem():
            raise ValueError("field '{}': {}".format(*problem))
        return record


def read_records(path: Path) -> list[Record]:
    """Reads captions.jsonl; a damaged line is a `DataError` with its row."""
    records = []
    # Line feeds only: a caption may hold characters that str.splitlines would split at.
    for row, line in enumerate(path.read_bytes().removesuffix(b"\n").split(b"\n"), 1):
        try:
            records.append(Record.from_line(line))
        except ValueError as error:
            problem = f"found no valid record ({error}), expected image, split and captions."
            raise DataError(located(path, problem, row=row, do="Run vse-zoo prepare again.")) from None
    return records


def leads_out(name: str) -> bool:
    """Whether an image's name leads out of the image root. The name counts: a link to a picture elsewhere is fine."""
    return name.startswith("/") or ".." in name.split("/")


def _phrase(value: dict[str, Any]) -> Phrase:
    boxes = tuple(_box(box) for box in value["boxes"])
    caption, start, end = (_typed(value[key], int) for key in ("caption", "start", "end"))
    return Phrase(_typed(value["language"], str), caption, start, end, boxes)


def _box(values: list[float]) -> Box:
    x0, y0, x1, y1 = (float(value) for value in values)
    return x0, y0, x1, y1


def _captions(value: Any) -> dict[str, list[str]]:
    texts = {language: _typed(texts, list) for language, texts in _typed(value, dict).items()}
    return {language: [_typed(text, str) for text in several] for language, several in texts.items()}


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"found {value!r}, expected {kind.__name__}")
    return value


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold the text: it can't hold names of undecodable bytes, or lone halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
