"""Files to hashes and pixels, in threads, a batch ahead of who encodes them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vse_zoo.errors import ImageError
from vse_zoo.images import load_image, square_pixels

__all__ = ["Photo", "read_photos"]

_THREADS = 2


@dataclass(frozen=True, eq=False)
class Photo:
    """A file that was read.

    Args:
        path: relative to the folder of photos.
        digest: of its bytes; None where it couldn't be opened.
        pixels: (S, S, 3) uint8; None where the content is known already, or can't be decoded.
        reason: why it can't be opened or decoded.
    """

    path: str
    digest: bytes | None = None
    pixels: NDArray[np.uint8] | None = None
    reason: str | None = None


def read_photos(
    root: Path, paths: Sequence[str], known: set[bytes], image_size: int, batch_size: int
) -> Iterator[list[Photo]]:
    """Reads files in order, a list for each batch of paths. Of equal contents only the first is decoded.

    Args:
        root: what the paths are relative to.
        paths: of the files.
        known: hashes of contents that needn't be decoded; those that are found join it.
        image_size: S.
        batch_size: paths a batch.
    """
    with ThreadPoolExecutor(_THREADS) as pool:
        hashing: list[Future[Photo]] = []
        decoding: list[Future[Photo]] = []
        # Three batches are on their way: one is hashed, one decoded, and one encoded by whoever asks for the next.
        for start in range(0, len(paths) + 2 * batch_size, batch_size):
            ahead = [pool.submit(_hashed, root, path) for path in paths[start : start + batch_size]]
            ready = [future.result() for future in decoding]
            decoding = [
                pool.submit(_decoded, root, photo, image_size if _is_new(photo, known) else None)
                for photo in (future.result() for future in hashing)
            ]
            hashing = ahead
            if ready:
                yield ready


def _is_new(photo: Photo, known: set[bytes]) -> bool:
    if photo.digest is None or photo.digest in known:
        return False
    known.add(photo.digest)
    return True


def _hashed(root: Path, path: str) -> Photo:
    try:
        with (root / path).open("rb") as file:
            return Photo(path, hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        return Photo(path, reason=f"can't be opened ({error.strerror or type(error).__name__}).")


def _decoded(root: Path, photo: Photo, image_size: int | None) -> Photo:
    """The photo with its pixels or the reason why there are none; as it is without a size."""
    if image_size is None:
        return photo
    path = root / photo.path
    try:
        return replace(photo, pixels=square_pixels(load_image(path, image_size), image_size))
    except (ImageError, MemoryError) as error:
        # Where the file is may change; it's known by its path in the folder.
        reason = str(error).removeprefix(f"{path}: ").replace(f" {str(path)!r}", "")
        return replace(photo, reason=reason or type(error).__name__)
