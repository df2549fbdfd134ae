"""The backgrounds as textures, by integer arithmetic alone, so that they are equal on every machine."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from vse_zoo.data.scenes.world import IMAGE_SIZE

__all__ = ["EXTRA", "texture"]

Grid = npt.NDArray[np.int64]

EXTRA = 64
"""A texture is this many pixels larger than a picture: pictures show different parts of it."""
BASE = {
    "grass": (112, 168, 84),
    "sand": (226, 200, 150),
    "snow": (232, 240, 250),
    "night": (24, 28, 66),
    "wood": (176, 126, 78),
    "water": (112, 186, 220),
    "bricks": (182, 100, 80),
    "paper": (250, 249, 240),
}


def noise(x: Grid, y: Grid, salt: int = 0) -> Grid:
    """A number from 0 to 255 for each integer point (a multiplicative hash in 32 bits)."""
    mixed = (x * 374761393 + y * 668265263 + salt * 974634553) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 13)) * 1274126177) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 16)) & 0xFF


def _lightness(kind: str, x: Grid, y: Grid) -> Grid:
    """What is added to the base colour at each point."""
    grain = noise(x, y)
    if kind == "grass":
        blades = noise(x // 2, (y + noise(x // 2, 0 * y) // 16) // 9, 1)
        return (blades - 128) * 44 // 128 + grain // 16
    if kind == "sand":
        return (grain - 128) * 16 // 128 - 40 * (noise(x // 2, y // 2, 2) > 248)
    if kind == "snow":
        return 23 * (noise(x // 4, y // 4, 3) > 225) - 26 * (noise(x // 3, y // 3, 4) > 236) + grain // 40
    if kind == "wood":
        plank = y // 28
        rings = noise(x // 40 + plank * 7, y // 2, 5)
        seam = (y % 28 < 2) | ((x + noise(plank, plank, 6)) % 110 < 2)
        return (rings - 128) * 16 // 128 - 70 * seam + (noise(plank, plank, 7) - 128) // 10
    if kind == "water":
        phase = np.abs((x + 12 * (y // 18 % 2)) % 24 - 12)  # a zigzag, rounded by its width
        return 46 * (np.abs(y % 18 - phase * 6 // 12 - 5) < 2) + grain // 32
    brick, row = (x + 22 * (y // 20 % 2)) // 44, y // 20
    return (noise(brick, row, 8) - 128) // 6 + grain // 16


@cache
def texture(kind: str) -> npt.NDArray[np.uint8]:
    """RGB texture (IMAGE_SIZE + EXTRA, IMAGE_SIZE + EXTRA, 3) of one of the backgrounds."""
    rows, columns = np.mgrid[0 : IMAGE_SIZE + EXTRA, 0 : IMAGE_SIZE + EXTRA].astype(np.int64)
    colour = np.broadcast_to(np.array(BASE[kind], np.int64), (*rows.shape, 3)).copy()
    if kind == "paper":
        colour[(columns % 16 == 0) | (rows % 16 == 0)] = (158, 190, 222)
    elif kind == "night":
        cell_x, cell_y = columns // 16, rows // 16
        star_x, star_y = 2 + noise(cell_x, cell_y, 9) % 12, 2 + noise(cell_x, cell_y, 10) % 12
        near = np.abs(columns % 16 - star_x) + np.abs(rows % 16 - star_y) <= 1
        colour[near & (noise(cell_x, cell_y, 11) > 110)] = (250, 246, 200)
    else:
        colour += _lightness(kind, columns, rows)[..., None]
    if kind == "bricks":
        colour[(rows % 20 < 3) | ((columns + 22 * (rows // 20 % 2)) % 44 < 3)] = (214, 204, 194)
    return np.clip(colour, 0, 255).astype(np.uint8)
