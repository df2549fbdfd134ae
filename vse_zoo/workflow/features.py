"""Region features for a dataset folder."""

from __future__ import annotations

import shutil

from vse_zoo.data.dataset import Dataset
from vse_zoo.features import Backbone, extract_regions

__all__ = ["add_features"]


def add_features(dataset: Dataset, backbone: Backbone, *, batch_size: int = 32, strict: bool = False) -> Dataset:
    """Extracts the regions of every image into the folder; an interrupted job goes on where it stopped.

    Args:
        dataset: an opened dataset folder.
        backbone: what computes the regions.
        batch_size: images a step.
        strict: an image that can't be read is an error, instead of being left out and named.

    Returns:
        The dataset, opened again.
    """
    work = dataset.path / "extraction"
    found = extract_regions(
        dataset.image_names,
        dataset.open_image,
        backbone,
        work,
        fingerprint=dataset.content_hash,
        batch_size=batch_size,
        strict=strict,
    )
    finished = dataset.attach_regions(
        found.regions_path, found.boxes_path, backbone=backbone.name, grid=backbone.grid, left_out=found.left_out
    )
    shutil.rmtree(work, ignore_errors=True)
    return finished
