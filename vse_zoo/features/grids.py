"""Feature maps to region grids: adaptive average pooling and the boxes of its bins."""

from __future__ import annotations

import numpy as np

__all__ = ["bins", "grid_boxes", "pooling_matrix"]


def bins(cells: int, count: int) -> list[tuple[int, int]]:
    """The [start, end) of each of ``count`` bins over ``cells``: start = ⌊i·cells/count⌋, end = ⌈(i+1)·cells/count⌉.

    Neighbouring bins share a cell where ``count`` does not divide ``cells``, as in PyTorch's adaptive average pooling.
    """
    return [(i * cells // count, -(-(i + 1) * cells // count)) for i in range(count)]


def pooling_matrix(cells: int, count: int) -> np.ndarray:
    """(count, cells) float32: row i averages bin i."""
    matrix = np.zeros((count, cells), np.float32)
    for row, (start, end) in zip(matrix, bins(cells, count), strict=True):
        row[start:end] = 1.0 / (end - start)
    return matrix


def grid_boxes(cells: tuple[int, int], grid: tuple[int, int]) -> np.ndarray:
    """(h·w, 4) float32 boxes (x0, y0, x1, y1) relative to the picture, row by row: the cells each region averages."""
    rows, columns = (bins(size, count) for size, count in zip(cells, grid, strict=True))
    boxes = [(x0 / cells[1], y0 / cells[0], x1 / cells[1], y1 / cells[0]) for y0, y1 in rows for x0, x1 in columns]
    return np.asarray(boxes, np.float32)
