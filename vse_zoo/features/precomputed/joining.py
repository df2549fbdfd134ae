"""Which image of a dataset an id of another program means."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from vse_zoo.errors import DataError, located

__all__ = ["join"]

_PICTURE = re.compile(r"\.(jpe?g|png|gif|bmp|webp|tiff?)$", re.IGNORECASE)
_FLICKR = re.compile(r"(\d+)_\w+")
_COCO = re.compile(r"(?:COCO_\w+_)?(\d+)")
_SHOWN = 3

Key = Callable[[str], str | None]


def join(path: Path, ids: Collection[str], images: Sequence[str]) -> dict[str, str]:
    """The id of every image that has one, {image: id}.

    An id means the image of exactly that name; or of that name without its ending, without its folders, without both;
    or of that Flickr id (``1000092795`` and ``1000092795_ab12.jpg``); or of that COCO number (``391895`` and
    ``COCO_val2014_000000391895.jpg``); the first of these rules under which an image has an id counts.

    Args:
        path: the file of the ids, for the error.
        ids: different ids.
        images: the dataset's images.

    Raises:
        DataError: an id may mean several images or an image may have several ids, or no image has one.
    """
    joined = {image: image for image in set(ids).intersection(images)}
    for rule in _RULES:
        if len(joined) < len(images):
            taken = set(joined.values())
            joined |= _joined_by(path, rule, [name for name in ids if name not in taken], images, joined)
    if not joined:
        problem = f"found ids such as {_some(ids)}, expected the dataset's images such as {_some(images)}."
        raise DataError(located(path, problem, do="Rename one side."))
    return joined


def _joined_by(
    path: Path, rule: tuple[Key, Key], free: Iterable[str], images: Sequence[str], joined: Collection[str]
) -> dict[str, str]:
    """The new pairs under one rule. Images joined before count too: an id that may also mean them is ambiguous."""
    named, found = _grouped(rule[0], images), _grouped(rule[1], free)
    pairs = {}
    for value, candidates in found.items():
        meant = named.get(value, [])
        if not any(image not in joined for image in meant):
            continue
        if len(meant) > 1:
            problem = f"found the id {candidates[0]!r}, which may mean {_some(meant)}."
            raise DataError(located(path, problem, do="Use the images' names as ids."))
        if len(candidates) > 1:
            problem = f"found the ids {_some(candidates)}, each of which may mean {meant[0]!r}."
            raise DataError(located(path, problem, do="Use the images' names as ids."))
        pairs[meant[0]] = candidates[0]
    return pairs


def _grouped(key: Key, names: Iterable[str]) -> dict[str, list[str]]:
    groups = defaultdict(list)
    for name in names:
        if (value := key(name)) is not None:
            groups[value].append(name)
    return groups


def _without_ending(name: str) -> str:
    return _PICTURE.sub("", name)


def _without_folder(name: str) -> str:
    return name.rpartition("/")[2]


def _stem(name: str) -> str:
    return _without_ending(_without_folder(name))


def _bare(name: str) -> str | None:
    return stem if (stem := _stem(name)).isdecimal() else None


def _flickr(name: str) -> str | None:
    match = _FLICKR.fullmatch(_stem(name))
    return match[1] if match else None


def _coco(name: str) -> str | None:
    match = _COCO.fullmatch(_stem(name))
    return match[1].lstrip("0") if match else None


def _some(names: Iterable[str]) -> str:
    shown = [repr(name) for _, name in zip(range(_SHOWN), names, strict=False)]
    return ", ".join(shown) or "none"


# (of an image, of an id): they mean one another where both give the same. Of two Flickr ids one has to be bare:
# names that go on differently after the same digits are those of different pictures.
_RULES: tuple[tuple[Key, Key], ...] = (
    (_without_ending, _without_ending),
    (_without_folder, _without_folder),
    (_stem, _stem),
    (_flickr, _bare),
    (_bare, _flickr),
    (_coco, _coco),
)
