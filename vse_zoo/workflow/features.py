"""Region features for a dataset folder: extracted from its pictures, or computed elsewhere."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from vse_zoo.data.dataset import Dataset
from vse_zoo.errors import ConfigError
from vse_zoo.features import Backbone, extract_regions
from vse_zoo.features.precomputed import reads
from vse_zoo.workflow.arrays import attach_array
from vse_zoo.workflow.precomputed import attach_entries

__all__ = ["add_features", "attach_precomputed"]


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


def _say(remark: str) -> None:
    print(remark, file=sys.stderr)


def attach_precomputed(
    dataset: Dataset,
    path: Path,
    *,
    names: Path | None = None,
    key: str | None = None,
    fields: Sequence[str] | None = None,
    boxes: bool = True,
    half: bool = False,
    strict: bool = False,
    note: Callable[[str], None] = _say,
) -> Dataset:
    """Copies features that another program computed into the folder, float32, or float16 as they are there.

    Args:
        dataset: an opened dataset folder.
        path: bottom-up-attention TSV (or a folder of its parts), a folder of .npz files, or HDF5, each with boxes or
            without, whose images are joined by their ids; or .npy (never in memory as a whole), .npz or .mat with
            (N, D), one region an image, or (N, R, D); of .mat also (D, N), as MATLAB users store columns.
        names: text file whose line n names the image of row n; it may name others than the dataset's. Without it
            the rows of an array without ids are in the order of the dataset's images.
        key: the array in the file; not needed where there is only one.
        fields: columns of a TSV file without a header, in neither of the known orders.
        boxes: take boxes too, where there are some.
        half: store float16, which halves the size.
        strict: a damaged or missing image is an error, instead of being left out and named.
        note: gets each remark, such as on a row that is there twice.

    Returns:
        The dataset, opened again; the folder is as it was if anything fails.

    Raises:
        DataError: most images are damaged or missing (of arrays: any), or the file as a whole can't be used.
        ConfigError: an option of another format.
    """
    if reads(path):
        return attach_entries(
            dataset, path, names=names, key=key, fields=fields, boxes=boxes, half=half, strict=strict, note=note
        )
    if fields:
        raise ConfigError(f"--fields: {path} isn't TSV.")
    return attach_array(dataset, path, names, key, half)
