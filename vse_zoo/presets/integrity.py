"""The format's version and the hashes of a preset's files, kept in metadata.json under "preset"."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath
from typing import Any

from vse_zoo.errors import PresetError, located
from vse_zoo.files import read_json, write_json
from vse_zoo.presets.layout import CONFIG, COPIED, METADATA, WEIGHTS, fitting, read_by_loading

__all__ = ["FORMAT", "RECORD", "check", "record_hashes"]

FORMAT = 1
RECORD = "preset"

_CHANGED = "Copy or download it again; after a change on purpose, call vse_zoo.presets.record_hashes(folder)."


def record_hashes(folder: str | Path) -> None:
    """Writes the format's version and the SHA-256 of every file that makes the model into the folder's metadata.json.

    `save` does so by itself. Call it for a folder written before there were hashes, or after a change by hand.

    Args:
        folder: of the preset.

    Raises:
        PresetError: its metadata.json is missing or damaged.
    """
    folder = Path(folder)
    path = folder / METADATA
    with fitting(path):
        recorded = dict(read_json(path))
    write_json(path, {**recorded, RECORD: _described(folder)})


def _described(folder: Path) -> dict[str, Any]:
    """The format's version and the hash of each file."""
    return {"format": FORMAT, "sha256": {name: _sha256(folder / name) for name in read_by_loading(folder)}}


def check(folder: str | Path, weights: bool = True) -> None:
    """Compares a preset folder with its metadata.json; one from before there were hashes passes.

    Args:
        folder: of the preset.
        weights: off, the file of the weights may be missing or another.

    Raises:
        PresetError: the format is newer than this version of vse_zoo, or a file is missing or not as it was written.
    """
    folder = Path(folder)
    path = folder / METADATA
    with fitting(path):
        record = dict(read_json(path)).get(RECORD)
        if record is None:
            return
        _check_format(path, record["format"])
        hashes = dict(record["sha256"])
    for name in (CONFIG, WEIGHTS):
        if name not in hashes:
            raise PresetError(located(path, f"found no hash of {name}.", field=f"{RECORD}.sha256", do=_CHANGED))
    for name, expected in hashes.items():
        if weights or name != WEIGHTS:
            _check_file(folder, name, expected)


def _check_format(path: Path, found: Any) -> None:
    if type(found) is not int or found < 1:
        raise PresetError(located(path, f"found {found!r}, expected a number.", field=f"{RECORD}.format", do=COPIED))
    if found > FORMAT:
        problem = f"found version {found} of the format, expected at most {FORMAT}: a newer vse_zoo wrote this preset."
        do = "Update vse_zoo: pip install --upgrade vse-zoo."
        raise PresetError(located(path, problem, field=f"{RECORD}.format", do=do))


def _check_file(folder: Path, name: str, expected: Any) -> None:
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name:
        problem = f"found {name!r}, expected the name of a file in the folder."
        raise PresetError(located(folder / METADATA, problem, field=f"{RECORD}.sha256"))
    if not (folder / name).is_file():
        raise PresetError(located(folder / name, "the file is missing; metadata.json lists it.", do=COPIED))
    found = _sha256(folder / name)
    if found != expected:
        problem = f"damaged or changed: found SHA-256 {found}, expected {expected}."
        raise PresetError(located(folder / name, problem, do=_CHANGED))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
