"""What the readers of published caption files share: one-line captions, checked JSON, photos at hand or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from vse_zoo.data.picture_files import PictureFiles
from vse_zoo.data.records import Record
from vse_zoo.errors import DataError, located

__all__ = ["Captions", "image_source", "member", "one_line", "photo_files", "with_photos"]

T = TypeVar("T")

# Everything that str.splitlines would split at, with the spaces around it.
_BREAK = re.compile("[ \t]*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+\\s*")
_KINDS = {dict: "an object", list: "a list", str: "text", int: "a whole number"}


def one_line(text: str) -> str:
    """The text without spaces at its ends, every line break in it a single space; other spacing stays."""
    return _BREAK.sub(" ", text.strip())


@dataclass
class Captions:
    """Takes in captions and remembers what was left out.

    Args:
        empty: captions without a word, so far.
        silent: names of images without a caption, so far.
    """

    empty: int = 0
    silent: list[str] = field(default_factory=list)

    def of(self, image: str, texts: Iterable[str]) -> list[str]:
        """The image's captions, a line each, empty ones left out."""
        cleaned = [one_line(text) for text in texts]
        kept = [text for text in cleaned if text]
        self.empty += len(cleaned) - len(kept)
        if not kept:
            self.silent.append(image)
        return kept

    @property
    def notes(self) -> list[str]:
        """What was left out, a sentence each."""
        notes = [f"{self.empty} captions are empty and are left out."] if self.empty else []
        if self.silent:
            notes.append(f"{len(self.silent)} images have no caption and are left out ({self.silent[0]}, …).")
        return notes


def member(path: Path, value: Any, place: str, key: str, kind: type[T]) -> T:
    """``value[key]`` of a JSON file, which must be of that kind.

    Args:
        path: the file, for messages.
        value: what must be an object with that key.
        place: where the value stands in the file, such as ``images[3]``; empty for the whole.
        key: of the member.
        kind: dict, list, str or int.

    Raises:
        DataError: the value isn't an object, has no such key, or the member is of another kind or isn't valid Unicode.
    """
    if not isinstance(value, dict):
        raise DataError(located(path, f"found {_short(value)}, expected an object.", field=place or None))
    if key not in value:
        raise DataError(located(path, f"found no {key!r}, expected {_KINDS[kind]}.", field=place or None))
    found, name = value[key], f"{place}.{key}".removeprefix(".")
    if type(found) is not kind:
        raise DataError(located(path, f"found {_short(found)}, expected {_KINDS[kind]}.", field=name))
    if isinstance(found, str) and not found.isascii() and re.search("[\ud800-\udfff]", found):
        raise DataError(located(path, f"found {_short(found)}, expected valid Unicode.", field=name))
    return found


def image_source(images: Path | None) -> dict[str, Any]:
    """Where a dataset's pictures come from: the folder given, or nowhere; a `DataError` if the folder isn't there."""
    if images is None:
        return {"kind": "none"}
    if not images.is_dir():
        raise DataError(located(images, "no such folder.", field="images"))
    return {"kind": "folder", "root": str(images.resolve())}


def photo_files(names: Iterable[str], images: Path | None) -> tuple[dict[str, str], list[str]]:
    """The file below ``images`` that each name means, by `vse_zoo.data.picture_files`; a note on names spelt otherwise.

    Without ``images`` the names stay as they are. A `DataError` counts the names that mean no file.
    """
    names = list(dict.fromkeys(names))
    if images is None:
        return {name: name for name in names}, []
    files = PictureFiles(images)
    return files.resolve(names), files.notes


def with_photos(records: Sequence[Record], images: Path | None) -> tuple[list[Record], list[str]]:
    """The records named by their files, and the note, as of `photo_files`."""
    files, notes = photo_files((record.image for record in records), images)
    return [replace(record, image=files[record.image]) for record in records], notes


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
