"""Region features of many pictures, written to disk batch by batch; an interrupted run continues where it stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from vse_zoo.errors import DataError
from vse_zoo.features.backbone import Backbone
from vse_zoo.features.decoding import decoded, listed, undecodable
from vse_zoo.features.partial import PartialArray
from vse_zoo.features.picture_encoder import PictureEncoder
from vse_zoo.files import replacing
from vse_zoo.images import Pixels, optional_formats
from vse_zoo.progress import progress

__all__ = ["Extraction", "extract_regions"]

OpenImage = Callable[[int], Image.Image]


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
        _fill(rows, names, open_image, PictureEncoder(backbone), batch_size, strict)
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
    rows: PartialArray,
    names: Sequence[str],
    open_image: OpenImage,
    encoder: PictureEncoder,
    batch_size: int,
    strict: bool,
) -> None:
    """Computes and appends every missing batch; under ``strict`` a bad one ends it, once the rest is checked."""

    def read(index: int) -> Pixels:
        return encoder.pixels(open_image(index))

    batches = decoded(range(rows.done, len(names)), read, batch_size)
    with progress(encoder.backbone.name, len(names), rows.done) as bar:
        for indices, pictures in batches:
            bad = {names[i]: picture for i, picture in zip(indices, pictures, strict=True) if isinstance(picture, str)}
            if bad and strict:
                rest = undecodable(range(indices.stop, len(names)), read)
                raise _unreadable(bad | {names[i]: reason for i, reason in rest.items()}, len(names))
            rows.append(_regions(pictures, encoder, batch_size), bad)
            bar.advance(len(indices))


def _regions(pictures: list[Pixels | str], encoder: PictureEncoder, batch_size: int) -> np.ndarray:
    """(len(pictures), R, D) float16, zero where a picture is a reason instead.

    Every batch is padded to one size, so that a row never depends on where the data end.
    """
    size = encoder.image_size
    pixels = np.zeros((batch_size, size, size, 3), np.uint8)
    good = np.array([not isinstance(picture, str) for picture in pictures])
    for row in np.flatnonzero(good):
        pixels[row] = pictures[row]
    regions = encoder.regions(pixels)[: len(pictures)]
    regions[~good] = 0.0
    return regions.astype(np.float16)


def _unreadable(bad: dict[str, str], count: int) -> DataError:
    do = "Replace or remove them" + ("." if len(bad) == count else ", or run without strict to leave them out.")
    reasons = [f"{name}: {reason}" for name, reason in bad.items()]
    if len(bad) > 1 and len(set(bad.values())) == 1:  # as where the folder of all of them is gone
        reasons = [f"each of them: {next(iter(bad.values()))}"]
    lines = listed(reasons)
    return DataError(f"{len(bad)} of {count} pictures can't be read. {do}\n{lines}")
