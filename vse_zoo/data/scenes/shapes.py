"""Masks of the shapes and their patterns, by integer arithmetic alone, so that they are equal on every machine."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from PIL import Image

__all__ = ["masks", "tight_box"]

Grid = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SUPER = 4
"""Samples per pixel side; their integer mean smooths the edges."""
OUTLINE = 3
"""Width of the outline in pixels."""

# Vertices and discs in units: x to the right and y downwards from -1000 to 1000.
POLYGONS = {
    "square": ((-900, -900), (900, -900), (900, 900), (-900, 900)),
    "triangle": ((0, -950), (1000, 850), (-1000, 850)),
    "diamond": ((0, -1000), (680, 0), (0, 1000), (-680, 0)),
    "star": (
        *((0, -1000), (245, -337), (951, -309), (396, 129), (588, 809)),
        *((0, 416), (-588, 809), (-396, 129), (-951, -309), (-245, -337)),
    ),
    "cross": (
        *((-330, -1000), (330, -1000), (330, -330), (1000, -330), (1000, 330), (330, 330)),
        *((330, 1000), (-330, 1000), (-330, 330), (-1000, 330), (-1000, -330), (-330, -330)),
    ),
}
PETALS = ((0, -600), (571, -185), (353, 485), (-353, 485), (-571, -185))


def _inside_polygon(x: Grid, y: Grid, vertices: tuple[tuple[int, int], ...]) -> Mask:
    """Even-odd rule: an edge counts when it passes to the right of the point."""
    inside = np.zeros(x.shape, bool)
    for (x0, y0), (x1, y1) in zip(vertices, vertices[1:] + vertices[:1], strict=True):
        if y0 > y1:
            x0, y0, x1, y1 = x1, y1, x0, y0
        inside ^= (y0 <= y) & (y < y1) & ((x - x0) * (y1 - y0) < (x1 - x0) * (y - y0))
    return inside


def _disc(x: Grid, y: Grid, radius: int, cx: int = 0, cy: int = 0) -> Mask:
    return (x - cx) ** 2 + (y - cy) ** 2 <= radius**2


def _heart(x: Grid, y: Grid) -> Mask:
    """The curve (x² + y² − 1)³ = x² y³, scaled into the square; in units of 1/200 the powers fit int64."""
    across, up = x * 232 // 1000, (-y + 110) * 222 // 1000
    square, unit = across**2 + up**2, 200
    return (square - unit**2) ** 3 <= unit * across**2 * up**3


def _inside(shape: str, x: Grid, y: Grid) -> Mask:
    if shape in POLYGONS:
        return _inside_polygon(x, y, POLYGONS[shape])
    if shape == "circle":
        return _disc(x, y, 970)
    if shape == "ring":
        return _disc(x, y, 1000) & ~_disc(x, y, 520)
    if shape == "moon":
        return _disc(x, y, 1000) & ~_disc(x, y, 860, cx=480, cy=-200)
    if shape == "heart":
        return _heart(x, y)
    petals = np.logical_or.reduce([_disc(x, y, 400, cx, cy) for cx, cy in PETALS])
    return (petals | _disc(x, y, 400)) & ~_disc(x, y, 210)


def _eroded(mask: Mask, radius: int) -> Mask:
    """The points whose whole disc of ``radius`` samples lies in ``mask``."""
    size = mask.shape[0]
    padded = np.pad(mask, radius)
    result = mask.copy()
    for dy in range(-radius, radius + 1):
        reach = next(d for d in range(radius, -1, -1) if d * d + dy * dy <= radius * radius)
        for dx in range(-reach, reach + 1):
            result &= padded[radius + dy : radius + dy + size, radius + dx : radius + dx + size]
    return result


def _marked(pattern: str, columns: Grid, rows: Grid) -> Mask:
    """Where the second colour goes, in samples: bands of 6 in 15 pixels, or dots of radius 4 every 14 pixels."""
    if pattern == "striped":
        return (columns + rows) % (15 * SUPER) < 6 * SUPER
    if pattern == "dotted":
        pitch, row = 14 * SUPER, rows // (14 * SUPER)
        across, down = (columns + (row % 2) * pitch // 2) % pitch - pitch // 2, rows % pitch - pitch // 2
        return across**2 + down**2 <= (4 * SUPER) ** 2
    return np.zeros(columns.shape, bool)


def _image(mask: Mask, side: int) -> Image.Image:
    counts = mask.reshape(side, SUPER, side, SUPER).sum(axis=(1, 3))
    return Image.fromarray((counts * 255 // SUPER**2).astype(np.uint8))


def _samples(side: int) -> tuple[Grid, Grid]:
    """Columns and rows of all samples of a square."""
    rows, columns = np.mgrid[0 : side * SUPER, 0 : side * SUPER].astype(np.int64)
    return columns, rows


@cache
def _outlined(shape: str, side: int) -> tuple[Image.Image, Image.Image, Mask]:
    """The masks that no pattern changes: the whole, and the inside as an image and as samples."""
    x, y = ((2 * samples + 1 - side * SUPER) * 1000 // (side * SUPER) for samples in _samples(side))
    whole = _inside(shape, x, y)
    inner = _eroded(whole, OUTLINE * SUPER)
    return _image(whole, side), _image(inner, side), inner


@cache
def masks(shape: str, pattern: str, side: int) -> tuple[Image.Image, Image.Image, Image.Image]:
    """Masks (side, side) in mode L of the whole shape, of its inside without the outline and of its pattern's marks."""
    whole, inside, inner = _outlined(shape, side)
    return whole, inside, _image(inner & _marked(pattern, *_samples(side)), side)


def tight_box(shape: str, side: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of the drawn shape within its square, in pixels."""
    box = masks(shape, "solid", side)[0].getbbox()
    assert box is not None, "every shape covers some pixels"
    return box
