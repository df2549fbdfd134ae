"""The photos in a folder: every picture file below it, with what tells whether it changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vse_zoo.errors import DataError, located
from vse_zoo.image_names import ENDINGS

__all__ = ["Listing", "Stamp", "list_photos"]


class Stamp(NamedTuple):
    """Size in bytes and time of the last change in nanoseconds: a file with the same ones counts as unchanged."""

    size: int
    mtime_ns: int


@dataclass
class Listing:
    """What a walk found.

    Args:
        files: path relative to the folder → stamp.
        unreadable: folders that couldn't be listed, relative too → reason; their photos are neither new nor gone.
    """

    files: dict[str, Stamp] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    def may_hold(self, path: str) -> bool:
        """Whether a path that wasn't found lies below a folder that couldn't be listed."""
        return any(path.startswith(f"{folder}/") for folder in self.unreadable)


def list_photos(root: Path, skip: Iterable[Path] = ()) -> Listing:
    """Every picture file below ``root`` by its ending, in a fixed order.

    Hidden files and folders are left out. Links are followed; a folder that is reached in several ways, as in a loop of
    links, is listed once, under its own name where it has one below ``root``.

    Args:
        root: the folder.
        skip: folders below it to leave out.

    Raises:
        DataError: ``root`` can't be listed.
    """
    found = Listing()
    seen = {_identity(path) for path in skip if path.is_dir()}
    waiting: list[str] = [""]
    linked: list[str] = []
    while waiting or linked:
        folder = waiting.pop() if waiting else linked.pop(0)
        try:
            if (identity := _identity(root / folder)) in seen:
                continue
            seen.add(identity)
            folders, links = _list(root, folder, found.files)
        except OSError as error:
            if not folder:
                do = "Name the folder that holds the photos."
                raise DataError(located(root, f"can't be listed ({error.strerror}).", do=do)) from None
            found.unreadable[folder] = error.strerror or type(error).__name__
            continue
        waiting += reversed(folders)
        linked += links
    return found


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _list(root: Path, folder: str, files: dict[str, Stamp]) -> tuple[list[str], list[str]]:
    """Adds a folder's own photos to ``files``; its folders and its links to folders."""
    folders: list[str] = []
    links: list[str] = []
    with os.scandir(root / folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith("."):
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if _is_folder(entry):
                (links if entry.is_symlink() else folders).append(path)
            elif os.path.splitext(entry.name)[1].lower() in ENDINGS and (stamp := _stamp(entry)):
                files[path] = stamp
    return folders, links


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """False for a link to itself, too."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _stamp(entry: os.DirEntry[str]) -> Stamp | None:
    """None for what isn't a file, such as a broken link or a pipe, and for a file that has just gone."""
    try:
        status = entry.stat()
    except OSError:
        return None
    return Stamp(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None
