"""Writes regions of one image after the other into .npy files, in memory of one image."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from vse_zoo.features.precomputed.entries import ImageRegions, Place

__all__ = ["RegionsWriter", "Written"]

_HEADER = 128


@dataclass(frozen=True)
class Written:
    """Finished files: regions (N, R, D) and no offsets where all counts are equal, else (total, D) with offsets."""

    regions: Path
    boxes: Path | None
    offsets: Path | None


class RegionsWriter:
    """Images in their order in the dataset; the first good one decides D, the type, and whether there are boxes.

    An image left out takes as many rows of zeros as the first good one has regions, so that they stay dense.

    Args:
        folder: where to write; the files are whole after `finish` only.
        half: float16, whatever is given.
    """

    def __init__(self, folder: Path, half: bool = False) -> None:
        self._folder = folder
        self._half = half
        self._counts: list[int | None] = []
        self._features: _Rows | None = None
        self._boxes: _Rows | None = None

    def add(self, place: Place, regions: ImageRegions) -> None:
        """Writes the next image; a `DataError` of ``place``, with nothing written, if it isn't as the first one."""
        features = regions.features
        if self._half:
            with np.errstate(over="ignore"):
                features = features.astype(np.float16)
            if not np.isfinite(features).all():
                raise place.error("found a number that isn't finite in float16.", "features", "Leave --half away.")
        if self._features is None:
            self._start(features, regions.boxes)
        assert self._features is not None
        found, expected = f"{features.dtype} ({features.shape[1]})", self._features.described
        if found != expected:
            raise place.error(f"found {found} numbers a region, expected {expected} as of the first image.", "features")
        if (regions.boxes is None) != (self._boxes is None):
            found, expected = ("boxes", "none") if self._boxes is None else ("no boxes", "some")
            raise place.error(f"found {found}, expected {expected} as of the first image.", do="Or pass --no-boxes.")
        self._features.append(features)
        if self._boxes is not None and regions.boxes is not None:
            self._boxes.append(regions.boxes)
        self._counts.append(len(features))

    def leave_out(self) -> None:
        """Passes over the next image."""
        self._counts.append(None)
        if self._features is not None:
            self._skip(1)

    def finish(self) -> Written:
        """Completes the files; at least one image must have been added."""
        assert self._features is not None
        first = next(count for count in self._counts if count is not None)
        counts = [first if count is None else count for count in self._counts]
        dense = set(counts) == {first}
        leading = (len(counts), first) if dense else (sum(counts),)
        offsets = None if dense else self._folder / "offsets.npy"
        if offsets is not None:
            np.save(offsets, np.cumsum([0, *counts], dtype=np.int64))
        return Written(
            self._features.finish(leading), None if self._boxes is None else self._boxes.finish(leading), offsets
        )

    def close(self) -> None:
        """Closes what is open; needed after an error only."""
        for rows in (self._features, self._boxes):
            if rows is not None:
                rows.file.close()

    def _start(self, features: np.ndarray, boxes: np.ndarray | None) -> None:
        self._features = _Rows(self._folder / "regions.npy", features)
        self._boxes = None if boxes is None else _Rows(self._folder / "boxes.npy", boxes)
        self._first = len(features)
        self._skip(len(self._counts))

    def _skip(self, images: int) -> None:
        for rows in (self._features, self._boxes):
            if rows is not None:
                rows.skip(images * self._first)


class _Rows:
    """A .npy file of rows of which there will be more; its header is written last."""

    def __init__(self, path: Path, like: np.ndarray) -> None:
        self.path = path
        self.described = f"{like.dtype} ({like.shape[1]})"
        self._like = like[:1].copy()
        self.file: BinaryIO = path.open("wb")
        self.file.seek(_HEADER)

    def append(self, rows: np.ndarray) -> None:
        self.file.write(np.ascontiguousarray(rows).data)

    def skip(self, count: int) -> None:
        """Rows of zeros, which take no space on disk."""
        self.file.seek(count * self._like.nbytes, 1)

    def finish(self, leading: tuple[int, ...]) -> Path:
        self.file.truncate()
        fields = {
            "descr": np.lib.format.dtype_to_descr(self._like.dtype),
            "fortran_order": False,
            "shape": (*leading, self._like.shape[1]),
        }
        self.file.seek(0)
        # Version 1.0 of the format: magic, version, length of the rest, which is padded and ends in a line feed.
        length = _HEADER - 10
        self.file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + f"{fields!r:<{length - 1}}\n".encode())
        self.file.close()
        return self.path
