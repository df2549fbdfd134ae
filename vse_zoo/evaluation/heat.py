"""Values of regions as maps over the picture: interpolated between the cells of a grid, spread over detected boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter, gaussian_filter1d

__all__ = ["heat_maps"]

SIDE = 84
"""Rows and columns of a map: each cell of a 7×7 grid gets 12, so that its centre lies between two."""
_SOFTENING = 2.0


def heat_maps(values: ArrayLike, boxes: ArrayLike, grid: Sequence[int] | None = None) -> NDArray[np.float64]:
    """Maps of K values of each region, in the values' own scale.

    Args:
        values: (K, R).
        boxes: (R, 4) relative (x0, y0, x1, y1).
        grid: (rows, columns) if the regions are a grid, row by row: the map is linear between the cells' centres.
            Otherwise each place has the largest value of the boxes there, 0 where there is none.

    Returns:
        (K, 84, 84), softened a little at edges and creases; the first row is the picture's top.
    """
    wanted, corners = np.asarray(values, np.float64), np.asarray(boxes, np.float64)
    if grid:
        return _between_cells(wanted, corners, grid)
    return gaussian_filter(_over_boxes(wanted, corners), sigma=(0, _SOFTENING, _SOFTENING), mode="nearest")


def _between_cells(values: NDArray[np.float64], boxes: NDArray[np.float64], grid: Sequence[int]) -> NDArray[np.float64]:
    cells = boxes.reshape(*grid, 4)
    down = _hats((cells[:, 0, 1] + cells[:, 0, 3]) / 2)
    across = _hats((cells[0, :, 0] + cells[0, :, 2]) / 2)
    return down @ values.reshape(-1, *grid) @ across.T


def _hats(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """(84, n) weights of softened linear interpolation between n centres, constant beyond the outermost."""
    places = (np.arange(SIDE) + 0.5) / SIDE
    hats = np.stack([np.interp(places, centres, unit) for unit in np.eye(len(centres))], axis=1)
    return gaussian_filter1d(hats, _SOFTENING, axis=0, mode="nearest")


def _over_boxes(values: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    places = (np.arange(SIDE) + 0.5) / SIDE
    across = (places >= boxes[:, 0:1]) & (places < boxes[:, 2:3])
    down = (places >= boxes[:, 1:2]) & (places < boxes[:, 3:4])
    maps = np.zeros((len(values), SIDE, SIDE))
    for region in np.flatnonzero(across.any(axis=1) & down.any(axis=1)):
        inside = down[region, :, None] & across[region]
        maps = np.maximum(maps, np.where(inside, values[:, region, None, None], 0))
    return maps
