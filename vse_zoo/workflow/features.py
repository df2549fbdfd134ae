"""Region features for a dataset folder: extracted from its pictures, or computed elsewhere."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.views import SPLIT
from vse_zoo.errors import ConfigError, DataError, located
from vse_zoo.features import Backbone, PictureEncoder, backbones, extract_regions, picture_view
from vse_zoo.features.precomputed import reads
from vse_zoo.workflow.arrays import attach_array
from vse_zoo.workflow.precomputed import attach_entries

__all__ = ["add_features", "add_views", "attach_precomputed"]


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
        lambda row: dataset.open_image(row, backbone.image_size),
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


def add_views(
    dataset: Dataset, count: int, *, weights: str | Path = backbones.IMAGENET, batch_size: int = 32
) -> Dataset:
    """Extracts the regions of ``count`` views of every training picture (`vse_zoo.features.picture_view`).

    An interrupted job goes on where it stopped.

    Args:
        dataset: an opened dataset folder with pictures and with regions from `add_features`.
        count: views of each picture.
        weights: those of `vse_zoo.features.backbones.get` that the regions were computed with.
        batch_size: pictures a step.

    Returns:
        The dataset, opened again.

    Raises:
        DataError: a picture can't be read, or the regions that the folder holds were computed by something else.
    """
    if dataset.grid is None or not dataset.has_pictures:
        problem = f"its regions ({dataset.arrays.backbone}) don't come from vse-zoo features."
        raise DataError(located(dataset.path, problem, do="Views need pictures, and features extracted from them."))
    backbone = backbones.get(dataset.arrays.backbone, (dataset.grid[0], dataset.grid[1]), weights)
    rows = dataset.indices(SPLIT)
    names = [dataset.image_names[row] for row in rows]
    work = dataset.path / "extraction"

    def open_view(number: int) -> Image.Image:
        position, view = divmod(number, count)
        return picture_view(dataset.open_image(int(rows[position])), position, view)

    _check_same(dataset, backbone, int(rows[0]))
    found = extract_regions(
        [f"{name}#{view}" for name in names for view in range(count)],
        open_view,
        backbone,
        work,
        fingerprint=dataset.content_hash,
        batch_size=batch_size,
        strict=True,
    )
    finished = dataset.attach_views(found.regions_path, count)
    shutil.rmtree(work, ignore_errors=True)
    return finished


def _check_same(dataset: Dataset, backbone: Backbone, row: int) -> None:
    """Whether the backbone gives the regions of a picture that the dataset holds; else a `DataError`."""
    kept = dataset.regions(np.array([row]))[0][0].astype(np.float32)
    found = PictureEncoder(backbone).encode(dataset.open_image(row, backbone.image_size))
    # float16 keeps 11 bits; sums in another order, as of another machine, are nearer than that.
    if found.shape != kept.shape or np.abs(found - kept).max() > 1e-2 * max(1.0, np.abs(kept).max()):
        problem = f"its regions of {dataset.image_names[row]} aren't those of {backbone.name}."
        raise DataError(located(dataset.path, problem, do="Extract both with the same weights: vse-zoo features."))


def _say(remark: str) -> None:
    print(remark, file=sys.stderr)


def attach_precomputed(
    dataset: Dataset,
    path: Path,
    *,
    names: Path | None = None,
    key: str | None = None,
    fields: Sequence[str] | None = None,
    encoding: str | None = None,
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
        encoding: of ``names``, where that is neither UTF-8 nor begins with a byte-order mark.
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
        options: dict[str, Any] = {"names": names, "key": key, "fields": fields, "encoding": encoding}
        return attach_entries(dataset, path, **options, boxes=boxes, half=half, strict=strict, note=note)
    if fields:
        raise ConfigError(f"--fields: {path} isn't TSV.")
    return attach_array(dataset, path, names=names, key=key, encoding=encoding, half=half, note=note)
