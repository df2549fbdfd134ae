"""Boxes of Flickr30k Entities: an XML file an image, as of Pascal VOC, whose objects are named by chain ids."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from vse_zoo.data.records import Box
from vse_zoo.data.sources.flickr30k_entities.markup import Element, parse_xml
from vse_zoo.errors import DataError, located

__all__ = ["read_boxes"]


def read_boxes(path: Path) -> dict[str, tuple[Box, ...]]:
    """The boxes of each chain, relative to the picture; () for a chain marked as a scene or as having no box.

    The file counts pixels from 1 and includes the last one: xmin to xmax of a picture of width W become the edges
    (xmin − 1)/W and xmax/W. A box may go over the picture's edge by one pixel, which is cut off.

    Raises:
        DataError: the file isn't such XML, or a number is missing or impossible; its line and field are named.
    """
    root = parse_xml(path)
    size = _only(path, root, "size")
    width, height = (_number(path, size, side) for side in ("width", "height"))
    if not (width > 0 and height > 0):
        problem = f"found {width} × {height} pixels, expected at least 1 × 1."
        raise DataError(located(path, problem, row=size.row, field="size"))
    boxes: dict[str, list[Box]] = defaultdict(list)
    for thing in root.all("object"):
        names = [name.text.strip() for name in thing.all("name")]
        found = [_relative(path, each, width, height) for each in thing.all("bndbox")]
        if not names or not all(names):
            raise DataError(located(path, "found no chain id.", row=thing.row, field="name"))
        if not (found or thing.all("scene") or thing.all("nobndbox")):
            problem = "found neither a box nor that there is none (scene, nobndbox)."
            raise DataError(located(path, problem, row=thing.row, field="bndbox"))
        for name in names:
            boxes[name] += found
    return {name: tuple(several) for name, several in boxes.items()}


def _relative(path: Path, box: Element, width: int, height: int) -> Box:
    x0, x1 = _edges(path, box, "x", width)
    y0, y1 = _edges(path, box, "y", height)
    return x0, y0, x1, y1


def _edges(path: Path, box: Element, axis: str, size: int) -> tuple[float, float]:
    first, last = (_number(path, box, axis + end) for end in ("min", "max"))
    low, high = max(first, 1), min(last, size)
    if first < 0 or last > size + 1 or low > high:
        problem = f"found {first} to {last}, expected pixels from 1 to {size}, the lower one first."
        raise DataError(located(path, problem, row=box.row, field=f"{axis}min, {axis}max"))
    return (low - 1) / size, high / size


def _number(path: Path, parent: Element, tag: str) -> int:
    element = _only(path, parent, tag)
    try:
        return int(element.text)
    except ValueError:
        problem = f"found {element.text.strip()[:40]!r}, expected a whole number."
        raise DataError(located(path, problem, row=element.row, field=tag)) from None


def _only(path: Path, parent: Element, tag: str) -> Element:
    found = parent.all(tag)
    if len(found) != 1:
        problem = f"found {len(found)} elements <{tag}> in <{parent.tag}>, expected one."
        raise DataError(located(path, problem, row=parent.row, field=tag))
    return found[0]
