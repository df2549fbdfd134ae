"""Boxes as corners (x0, y0, x1, y1), in float64: how much two share, and which points they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["BOX_CONVENTIONS", "box_iou", "centres_inside", "enclosing_box", "regions_found"]

BOX_CONVENTIONS = ("any", "union")
"""What a region must match of a phrase with several boxes: any one of them, or the box around all of them."""

_THRESHOLD = 0.5
_ROUNDING = 1e-6
"""Region boxes are stored in float32: one that shares exactly half with a phrase's box still counts."""


def box_iou(boxes: ArrayLike, others: ArrayLike) -> NDArray[np.float64]:
    """Intersection over union of (N, 4) and (M, 4) boxes: (N, M) in [0, 1], 0 where both are empty."""
    first, second = (np.asarray(each, np.float64).reshape(-1, 4) for each in (boxes, others))
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=-1)
    union = _areas(first)[:, None] + _areas(second)[None] - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def centres_inside(regions: ArrayLike, boxes: ArrayLike) -> NDArray[np.bool_]:
    """Whether the centre of each (R, 4) region lies inside any of (M, 4) boxes, edges included: (R,)."""
    corners, others = (np.asarray(each, np.float64).reshape(-1, 4) for each in (regions, boxes))
    centres = (corners[:, None, :2] + corners[:, None, 2:]) / 2
    return np.any(np.all((centres >= others[:, :2]) & (centres <= others[:, 2:]), axis=-1), axis=1)


def enclosing_box(boxes: ArrayLike) -> NDArray[np.float64]:
    """The smallest box around (M, 4) boxes: (1, 4)."""
    corners = np.asarray(boxes, np.float64).reshape(-1, 4)
    return np.concatenate([corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)])[None]


def regions_found(regions: ArrayLike, boxes: ArrayLike, convention: str) -> NDArray[np.bool_]:
    """Whether each (R, 4) region has IoU ≥ 0.5 with the phrase's (M, 4) boxes, by a name of `BOX_CONVENTIONS`: (R,)."""
    wanted = enclosing_box(boxes) if convention == "union" else boxes
    return np.any(box_iou(regions, wanted) >= _THRESHOLD - _ROUNDING, axis=1)


def _areas(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.prod(np.clip(boxes[:, 2:] - boxes[:, :2], 0, None), axis=1)
