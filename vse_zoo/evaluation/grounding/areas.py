"""The box that a heat map points out, for regions that are cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import find_objects, label

from vse_zoo.evaluation.heat import heat_maps

__all__ = ["map_boxes"]

_CUT = 0.5
_ROUNDING = 1e-9
"""Relative: what is no relief of a flat map."""


def map_boxes(values: NDArray[np.floating], regions: NDArray[np.floating], grid: Sequence[int]) -> NDArray[np.float64]:
    """The box around the part of each map above half its range that holds its maximum.

    Boxes from class activation maps are made so (Zhou et al., CVPR 2016). A flat map gives the whole picture.

    Args:
        values: (K, R) of the cells of a grid.
        regions: (R, 4) their boxes, relative (x0, y0, x1, y1).
        grid: (rows, columns).

    Returns:
        (K, 4) boxes, relative.
    """
    return np.array([_map_box(heat) for heat in heat_maps(values, regions, grid)]).reshape(-1, 4)


def _map_box(heat: NDArray[np.float64]) -> tuple[float, float, float, float]:
    cut = heat.min() + _CUT * (heat.max() - heat.min()) - _ROUNDING * np.abs(heat).max()
    parts, _ = label(heat >= cut)
    rows, columns = find_objects(parts)[parts.flat[int(np.argmax(heat))] - 1]
    height, width = heat.shape
    return columns.start / width, rows.start / height, columns.stop / width, rows.stop / height
