"""Region features that stay in the files they came in: a dataset folder refers to them, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vse_zoo.data.metadata import RegionsInfo, RegionsPart
from vse_zoo.data.npy import open_npy
from vse_zoo.errors import DataError, located

__all__ = ["KeptFile", "KeptRegions"]


@dataclass(frozen=True)
class KeptFile:
    """A .npy file (images · stride, R, D), or (images · stride, D), which is one region an image.

    Args:
        path: the file; float16 or float32, C order.
        images: how many of the dataset's images it holds.
        stride: how many rows each image has; the first of them is read.
    """

    path: Path
    images: int
    stride: int = 1

    def shape(self) -> tuple[int, int, str]:
        """Regions an image, numbers a region and the type; a `DataError` if the file doesn't hold these images."""
        array = open_npy(self.path)
        rows = self.images * self.stride
        fits = array.ndim in (2, 3) and len(array) == rows and array.size and array.flags.c_contiguous
        if not fits or array.dtype not in (np.dtype("float16"), np.dtype("float32")):
            order = "" if array.flags.c_contiguous else " in Fortran order"
            problem = f"found shape {array.shape} of {array.dtype}{order}, expected ({rows}, R, D) or ({rows}, D)"
            raise DataError(located(self.path, f"{problem} of float16 or float32 in C order."))
        return (1 if array.ndim == 2 else array.shape[1]), array.shape[-1], array.dtype.name


@dataclass(frozen=True)
class KeptRegions:
    """The features of a whole dataset in files that aren't copied.

    Args:
        files: one after another they hold the dataset's images, in its order.
        boxes: (N, R, 4) float32, relative (x0, y0, x1, y1), or None; these are written into the folder.
        backbone: what computed the features.
    """

    files: Sequence[KeptFile]
    boxes: np.ndarray | None
    backbone: str

    def info(self, folder: Path | None = None) -> RegionsInfo:
        """The "regions" entry of dataset.json, boxes not hashed.

        A `DataError` if the files don't fit one another or are in the dataset folder, which owns what is in it.
        """
        first, *_ = shapes = [file.shape() for file in self.files]
        for file, shape in zip(self.files, shapes, strict=True):
            if folder is not None and file.path.resolve().parent == folder.resolve():
                raise DataError(located(file.path, "is in the dataset folder itself.", do="Keep it in another folder."))
            if shape != first:
                problem = "found {} regions of {} numbers in {}, ".format(*shape)
                expected = "expected {} of {} in {} as in {}.".format(*first, self.files[0].path)
                raise DataError(located(file.path, problem + expected))
        images = sum(file.images for file in self.files)
        if self.boxes is not None and self.boxes.shape != (images, first[0], 4):
            raise DataError(f"boxes: found shape {self.boxes.shape}, expected {(images, first[0], 4)}.")
        return RegionsInfo(
            dtype="float16" if first[2] == "float16" else "float32",
            dim=first[1],
            count=first[0],
            boxes=self.boxes is not None,
            backbone=self.backbone,
            grid=None,
            hashes={},
            parts=[_part(file) for file in self.files],
        )


def _part(file: KeptFile) -> RegionsPart:
    path = file.path.resolve()
    stat = path.stat()
    return RegionsPart(
        path=str(path), images=file.images, stride=file.stride, size=stat.st_size, modified_ns=stat.st_mtime_ns
    )
