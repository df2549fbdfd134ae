"""Which image of a dataset an id of another program means."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from vse_zoo.errors import DataError, located
from vse_zoo.image_names import respelt, spelling, without_ending

__all__ = ["join"]

_FLICKR = re.compile(r"(\d+)_\w+")
_COCO = re.compile(r"(?:COCO_\w+_)?(\d+)")
_SHOWN = 3

Key = Callable[[str], str | None]
Rule = tuple[Key, Key]
"""Of an image and of an id; they mean one another where both give the same."""


def _silent(remark: str) -> None:
    """Drops a remark."""


def join(
    path: Path, ids: Collection[str], images: Sequence[str], note: Callable[[str], None] = _silent
) -> dict[str, str]:
    r"""The id of every image that has one, {image: id}.

    An id means the image of exactly that name; or of that name without its ending, without its folders, without both;
    or of that Flickr id (``1000092795`` and ``1000092795_ab12.jpg``); or of that COCO number (``391895`` and
    ``COCO_val2014_000000391895.jpg``); the first of these rules under which an image has an id counts. After them come
    the first four once more, now for names that also differ by ``\`` for ``/``, by case or by Unicode form.

    Args:
        path: the file of the ids, for the error.
        ids: different ids.
        images: the dataset's images.
        note: gets one sentence on all images that were joined by the latter rules.

    Raises:
        DataError: an id may mean several images or an image may have several ids, or no image has one.
    """
    joined = {image: image for image in set(ids).intersection(images)}
    exact = _extended(path, joined, _RULES, ids, images)
    joined = _extended(path, exact, _LOOSE_RULES, ids, images)
    if loose := {name: image for image, name in joined.items() if image not in exact}:
        note(respelt(loose, f"ids of {path.name} and images"))
    if not joined:
        problem = f"found ids such as {_some(ids)}, expected the dataset's images such as {_some(images)}."
        raise DataError(located(path, problem, do="Rename one side."))
    return joined


def _extended(
    path: Path, joined: dict[str, str], rules: Iterable[Rule], ids: Collection[str], images: Sequence[str]
) -> dict[str, str]:
    for rule in rules:
        if len(joined) < len(images):
            taken = set(joined.values())
            joined = joined | _joined_by(path, rule, [name for name in ids if name not in taken], images, joined)
    return joined


def _joined_by(
    path: Path, rule: Rule, free: Iterable[str], images: Sequence[str], joined: Collection[str]
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


def _without_folder(name: str) -> str:
    return name.rpartition("/")[2]


def _stem(name: str) -> str:
    return without_ending(_without_folder(name))


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


# Of two Flickr ids one has to be bare: names that go on differently after the same digits are of different pictures.
_RULES: tuple[Rule, ...] = (
    (without_ending, without_ending),
    (_without_folder, _without_folder),
    (_stem, _stem),
    (_flickr, _bare),
    (_bare, _flickr),
    (_coco, _coco),
)


def _loose(key: Callable[[str], str]) -> Rule:
    def loose(name: str) -> str:
        return key(spelling(name))

    return loose, loose


_LOOSE_RULES: tuple[Rule, ...] = (
    (spelling, spelling),
    _loose(without_ending),
    _loose(_without_folder),
    _loose(_stem),
)
