"""Region features of many pictures, written to disk batch by batch; an interrupted run continues where it stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from vse_zoo.errors import DataError, VSEZooError
from vse_zoo.features.backbone import Backbone
from vse_zoo.features.partial import PartialArray
from vse_zoo.files import replacing
from vse_zoo.images import optional_formats, square_pixels
from vse_zoo.progress import progress

__all__ = ["Extraction", "extract_regions"]

OpenImage = Callable[[int], Image.Image]
DECODERS = 2
LISTED = 20


@dataclass(frozen=True)
class Extraction:
    """What `extract_regions` wrote: regions (N, R, D) float16 and boxes (N, R, 4) float32, a row for every name.

    The rows of the pictures in ``left_out`` (name → reason) are zero.
    """

    regions_path: Path
    boxes_path: Path
    left_out: dict[str, str]


def extract_regions(
    names: Sequence[str],
    open_image: OpenImage,
    backbone: Backbone,
    out_dir: Path,
    *,
    fingerprint: str,
    batch_size: int = 32,
    strict: bool = False,
) -> Extraction:
    """Writes the regions of picture ``names[i]`` = ``open_image(i)`` into ``out_dir``; a killed run resumes there.

    It resumes only if ``fingerprint`` (of whatever the pictures come from), names, backbone, grid and batch size are
    those of the earlier run, and then gives the same bytes as an uninterrupted run. A picture that can't be decoded is
    left out and the rest goes on; under ``strict``, or if none is left, it is a `DataError` that names the pictures.
    """
    rows = _open_partial(names, backbone, Path(out_dir), fingerprint, batch_size)
    if not rows.finished:
        _fill(rows, names, open_image, backbone, batch_size, strict)
    if len(rows.left_out) == len(names):
        rows.discard()  # there is nothing to go on with once the pictures can be read
    if len(rows.left_out) == len(names) or (strict and rows.left_out):
        raise _unreadable(rows.left_out, len(names))
    if not rows.finished:
        rows.finish()
    boxes_path = rows.path.with_name("boxes.npy")
    with replacing(boxes_path) as temporary:
        np.save(temporary, np.broadcast_to(backbone.boxes, (len(names), *backbone.boxes.shape)))
    return Extraction(rows.path, boxes_path, rows.left_out)


def _open_partial(
    names: Sequence[str], backbone: Backbone, out_dir: Path, fingerprint: str, batch_size: int
) -> PartialArray:
    if not names:
        raise DataError(f"{out_dir}: there are no pictures to extract features from.")
    key = {
        "fingerprint": fingerprint,
        "names": hashlib.sha256("\n".join(names).encode()).hexdigest(),
        "backbone": backbone.name,
        "weights": backbone.fingerprint,
        "grid": list(backbone.grid),
        "batch_size": batch_size,
        "formats": list(optional_formats()),  # of others the pictures were left out
    }
    return PartialArray(out_dir, key, (len(names), len(backbone.boxes), backbone.dim), "float16")


def _fill(
    rows: PartialArray, names: Sequence[str], open_image: OpenImage, backbone: Backbone, batch_size: int, strict: bool
) -> None:
    """Computes and appends every missing batch; under ``strict`` a bad one ends it, once the rest is checked."""
    batches = _decoded(range(rows.done, len(names)), open_image, backbone.image_size, batch_size)
    with progress(backbone.name, len(names), rows.done) as bar:
        for indices, pictures in batches:
            bad = {names[i]: picture for i, picture in zip(indices, pictures, strict=True) if isinstance(picture, str)}
            if bad and strict:
                raise _unreadable(bad | _check(range(indices.stop, len(names)), names, open_image), len(names))
            rows.append(_regions(pictures, backbone, batch_size), bad)
            bar.advance(len(indices))


def _regions(pictures: list[np.ndarray | str], backbone: Backbone, batch_size: int) -> np.ndarray:
    """(len(pictures), R, D) float16, zero where a picture is a reason instead.

    Every batch is padded to one size, so that a row never depends on where the data end.
    """
    size = backbone.image_size
    pixels = np.zeros((batch_size, size, size, 3), np.uint8)
    good = np.array([not isinstance(picture, str) for picture in pictures])
    for row in np.flatnonzero(good):
        pixels[row] = pictures[row]
    regions = backbone.regions(pixels)[: len(pictures)]
    regions[~good] = 0.0
    limit = np.finfo(np.float16).max
    return np.clip(regions, -limit, limit).astype(np.float16)


def _decoded(
    indices: range, open_image: OpenImage, size: int, batch_size: int
) -> Iterator[tuple[range, list[np.ndarray | str]]]:
    """Batches of pixels, or of the reasons why there are none; threads decode one batch ahead."""

    def submit(start: int) -> tuple[range, list[Future[np.ndarray | str]]]:
        batch = range(start, min(start + batch_size, indices.stop))
        return batch, [pool.submit(_pixels, open_image, i, size) for i in batch]

    with ThreadPoolExecutor(DECODERS) as pool:
        ahead = submit(indices.start) if indices else None
        while ahead is not None:
            batch, futures = ahead
            ahead = submit(batch.stop) if batch.stop < indices.stop else None
            yield batch, [future.result() for future in futures]


def _pixels(open_image: OpenImage, index: int, size: int) -> np.ndarray | str:
    try:
        return square_pixels(open_image(index), size)
    except (VSEZooError, OSError, ValueError, MemoryError) as error:
        return str(error) or type(error).__name__


def _check(indices: range, names: Sequence[str], open_image: OpenImage) -> dict[str, str]:
    """The pictures among ``indices`` that can't be decoded, with the reasons."""
    with ThreadPoolExecutor(DECODERS) as pool:
        results = pool.map(lambda i: _pixels(open_image, i, 1), indices)
        return {names[i]: result for i, result in zip(indices, results, strict=True) if isinstance(result, str)}


def _unreadable(bad: dict[str, str], count: int) -> DataError:
    lines = [f"  {name}: {reason}" for name, reason in list(bad.items())[:LISTED]]
    if len(bad) > 1 and len(set(bad.values())) == 1:  # as where the folder of all of them is gone
        lines = [f"  each of them: {next(iter(bad.values()))}"]
    elif len(bad) > LISTED:
        lines.append(f"  … and {len(bad) - LISTED} more")
    do = "Replace or remove them" + ("." if len(bad) == count else ", or run without strict to leave them out.")
    return DataError(f"{len(bad)} of {count} pictures can't be read. {do}\n" + "\n".join(lines))
