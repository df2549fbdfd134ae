"""Whole pictures as the mean of their regions."""

from __future__ import annotations

import numpy as np

from vse_zoo.data.dataset import Dataset

__all__ = ["pooled_regions"]


def pooled_regions(dataset: Dataset, rows: np.ndarray, chunk: int = 256) -> np.ndarray:
    """(N,) rows to (N, D) float32, the mean over each image's real regions; ``chunk`` images in memory at a time."""
    means = []
    for start in range(0, len(rows), chunk):
        regions, mask = dataset.regions(rows[start : start + chunk])
        shares = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
        means.append(np.einsum("brd,br->bd", regions.astype(np.float32), shares))
    return np.concatenate(means)
