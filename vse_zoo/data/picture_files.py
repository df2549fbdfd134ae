"""The picture files below a folder, found by names that are spelt a little differently."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from vse_zoo.data.records import leads_out
from vse_zoo.errors import DataError, located
from vse_zoo.image_names import respelt, spelling, without_ending

__all__ = ["PictureFiles"]


def _by_key() -> defaultdict[str, list[str]]:
    return defaultdict(list)


@dataclass(frozen=True)
class _Folder:
    """What lies directly in a folder, by `spelling`: folders, files, and files by their names without ending."""

    folders: defaultdict[str, list[str]] = field(default_factory=_by_key)
    files: defaultdict[str, list[str]] = field(default_factory=_by_key)
    stems: defaultdict[str, list[str]] = field(default_factory=_by_key)

    def add(self, entry: os.DirEntry[str]) -> None:
        if entry.is_dir():
            self.folders[spelling(entry.name)].append(entry.name)
        elif entry.is_file():
            self.files[spelling(entry.name)].append(entry.name)
            self.stems[spelling(without_ending(entry.name))].append(entry.name)


class PictureFiles:
    r"""Finds files below a folder by exact names, or by names that only one file can mean.

    Names may differ from the file's by ``\`` for ``/``, by case, by a missing ending such as ``.jpg``, by Unicode form
    (NFC and NFD), and may begin with the name of the folder itself. Links are followed.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folders: dict[str, _Folder] = {}
        self._respelt: dict[str, str] = {}

    def find(self, name: str) -> list[str]:
        """The files that a name may mean, as paths below the folder: the exact one, else all that are alike.

        A name that leads out of the folder means none.

        Raises:
            DataError: a folder can't be listed.
        """
        name = PurePosixPath(name).as_posix()
        plain = spelling(name)
        parts = [part for part in plain.split("/") if part not in ("", ".")]
        if leads_out(name) or leads_out(plain) or not parts:
            return []
        if self._is_file(name):
            return [name]
        found = self._alike(parts)
        if not found and len(parts) > 1 and parts[0] == spelling(self.root.resolve().name):
            found = self._alike(parts[1:])
        if len(found) == 1:
            self._respelt[name] = found[0]
        return found

    def resolve(self, names: Sequence[str]) -> dict[str, str]:
        """The file of every name.

        Raises:
            DataError: a name means several files, or there are names without a file, which are counted.
        """
        found = {name: self.find(name) for name in names}
        do = "Without --images the captions are read alone."
        if missing := [name for name, files in found.items() if not files]:
            problem = f"{len(missing)} of {len(names)} images are missing, the first is {missing[0]}."
            raise DataError(located(self.root, problem, field="images", do=do))
        for name, files in found.items():
            if len(files) > 1:
                problem = f"the image name {name!r} may mean {files[0]!r} or {files[1]!r}."
                raise DataError(located(self.root, problem, field="images", do="Rename one of the files."))
        return {name: files[0] for name, files in found.items()}

    @property
    def notes(self) -> list[str]:
        """One sentence on all names found so far that are spelt otherwise than their files, if there are any."""
        return [respelt(self._respelt, "image names and their files")] if self._respelt else []

    def _is_file(self, name: str) -> bool:
        """Whether there is a file of exactly that name, also where the file system doesn't tell cases apart."""
        *folders, file = name.split("/")
        place = ""
        for part in folders:
            if part not in self._folder(place).folders[spelling(part)]:
                return False
            place = _joined(place, part)
        return file in self._folder(place).files[spelling(file)]

    def _alike(self, parts: Sequence[str]) -> list[str]:
        *folders, file = parts
        places = [""]
        for part in folders:
            places = [_joined(place, name) for place in places for name in self._folder(place).folders[part]]
        found = [_joined(place, name) for place in places for name in self._folder(place).files[file]]
        return found or [_joined(place, name) for place in places for name in self._folder(place).stems[file]]

    def _folder(self, place: str) -> _Folder:
        if place not in self._folders:
            self._folders[place] = _listed(self.root / place)
        return self._folders[place]


def _joined(place: str, name: str) -> str:
    return f"{place}/{name}" if place else name


def _listed(path: Path) -> _Folder:
    found = _Folder()
    try:
        with os.scandir(path) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                with suppress(OSError):  # a link to itself is neither a file nor a folder
                    found.add(entry)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the latter: names that no file system takes
        pass
    except OSError as error:
        raise DataError(located(path, f"can't be listed ({error.strerror or type(error).__name__}).")) from None
    return found
