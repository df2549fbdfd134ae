"""Regions of another program into a dataset folder, image by image, in the order of the dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from vse_zoo.data.dataset import Dataset
from vse_zoo.data.tables import Note, lines
from vse_zoo.errors import DataError, located
from vse_zoo.features.precomputed import Entry, ImageRegions, RegionsWriter, Written, join, open_entries
from vse_zoo.progress import progress
from vse_zoo.workflow.work_folder import work_folder

__all__ = ["attach_entries"]

_LISTED = 20


def attach_entries(
    dataset: Dataset,
    path: Path,
    *,
    names: Path | None,
    key: str | None,
    fields: Sequence[str] | None,
    encoding: str | None,
    boxes: bool,
    half: bool,
    strict: bool,
    note: Note,
) -> Dataset:
    """Copies the regions of every image that has some; see `vse_zoo.workflow.features.attach_precomputed`.

    Raises:
        DataError: more than half of the images have none, or any under ``strict``; ids are ambiguous; an image is
            there twice, with different numbers.
    """
    images = dataset.image_names
    given = [line.strip() for line in lines(names, encoding)] if names is not None else None
    with (
        open_entries(path, images, names=given, key=key, fields=fields, boxes=boxes) as entries,
        work_folder(dataset.path) as work,
    ):
        found = _by_id(entries, strict, note)
        joined = join(path, found, images, note)
        left_out = {image: f"{path}: found no row of this image." for image in images if image not in joined}
        _check(path, left_out, len(images), strict)
        ordered = {image: found[joined[image]] for image in images if image in joined}
        written = _write(path, images, ordered, RegionsWriter(work, half), left_out, note, strict)
        return dataset.attach_regions(
            written.regions,
            written.boxes,
            backbone=f"precomputed: {path.resolve().name}",
            grid=None,
            left_out={image: left_out[image] for image in images if image in left_out},
            offsets=written.offsets,
        )


def _by_id(entries: Iterable[Entry], strict: bool, note: Note) -> dict[str, list[Entry]]:
    """The entries of each id; a row without one belongs to no image, which can only be told."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.image:
            found.setdefault(entry.image, []).append(entry)
        elif strict:
            raise entry.place.error("found no id of an image.", "image_id")
        else:
            note(str(entry.place.error("found no id of an image; the row is passed over.", "image_id")))
    return found


def _write(
    path: Path,
    images: Sequence[str],
    found: dict[str, list[Entry]],
    writer: RegionsWriter,
    left_out: dict[str, str],
    note: Note,
    strict: bool,
) -> Written:
    """Writes every image, and adds those that are damaged to ``left_out``."""
    try:
        with progress("Copying regions", len(images)) as bar:
            for image in images:
                if image in found:
                    problem = _add(writer, found[image], note)
                    if problem:
                        left_out[image] = problem
                        _check(path, left_out, len(images), False)
                if image in left_out:
                    writer.leave_out()
                bar.advance()
        _check(path, left_out, len(images), strict)
        return writer.finish()
    finally:
        writer.close()


def _add(writer: RegionsWriter, entries: list[Entry], note: Note) -> str | None:
    """Writes the one image of the entries, or says why it can't be."""
    read = [_attempt(entry) for entry in entries]
    good = [(entry, regions) for entry, regions in zip(entries, read, strict=True) if isinstance(regions, ImageRegions)]
    if not good:
        return str(read[0])
    first, regions = good[0]
    if len(entries) > 1:
        if not all(regions.equals(other) for _, other in good):
            others = " and ".join(str(entry.place.error("again.")) for entry, _ in good[1:])
            problem = f"found the image {first.image!r} again with other numbers: {others}"
            raise first.place.error(problem, do="Remove all but one.")
        bad = [str(problem) for problem in read if isinstance(problem, DataError)]
        kind = f"a damaged row of it is passed over ({bad[0]})" if bad else "all its rows hold the same numbers"
        note(str(first.place.error(f"the image {first.image!r} is there {len(entries)} times; {kind}.")))
    try:
        writer.add(first.place, regions)
    except DataError as error:
        return str(error)
    return None


def _attempt(entry: Entry) -> ImageRegions | DataError:
    try:
        return entry.read()
    except DataError as error:
        return error


def _check(path: Path, left_out: dict[str, str], count: int, strict: bool) -> None:
    """Few images may be left out, under ``strict`` none."""
    most = 2 * len(left_out) > count
    if not most and not (strict and left_out):
        return
    shown = [f"  {image}: {reason}" for image, reason in list(left_out.items())[:_LISTED]]
    if len(left_out) > _LISTED:
        shown.append(f"  … and {len(left_out) - _LISTED} more")
    problem = f"{len(left_out)} of {count} images have no usable features."
    do = "At most half may be left out." if most else "Mend the file, or run without --strict to leave them out."
    raise DataError("\n".join([located(path, problem, do=do), *shown]))
